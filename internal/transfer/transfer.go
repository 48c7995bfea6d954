// Package transfer downloads a file over HTTP: it resumes what broke off, repeats what may pass, and waits as long as
// the server asks.
package transfer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"bitextmine/internal/atomicfile"
	"bitextmine/internal/badinput"
)

// Options are the settings of a transfer.
type Options struct {
	Client *http.Client // nil for NewClient
	Header http.Header  // sent with each request
	// Size is the number of bytes of the file; 0 means that it is not known.
	Size int64
	// Resume says that a part may be continued: whoever calls verifies the whole file.
	Resume bool
	// Attempts is the maximum number of attempts; 0 means 5.
	Attempts int
	// Wait is the pause before the second attempt; it doubles with each attempt. 0 means one second.
	Wait time.Duration
	// Patience is the longest pause that a server may ask for (Retry-After); 0 means two minutes.
	Patience time.Duration
	// Stall is how long the server may send nothing, from the first connection on; 0 means one minute.
	Stall time.Duration
	// Refused gives the error for an answer that no repetition can change; nil, or an answer of nil, means that the
	// transfer is tried again.
	Refused func(*http.Response) error
	// Progress, which may be nil, is called with the number of bytes so far.
	Progress func(done int64)
}

// NewClient is a client that waits one minute for an answer and goes through the proxy that the environment names.
func NewClient() *http.Client {
	return &http.Client{Transport: &http.Transport{Proxy: http.ProxyFromEnvironment,
		TLSHandshakeTimeout: time.Minute, ResponseHeaderTimeout: time.Minute}}
}

func (o Options) withDefaults() Options {
	if o.Client == nil {
		o.Client = NewClient()
	}
	if o.Attempts == 0 {
		o.Attempts = 5
	}
	if o.Wait == 0 {
		o.Wait = time.Second
	}
	if o.Patience == 0 {
		o.Patience = 2 * time.Minute
	}
	if o.Stall == 0 {
		o.Stall = time.Minute
	}
	return o
}

// later is an answer that asks for a pause.
type later struct {
	pause time.Duration
	err   error
}

func (l later) Error() string { return l.err.Error() }

// Fetch downloads url into the file part, whose directory it makes, until the file has all bytes.
func Fetch(ctx context.Context, url, part string, o Options) error {
	o = o.withDefaults()
	if err := os.MkdirAll(filepath.Dir(part), 0o777); err != nil {
		return fmt.Errorf("make the directory of a download: %w", err)
	}
	return Retry(ctx, url, o, func() error {
		if !o.Resume {
			// Without a digest nobody would notice that two parts come from different versions, so start again.
			if err := os.Remove(part); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
		return fetch(ctx, url, part, o)
	})
}

// PartSuffix ends the name of a file that is not yet complete.
const PartSuffix = ".part"

// Into downloads url to a file, which appears when it is complete and verify, given the name of the complete part, has
// accepted it. What an earlier call left is continued where o.Resume says so. A part that verify refuses with a
// badinput error is deleted, as nothing can be added to it.
func Into(ctx context.Context, url, path string, o Options, verify func(part string) error) error {
	part := path + PartSuffix
	if err := Fetch(ctx, url, part, o); err != nil {
		return err
	}
	if err := verify(part); err != nil {
		if badinput.Is(err) {
			err = errors.Join(err, os.Remove(part))
		}
		return err
	}
	return os.Rename(part, path)
}

// Retry calls try until it succeeds, and gives up on a badinput error, after Attempts calls, and where the server
// asks for a longer pause than Patience.
func Retry(ctx context.Context, url string, o Options, try func() error) error {
	o = o.withDefaults()
	wait := o.Wait
	for attempt := 1; ; attempt++ {
		err := try()
		if err == nil {
			return nil
		}
		pause := wait
		var asked later
		tooLong := false
		if errors.As(err, &asked) {
			pause, tooLong = max(wait, asked.pause), asked.pause > o.Patience
		}
		if badinput.Is(err) || ctx.Err() != nil || attempt == o.Attempts || tooLong {
			return fmt.Errorf("download %s (attempt %d): %w", url, attempt, err)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pause):
			wait *= 2
		}
	}
}

// fetch requests the bytes that part lacks and appends them. It succeeds when the file is complete.
func fetch(ctx context.Context, url, part string, o Options) (err error) {
	out, err := os.OpenFile(part, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	have, err := out.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	if o.Size > 0 && have == o.Size {
		return nil
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stall := time.AfterFunc(o.Stall, func() { cancel(fmt.Errorf("the server sent nothing for %s", o.Stall)) })
	defer stall.Stop()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return badinput.Errorf("the address %q is not valid: %w", url, err)
	}
	for key, values := range o.Header {
		request.Header[key] = values
	}
	if have > 0 {
		request.Header.Set("Range", fmt.Sprintf("bytes=%d-", have))
	}
	response, err := o.Client.Do(request)
	if err != nil {
		return cause(ctx, err)
	}
	defer func() { err = errors.Join(err, response.Body.Close()) }()
	report := o.Progress
	o.Progress = func(done int64) {
		stall.Reset(o.Stall)
		if report != nil {
			report(done)
		}
	}
	if have, err = o.seek(response, out, have); err != nil {
		return err
	}
	return cause(ctx, o.receive(out, response, have))
}

// cause is err, or, of a request that was ended for it, the reason.
func cause(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil && !errors.Is(context.Cause(ctx), ctx.Err()) {
		return fmt.Errorf("%w (%w)", err, context.Cause(ctx))
	}
	return err
}

// Answer is the error of an answer that is no success.
func (o Options) Answer(response *http.Response) error {
	if o.Refused != nil {
		if err := o.Refused(response); err != nil {
			return err
		}
	}
	err := fmt.Errorf("the server answers %s", response.Status)
	if seconds, convErr := strconv.Atoi(response.Header.Get("Retry-After")); convErr == nil && seconds > 0 {
		pause := time.Duration(seconds) * time.Second
		return later{pause, fmt.Errorf("the server answers %s and asks to wait %s: run the same command again then",
			response.Status, pause)}
	}
	return err
}

// seek sets the position in out at which the bytes of the answer belong: at the end or at the start.
func (o Options) seek(response *http.Response, out *os.File, have int64) (int64, error) {
	switch response.StatusCode {
	case http.StatusPartialContent:
		var from int64
		if _, err := fmt.Sscanf(response.Header.Get("Content-Range"), "bytes %d-", &from); err != nil || from != have {
			return 0, fmt.Errorf("asked for bytes from %d, got %q", have, response.Header.Get("Content-Range"))
		}
		return have, nil
	case http.StatusOK, http.StatusRequestedRangeNotSatisfiable:
		// The server does not resume, or the part is not the beginning of its file: start again.
		if have > 0 {
			if err := out.Truncate(0); err != nil {
				return 0, err
			}
		}
		if _, err := out.Seek(0, io.SeekStart); err != nil {
			return 0, err
		}
		if response.StatusCode != http.StatusOK {
			return 0, errors.New("the server has less than was downloaded; starting again")
		}
		return 0, nil
	}
	return 0, o.Answer(response)
}

func (o Options) receive(out *os.File, response *http.Response, have int64) error {
	want := o.Size
	if want == 0 && response.ContentLength >= 0 {
		want = have + response.ContentLength
	}
	body := io.Reader(response.Body)
	if want > 0 {
		body = io.LimitReader(body, want-have+1) // one byte more reveals that there is more
	}
	n, err := io.Copy(out, &meter{r: body, done: have, report: o.Progress})
	switch {
	case badinput.IsDiskFull(err):
		return atomicfile.Explain(out.Name(), err)
	case err != nil:
		return fmt.Errorf("broken off after %d bytes: %w", have+n, err)
	case want > 0 && have+n < want:
		return fmt.Errorf("broken off after %d of %d bytes", have+n, want)
	case want > 0 && have+n > want:
		err := badinput.Errorf("the server sends more than the %d bytes of %s: the address now serves something else",
			want, filepath.Base(response.Request.URL.Path))
		return errors.Join(err, out.Truncate(0))
	}
	return out.Sync()
}

// meter reports how many bytes have passed.
type meter struct {
	r      io.Reader
	done   int64
	report func(done int64)
}

func (m *meter) Read(p []byte) (int, error) {
	n, err := m.r.Read(p)
	m.done += int64(n)
	if n > 0 {
		m.report(m.done)
	}
	return n, err
}
