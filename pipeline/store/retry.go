package store

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"math/rand/v2"
	"net"
	"net/http"
	"strconv"
	"time"

	"cloud.google.com/go/storage"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/s3/manager"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"
	"gocloud.dev/blob"
	"google.golang.org/api/googleapi"

	"bitextmine/internal/badinput"
)

// How long an operation on a bucket is tried again after it failed first, at opening and later, when hours of work may
// depend on it. A download that goes on begins anew.
var (
	openPatience = 10 * time.Second
	workPatience = 2 * time.Minute
	stallTime    = 2 * time.Minute // a server that sends nothing for as long is asked again
)

const (
	firstPause = 100 * time.Millisecond
	maxPause   = 10 * time.Second
	minRate    = 20e3 // bytes a second of an upload; a slower one is begun again
)

// unanswered is the error of an operation that was tried until patience was at its end.
type unanswered struct {
	patience time.Duration
	err      error
}

func (u unanswered) Error() string {
	return fmt.Sprintf("the object store did not answer well for %s (%v); run the same command again, which continues", u.patience, u.err)
}

func (u unanswered) Unwrap() error { return u.err }

// refusedWork is the error of a server that refuses to go on with work which it had begun: asking again is of no use.
type refusedWork struct {
	what string
	err  error
}

func (r refusedWork) Error() string {
	return fmt.Sprintf("the object store %s (%v), then run the same command again, which continues", r.what, r.err)
}

func (r refusedWork) Unwrap() error { return r.err }

// explain says of an answer that is for good what to do, if it is known, and marks it as permanent.
func explain(err error) error {
	switch status, _ := answered(err); status {
	case http.StatusUnauthorized, http.StatusForbidden:
		return badinput.Mark(refusedWork{"refuses the credentials: renew them or their rights", err})
	case http.StatusInsufficientStorage:
		return badinput.Mark(refusedWork{"is full: free some of its storage", err})
	}
	return err
}

// retry calls do until it succeeds, fails for good or patience is at its end. Pauses double, are drawn at random up to
// twice their length so that many machines do not come at once, and are as long as the server asks for.
func (b bucket) retry(ctx context.Context, do func(ctx context.Context) error) error {
	var failed time.Time // when it failed first: an attempt at a server that says nothing takes as long as patience
	for pause := firstPause; ; pause = min(2*pause, maxPause) {
		err := do(ctx)
		if err == nil || ctx.Err() != nil {
			return err
		}
		if !transient(err) {
			return explain(err)
		}
		if failed.IsZero() {
			failed = time.Now()
		}
		wait := max(time.Duration(rand.Int64N(int64(2*pause))), asked(err))
		if time.Since(failed)+wait > b.patience {
			return unanswered{b.patience, err}
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(wait):
		}
	}
}

// within is retry with an attempt's time bounded by the bytes that it sends, so that a server that says nothing does
// not stop a run.
func (b bucket) within(ctx context.Context, bytes int64, do func(ctx context.Context) error) error {
	return b.retry(ctx, func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, stallTime+time.Duration(float64(bytes)/minRate*float64(time.Second)))
		defer cancel()
		return do(ctx)
	})
}

// transient reports whether an operation may succeed if it is tried again. Its context has not ended.
func transient(err error) bool {
	// An answer may be cut before it tells what its status is about. An upload of several parts that is not there was
	// completed or dropped, and the answer was lost.
	var api smithy.APIError
	var unread *smithy.DeserializationError
	if errors.As(err, &unread) || errors.As(err, &api) && api.ErrorCode() == "NoSuchUpload" {
		return true
	}
	if status, _ := answered(err); status >= 300 {
		return !refusal(status) && status != http.StatusInsufficientStorage
	}
	var local *fs.PathError
	var certificate *tls.CertificateVerificationError
	var host *net.DNSError
	if errors.As(err, &local) || errors.As(err, &certificate) || errors.As(err, &host) && host.IsNotFound {
		return false
	}
	var network net.Error
	return errors.As(err, &network) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// answered is the status of the answer that an error is about, and its header; 0 if there was none.
func answered(err error) (int, http.Header) {
	var google *googleapi.Error
	var amazon *smithyhttp.ResponseError
	switch {
	case errors.As(err, &google):
		return google.Code, google.Header
	case errors.As(err, &amazon) && amazon.Response != nil && amazon.Response.Response != nil:
		return amazon.Response.StatusCode, amazon.Response.Header
	}
	return 0, nil
}

// asked is the pause that the server asks for.
func asked(err error) time.Duration {
	_, header := answered(err)
	seconds, err := strconv.ParseUint(header.Get("Retry-After"), 10, 20)
	if err != nil {
		return 0
	}
	return time.Duration(seconds) * time.Second
}

// download writes an object of the given size to out. After an answer that was cut it asks for the rest.
func (b bucket) download(ctx context.Context, name string, size int64, out io.Writer) error {
	done := false
	for have := int64(0); !done; {
		err := b.retry(ctx, func(ctx context.Context) error {
			n, err := b.copyFrom(ctx, name, have, out)
			have += n
			if done = err == nil || have == size && transient(err); done || n > 0 && transient(err) {
				return nil
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// errStalled is the error of a server that sends nothing for stallTime.
var errStalled = fmt.Errorf("it sent nothing for a long time: %w", context.DeadlineExceeded)

// copyFrom copies an object from an offset on.
func (b bucket) copyFrom(ctx context.Context, name string, offset int64, out io.Writer) (n int64, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stall := time.AfterFunc(stallTime, func() { cancel(errStalled) })
	defer stall.Stop()
	defer func() {
		if err != nil && errors.Is(context.Cause(ctx), errStalled) {
			err = errStalled // that of a context that was cancelled would say that a person stopped the run
		}
	}()
	in, err := b.bucket.NewRangeReader(ctx, name, offset, -1, &blob.ReaderOptions{BeforeRead: quiet})
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	return io.Copy(out, moving{in, stall})
}

// quiet keeps S3's client from a warning for every object of a server that sends no checksums.
func quiet(as func(any) bool) error {
	var options *[]func(*s3.Options)
	if as(&options) {
		*options = append(*options, func(o *s3.Options) { o.DisableLogOutputChecksumValidationSkipped = true })
	}
	return nil
}

// moving puts off an alarm whenever bytes come.
type moving struct {
	io.Reader
	alarm *time.Timer
}

func (m moving) Read(p []byte) (int, error) {
	n, err := m.Reader.Read(p)
	m.alarm.Reset(stallTime)
	return n, err
}

// checksummed returns options of an upload with which GCS compares what it got with a checksum, as S3's client does
// by itself, and with which S3's repeats a part after 429, too.
func checksummed(in io.ReaderAt, size int64) *blob.WriterOptions {
	return &blob.WriterOptions{BeforeWrite: func(as func(any) bool) error {
		var google *storage.Writer
		var amazon *manager.Uploader
		switch {
		case as(&amazon):
			amazon.ClientOptions = append(amazon.ClientOptions, func(o *s3.Options) { o.Retryer = throttled{o.Retryer} })
		case as(&google):
			sum := crc32.New(crc32.MakeTable(crc32.Castagnoli))
			if _, err := io.Copy(sum, io.NewSectionReader(in, 0, size)); err != nil {
				return err
			}
			google.CRC32C, google.SendCRC32C = sum.Sum32(), true
		}
		return nil
	}}
}

// throttled is a retryer that also tries again after 429.
type throttled struct{ aws.Retryer }

func (t throttled) IsErrorRetryable(err error) bool {
	status, _ := answered(err)
	return status == http.StatusTooManyRequests || t.Retryer.IsErrorRetryable(err)
}

// bounded makes a client of GCS give up after some attempts, as S3's does: without, it tries for ever.
func bounded(b *blob.Bucket) {
	var client *storage.Client
	if b.As(&client) {
		client.SetRetry(storage.WithMaxAttempts(3))
	}
}
