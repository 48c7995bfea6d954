package dataset

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"time"

	"bitextmine/internal/badinput"
)

// partSuffix ends the name of a file that is not yet complete.
const partSuffix = ".part"

func newHash() hash.Hash { return sha256.New() }

func sortedKeys(m map[string]string) []string { return slices.Sorted(maps.Keys(m)) }

// download fetches url into path.part, resuming an earlier part, until it is complete. Then it verifies the digest and
// renames the file. If the digest is wrong, the part is deleted because it cannot be resumed.
func download(ctx context.Context, url, path string, f File, opts Options) (sum string, err error) {
	part := path + partSuffix
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return "", fmt.Errorf("make the data directory: %w", err)
	}
	wait := opts.Wait
	for attempt := 1; ; attempt++ {
		if f.SHA256 == "" {
			// Without a digest nobody would notice that two parts are of different versions, so start again.
			if err := os.Remove(part); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return "", err
			}
		}
		err := transfer(ctx, url, part, f, opts)
		if err == nil {
			break
		}
		if badinput.Is(err) || ctx.Err() != nil || attempt == opts.Attempts {
			return "", fmt.Errorf("download %s (attempt %d): %w", url, attempt, err)
		}
		select {
		case <-ctx.Done():
			return "", ctx.Err()
		case <-time.After(wait):
			wait *= 2
		}
	}
	if sum, err = sumFile(part); err != nil {
		return "", err
	}
	if f.SHA256 != "" && sum != f.SHA256 {
		err := badinput.Errorf("%s has sha256 %s but should have %s: the address now serves something else, or the transfer was tampered with, so it was deleted", url, sum, f.SHA256)
		return "", errors.Join(err, os.Remove(part))
	}
	return sum, os.Rename(part, path)
}

// transfer requests the bytes that part lacks and appends them. It succeeds when the file is complete.
func transfer(ctx context.Context, url, part string, f File, opts Options) (err error) {
	out, err := os.OpenFile(part, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	have, err := out.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	if f.Size > 0 && have == f.Size {
		return nil
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return badinput.Errorf("the address %q is not valid: %w", url, err)
	}
	if have > 0 {
		request.Header.Set("Range", fmt.Sprintf("bytes=%d-", have))
	}
	response, err := opts.Client.Do(request)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, response.Body.Close()) }()
	if have, err = seek(response, out, have); err != nil {
		return err
	}
	return receive(out, response, have, f, opts)
}

// seek sets the position in out at which the bytes of the answer belong: at the end or at the start.
func seek(response *http.Response, out *os.File, have int64) (int64, error) {
	switch response.StatusCode {
	case http.StatusPartialContent:
		var from int64
		if _, err := fmt.Sscanf(response.Header.Get("Content-Range"), "bytes %d-", &from); err != nil || from != have {
			return 0, fmt.Errorf("asked for bytes from %d, got %q", have, response.Header.Get("Content-Range"))
		}
		return have, nil
	case http.StatusOK, http.StatusRequestedRangeNotSatisfiable:
		// The server does not resume, or the part is not the beginning of its file: start again.
		if err := out.Truncate(0); err != nil {
			return 0, err
		}
		if _, err := out.Seek(0, io.SeekStart); err != nil {
			return 0, err
		}
		if response.StatusCode != http.StatusOK {
			return 0, errors.New("the server has less than was downloaded; starting again")
		}
		return 0, nil
	case http.StatusNotFound, http.StatusGone, http.StatusForbidden, http.StatusUnauthorized:
		return 0, badinput.Errorf("the server answers %s: the publisher moved the file; name another address with --mirror, or give `mine eval` your own copy with --dir", response.Status)
	}
	return 0, fmt.Errorf("the server answers %s", response.Status)
}

func receive(out *os.File, response *http.Response, have int64, f File, opts Options) error {
	want := f.Size
	if want == 0 && response.ContentLength >= 0 {
		want = have + response.ContentLength
	}
	body := io.Reader(response.Body)
	if want > 0 {
		body = io.LimitReader(body, want-have+1) // one byte more reveals that there is more
	}
	n, err := io.Copy(out, &meter{r: body, done: have, size: want, file: f.Path, report: opts.Progress})
	switch {
	case err != nil:
		return fmt.Errorf("broken off after %d bytes: %w", have+n, err)
	case want > 0 && have+n < want:
		return fmt.Errorf("broken off after %d of %d bytes", have+n, want)
	case want > 0 && have+n > want:
		err := badinput.Errorf("the server sends more than the %d bytes of %s: the address now serves something else", want, f.Path)
		return errors.Join(err, out.Truncate(0))
	}
	return out.Sync()
}

// meter reports how many bytes have passed.
type meter struct {
	r          io.Reader
	done, size int64
	file       string
	report     func(file string, done, size int64)
}

func (m *meter) Read(p []byte) (int, error) {
	n, err := m.r.Read(p)
	m.done += int64(n)
	if m.report != nil && n > 0 {
		m.report(m.file, m.done, m.size)
	}
	return n, err
}
