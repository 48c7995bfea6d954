package store

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go"
	"gocloud.dev/blob"
	_ "gocloud.dev/blob/gcsblob" // gs://
	_ "gocloud.dev/blob/memblob" // mem://
	_ "gocloud.dev/blob/s3blob"  // s3://
	"gocloud.dev/gcerrors"

	"bitextmine/internal/atomicfile"
	"bitextmine/internal/badinput"
)

// scheme begins the location of a bucket, also one that lacks slashes.
var scheme = regexp.MustCompile(`^(s3|gs|mem):`)

// Remote reports whether a location is a bucket and not a local directory.
func Remote(location string) bool {
	return strings.Contains(location, "://") || scheme.MatchString(location)
}

// CheckLocation refuses the location of a bucket that lacks slashes.
func CheckLocation(location string) error {
	if !Remote(location) || strings.Contains(location, "://") {
		return nil
	}
	cloud, rest, _ := strings.Cut(location, ":")
	return badinput.Errorf("work location %s is no bucket: write %s://%s, or ./%s for a directory", location, cloud, strings.TrimLeft(rest, "/"), location)
}

// Open opens the store at a location: a directory, or s3://BUCKET/PREFIX, gs://BUCKET/PREFIX, mem://, with the options
// of gocloud.dev/blob as a query. Files from a bucket are cached below MINE_CACHE, or the user's cache directory.
func Open(ctx context.Context, location string, log *slog.Logger) (*Store, error) {
	if !Remote(location) {
		back, err := OpenDirectory(location)
		if err != nil {
			return nil, err
		}
		return New(back, log), nil
	}
	cache, err := cacheOf(location)
	if err != nil {
		return nil, err
	}
	return openCached(ctx, location, cache, log, checkWritable)
}

// Disk is the directory that outputs of a store are written to: the store's own, or the cache of a bucket; empty if
// neither is known.
func Disk(location string) string {
	if !Remote(location) {
		return location
	}
	cache, err := cacheOf(location)
	if err != nil {
		return ""
	}
	return cache
}

// OpenCached opens the store in a bucket and caches its files in the directory cache.
func OpenCached(ctx context.Context, location, cache string, log *slog.Logger) (*Store, error) {
	return openCached(ctx, location, cache, log, checkWritable)
}

func openCached(ctx context.Context, location, cache string, log *slog.Logger, check probe) (*Store, error) {
	back, err := openRemote(ctx, location, cache, check)
	if err != nil {
		return nil, err
	}
	return New(back, log), nil
}

// secret is the name and the password in a URL.
var secret = regexp.MustCompile(`://[^/\s]*@`)

// openRemote opens a bucket. Its errors, some of which are the cloud's, show no password.
func openRemote(ctx context.Context, location, cache string, check probe) (Backend, error) {
	back, err := openBucket(ctx, location, cache, check)
	if err == nil || ctx.Err() != nil || !secret.MatchString(location) {
		return back, err
	}
	shown := errors.New(secret.ReplaceAllString(err.Error(), "://...@"))
	if badinput.Is(err) {
		shown = badinput.Mark(shown)
	}
	return nil, shown
}

func openBucket(ctx context.Context, location, cache string, check probe) (Backend, error) {
	if err := CheckLocation(location); err != nil {
		return nil, err
	}
	u, err := url.Parse(location)
	if err != nil {
		return nil, badinput.Errorf("work location %s is not a valid URL: %w", location, err)
	}
	if endpoint := u.Query().Get("endpoint"); endpoint != "" && !strings.Contains(endpoint, "://") {
		return nil, badinput.Errorf("work location %s: endpoint=%s is no URL; write endpoint=http://%s, or https://", location, endpoint, endpoint)
	}
	prefix := strings.Trim(u.Path, "/")
	u.Path = ""
	b, err := blob.OpenBucket(ctx, u.String())
	if err != nil {
		return nil, badinput.Errorf("work location %s cannot be opened (%w); use a directory, s3://, gs:// or mem://", location, err)
	}
	var amazon *s3.Client
	if b.As(&amazon) && amazon.Options().Region == "" {
		return nil, errors.Join(badinput.Errorf("work location %s names no region: add ?region=REGION, or set AWS_REGION", location), b.Close())
	}
	if prefix != "" {
		b = blob.PrefixedBucket(b, prefix+"/")
	}
	back, err := OpenBucket(b, cache)
	if err == nil {
		err = check(ctx, bucket{b, cache, openPatience}, location)
	}
	if err != nil {
		return nil, errors.Join(err, b.Close())
	}
	return back, nil
}

const probePrefix = ".probe."

// probe tries whether the bucket of a location can be used.
type probe func(ctx context.Context, b bucket, location string) error

// checkWritable writes and removes an object. A bucket that can only be listed is not usable. The object is this
// process's own: buckets limit how often one object may be written, and the tasks of a machine begin together.
func checkWritable(ctx context.Context, b bucket, location string) error {
	object := probePrefix + rand.Text() + atomicfile.Suffix
	if err := b.Write(ctx, object, []byte("mine")); err != nil {
		return unusable(ctx, location, "written", err)
	}
	return b.Delete(ctx, object)
}

// checkReadable lists the first object, which writes nothing.
func checkReadable(ctx context.Context, b bucket, location string) error {
	if _, err := b.next(ctx, b.bucket.List(nil)); err != nil && !errors.Is(err, io.EOF) {
		return unusable(ctx, location, "read", err)
	}
	return nil
}

// unusable is the error of a bucket that cannot be written, or read, when it is opened.
func unusable(ctx context.Context, location, done string, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if told := (refusedWork{}); errors.As(err, &told) {
		err = told.err
	}
	if tried := (unanswered{}); errors.As(err, &tried) {
		err = tried.err
	}
	said := strings.Join(strings.Fields(err.Error()), " ")
	switch status, _ := answered(err); {
	case status == http.StatusInsufficientStorage:
		return badinput.Errorf("work location %s cannot be %s: its storage is full (%s); free some there", location, done, said)
	case refusal(status):
		return badinput.Errorf("work location %s cannot be %s (%s); check its name and the credentials", location, done, said)
	}
	return fmt.Errorf("work location %s does not answer (%s); try again", location, said)
}

// cacheOf is the directory in which files of a location are cached.
func cacheOf(location string) (string, error) {
	root := os.Getenv("MINE_CACHE")
	if root == "" {
		dir, err := os.UserCacheDir()
		if err != nil {
			return "", badinput.Errorf("there is no cache directory for files from %s (%w); name one in MINE_CACHE", location, err)
		}
		root = filepath.Join(dir, "mine")
	}
	return filepath.Join(root, atomicfile.DigestOf([]byte(location))[:16]), nil
}

// OpenExisting opens a store that runs have used. It need not be writable for those who only read.
func OpenExisting(ctx context.Context, work string, log *slog.Logger) (*Store, error) {
	if err := CheckExists(work); err != nil {
		return nil, err
	}
	if !Remote(work) {
		return New(directory{work}, log), nil
	}
	cache, err := cacheOf(work)
	if err != nil {
		return nil, err
	}
	return openCached(ctx, work, cache, log, checkReadable)
}

// CheckExists refuses a directory that does not exist: none is made for a name that was mistyped.
func CheckExists(work string) error {
	if info, err := os.Stat(work); !Remote(work) && (err != nil || !info.IsDir()) {
		return badinput.Errorf("%s is not a work directory; name one with --work", work)
	}
	return nil
}

// WithExisting opens a store that runs have used and closes it after do.
func WithExisting(ctx context.Context, work string, log *slog.Logger, do func(*Store) error) (err error) {
	st, err := OpenExisting(ctx, work, log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	return do(st)
}

// codeOf is the class of a bucket's error. gocloud.dev takes any error of S3 whose text has "301" in it for a missing
// bucket, also if that is part of a request id, so S3's own code decides.
func codeOf(err error) gcerrors.ErrorCode {
	var operation *smithy.OperationError
	if !errors.As(err, &operation) {
		return gcerrors.Code(err)
	}
	var api smithy.APIError
	if !errors.As(err, &api) {
		return gcerrors.Unknown
	}
	switch api.ErrorCode() {
	case "NoSuchBucket", "NoSuchKey", "NotFound", "ObjectNotInActiveTierError":
		return gcerrors.NotFound
	case "PreconditionFailed":
		return gcerrors.FailedPrecondition
	}
	return gcerrors.Unknown
}

// classify converts the errors of the bucket to the classes that callers know.
func classify(err error) error {
	switch codeOf(err) {
	case gcerrors.NotFound:
		return errors.Join(fs.ErrNotExist, err)
	case gcerrors.FailedPrecondition:
		return errors.Join(fs.ErrExist, err)
	}
	return err
}

// refusal reports whether a status says that a server understood a request and refused it, so that asking again is of
// no use: there is no such bucket, or access is denied. A server that cannot be reached, is overloaded or fails has not
// refused.
func refusal(status int) bool {
	switch status {
	case http.StatusRequestTimeout, http.StatusConflict, http.StatusTooEarly, http.StatusTooManyRequests:
		return false
	}
	return status >= 300 && status < 500
}
