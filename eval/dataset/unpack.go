package dataset

import (
	"archive/tar"
	"compress/bzip2"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"bitextmine/internal/atomicfile"
	"bitextmine/internal/badinput"
)

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
