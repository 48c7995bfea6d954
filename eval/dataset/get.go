package dataset

import (
	"archive/tar"
	"compress/bzip2"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"bitextmine/internal/atomicfile"
	"bitextmine/internal/badinput"
	"bitextmine/internal/lockfile"
	"bitextmine/internal/transfer"
)

// Options are the settings of a download.
type Options struct {
	// Mirror replaces the publisher's address.
	Mirror string
	// SHA256 holds digests of files that are not pinned, by path.
	SHA256 map[string]string
	// TrustFirst accepts a file that is not pinned at its first download and records its digest.
	TrustFirst bool
	Client     *http.Client // nil for a client that waits one minute for an answer
	// Attempts is the maximum number of attempts for a transfer that breaks off; 0 means 5.
	Attempts int
	// Wait is the pause before the second attempt; it doubles with each attempt. 0 means one second.
	Wait time.Duration
	// Progress, which may be nil, is called with each file and the number of its bytes so far.
	Progress func(file string, done, size int64)
}

func (o Options) withDefaults() Options {
	if o.Client == nil {
		o.Client = transfer.NewClient()
	}
	return o
}

// sumsName is the file with the digests that were trusted at the first download, in sha256sum's format.
const sumsName = "SHA256SUMS"

// lockName is the file in a data directory that a download holds: two would write into one part, one archive's files
// and one list of digests. It is hidden, so that no reader takes it for text.
const lockName = ".mine-data.lock"

// Get downloads a set into dir, which it creates. Files that exist and are verified stay; a partial download is
// resumed. A wrong digest, and a file that is neither pinned nor trusted, are badinput errors. While another process
// downloads into dir, Get waits.
func Get(ctx context.Context, set Set, dir string, opts Options) (err error) {
	opts = opts.withDefaults()
	if opts.Mirror != "" {
		set.Base = strings.TrimSuffix(opts.Mirror, "/") + "/"
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return fmt.Errorf("make the data directory: %w", err)
	}
	release, err := lockfile.Await(ctx, filepath.Join(dir, lockName))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, release()) }()
	trusted, err := readSums(filepath.Join(dir, sumsName))
	if err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(dir, set.Root)); errors.Is(err, fs.ErrNotExist) { // somebody removed the texts
		if err := forgetUnpacked(set, dir); err != nil {
			return err
		}
	}
	for _, f := range set.Files {
		if !f.Pinned() {
			if f.SHA256 = opts.SHA256[f.Path]; f.SHA256 == "" {
				f.SHA256 = trusted[f.Path]
			}
			if f.SHA256 == "" && !opts.TrustFirst {
				return badinput.Errorf(
					"%s of %s is not pinned because no digest of it is published: give one with --sha256 %s=DIGEST, or accept what comes with --trust-first",
					f.Path, set.Name, f.Path)
			}
		}
		sum, err := getFile(ctx, set, f, dir, opts)
		if err != nil {
			return fmt.Errorf("get %s: %w", set.Name, err)
		}
		if f.SHA256 == "" {
			trusted[f.Path] = sum
			if err := writeSums(filepath.Join(dir, sumsName), trusted); err != nil {
				return err
			}
		}
	}
	return nil
}

// getFile downloads one file unless it exists, and unpacks it. It returns the file's digest.
func getFile(ctx context.Context, set Set, f File, dir string, opts Options) (string, error) {
	path := filepath.Join(dir, filepath.FromSlash(f.Path))
	sum, err := sumFile(path)
	switch {
	case err == nil && f.SHA256 != "" && sum == f.SHA256:
		// The file exists already.
	case err == nil && f.SHA256 != "":
		return "", badinput.Errorf("%s has sha256 %s but should have %s: delete it, so that it is downloaded again",
			path, sum, f.SHA256)
	case err != nil && !os.IsNotExist(err):
		return "", err
	default:
		if sum, err = download(ctx, set.Base+f.Path, path, f, opts); err != nil {
			return "", err
		}
	}
	if f.archive() {
		return sum, unpack(path, dir, sum)
	}
	return sum, nil
}

func readSums(path string) (map[string]string, error) {
	sums := make(map[string]string)
	text, err := os.ReadFile(path)
	if os.IsNotExist(err) {
		return sums, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read recorded digests: %w", err)
	}
	for n, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		sum, name, ok := strings.Cut(line, "  ")
		if !ok || len(sum) != 64 || !fs.ValidPath(name) {
			return nil, badinput.Errorf(
				"%s:%d: not a line of sha256sum: correct it, or delete the file to trust the next download", path, n+1)
		}
		sums[name] = sum
	}
	return sums, nil
}

func writeSums(path string, sums map[string]string) error {
	return atomicfile.Write(path, func(f *os.File) error {
		for _, name := range slices.Sorted(maps.Keys(sums)) {
			if _, err := fmt.Fprintf(f, "%s  %s\n", sums[name], name); err != nil {
				return err
			}
		}
		return nil
	})
}

func sumFile(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }() // it is only read
	return sumOf(f)
}

func sumOf(r io.Reader) (string, error) {
	h := sha256.New()
	if _, err := io.Copy(h, r); err != nil {
		return "", fmt.Errorf("read for its digest: %w", err)
	}
	return fmt.Sprintf("%x", h.Sum(nil)), nil
}

// download fetches url into path, resuming what an earlier call left if there is a digest to verify it by.
func download(ctx context.Context, url, path string, f File, opts Options) (sum string, err error) {
	o := transfer.Options{Client: opts.Client, Size: f.Size, Resume: f.SHA256 != "", Attempts: opts.Attempts, Wait: opts.Wait, Refused: refused}
	if opts.Progress != nil {
		o.Progress = func(done int64) { opts.Progress(f.Path, done, f.Size) }
	}
	err = transfer.Into(ctx, url, path, o, func(part string) (err error) {
		if sum, err = sumFile(part); err == nil && f.SHA256 != "" && sum != f.SHA256 {
			err = badinput.Errorf(
				"%s has sha256 %s but should have %s: the address now serves something else, or the transfer was tampered with, so it was deleted",
				url, sum, f.SHA256)
		}
		return err
	})
	return sum, err
}

// refused is the error for answers that mean that a publisher moved a file.
func refused(response *http.Response) error {
	switch response.StatusCode {
	case http.StatusNotFound, http.StatusGone, http.StatusForbidden, http.StatusUnauthorized:
		return badinput.Errorf(
			"the server answers %s: the publisher moved the file; name another address with --mirror, or give `mine eval` your own copy with --dir",
			response.Status)
	}
	return nil
}

// unpackedLimit is the maximum size of a file in an archive, so that a manipulated archive cannot fill the disk.
const unpackedLimit = 4 << 30

// markOf is the file that holds the digest of an archive that was unpacked into dir.
func markOf(archive, dir string) string {
	return filepath.Join(dir, "."+filepath.Base(archive)+".unpacked")
}

// forgetUnpacked removes the marks of all archives of a set, so that they are unpacked again.
func forgetUnpacked(set Set, dir string) error {
	for _, f := range set.Files {
		if err := os.Remove(markOf(f.Path, dir)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// unpack extracts an archive into dir, unless this was done for its digest. Files are published one by one and the
// marker file last.
func unpack(archive, dir, sum string) (err error) {
	mark := markOf(archive, dir)
	if done, err := os.ReadFile(mark); err == nil && string(done) == sum {
		return nil
	}
	f, err := os.Open(archive)
	if err != nil {
		return fmt.Errorf("unpack: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	var plain io.Reader
	switch {
	case strings.HasSuffix(archive, ".bz2"):
		plain = bzip2.NewReader(f)
	case strings.HasSuffix(archive, ".gz"), strings.HasSuffix(archive, ".tgz"):
		if plain, err = gzip.NewReader(f); err != nil {
			return badinput.Errorf("%s cannot be unpacked: %w", archive, err)
		}
	default:
		return badinput.Errorf("%s is no .tar.gz or .tar.bz2", archive)
	}
	if err := unpackTar(tar.NewReader(plain), archive, dir); err != nil {
		return err
	}
	return atomicfile.WriteBytes(mark, []byte(sum))
}

func unpackTar(entries *tar.Reader, archive, dir string) error {
	for {
		h, err := entries.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return badinput.Errorf("%s cannot be unpacked: %w", archive, err)
		}
		name := filepath.FromSlash(strings.TrimPrefix(h.Name, "./"))
		if h.Typeflag != tar.TypeReg || strings.HasPrefix(filepath.Base(name), "._") {
			continue // directories are created with their files; a test set has no other entries
		}
		if !filepath.IsLocal(name) || h.Size > unpackedLimit {
			return badinput.Errorf(
				"%s holds %q of %d bytes, which is not unpacked: the archive is not what it should be",
				archive, h.Name, h.Size)
		}
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			return fmt.Errorf("unpack %s: %w", archive, err)
		}
		if err := atomicfile.Write(path, func(out *os.File) error {
			_, err := io.Copy(out, entries)
			return err
		}); err != nil {
			return fmt.Errorf("unpack %s: %w", archive, err)
		}
	}
}
