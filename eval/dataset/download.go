package dataset

import (
	"archive/tar"
	"compress/bzip2"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"bitextmine/internal/atomicfile"
	"bitextmine/internal/badinput"
	"bitextmine/internal/transfer"
)

// partSuffix ends the name of a file that is not yet complete.
const partSuffix = ".part"

func newHash() hash.Hash { return sha256.New() }

func sortedKeys(m map[string]string) []string { return slices.Sorted(maps.Keys(m)) }

// download fetches url into path.part, resuming an earlier part, until it is complete. Then it verifies the digest and
// renames the file. If the digest is wrong, the part is deleted because it cannot be resumed.
func download(ctx context.Context, url, path string, f File, opts Options) (sum string, err error) {
	part := path + partSuffix
	err = transfer.Fetch(ctx, url, part, transfer.Options{Client: opts.Client, Size: f.Size, Resume: f.SHA256 != "",
		Attempts: opts.Attempts, Wait: opts.Wait,
		Refused: refused, Progress: func(done int64) {
			if opts.Progress != nil {
				opts.Progress(f.Path, done, f.Size)
			}
		}})
	if err != nil {
		return "", err
	}
	if sum, err = sumFile(part); err != nil {
		return "", err
	}
	if f.SHA256 != "" && sum != f.SHA256 {
		err := badinput.Errorf(
			"%s has sha256 %s but should have %s: the address now serves something else, or the transfer was tampered with, so it was deleted",
			url, sum, f.SHA256)
		return "", errors.Join(err, os.Remove(part))
	}
	return sum, os.Rename(part, path)
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

// unpack extracts an archive into dir, unless this was done for its digest. Files are published one by one and the
// marker file last.
func unpack(archive, dir, sum string) (err error) {
	mark := filepath.Join(dir, "."+filepath.Base(archive)+".unpacked")
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
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
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
