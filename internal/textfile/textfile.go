// Package textfile publishes text, compressed as the ending of its name says.
package textfile

import (
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/klauspost/compress/zstd"

	"bitextmine/internal/atomicfile"
	"bitextmine/internal/badinput"
)

// Compression is what the ending of a path says: gz, zst, or "" for none. An ending of another compression, which would
// be a lie, is refused.
func Compression(path string) (string, error) {
	switch ending := strings.ToLower(filepath.Ext(path)); ending {
	case ".gz", ".zst":
		return ending[1:], nil
	case ".xz", ".bz2":
		return "", badinput.Errorf("%s: %s is not written: name a file that ends in .gz or .zst, or in neither", path, ending)
	}
	return "", nil
}

// RefuseCompression refuses a path whose ending says a compression, for a file that has none.
func RefuseCompression(path string) error {
	if compression, err := Compression(path); err != nil || compression != "" {
		return badinput.Errorf("%s is not compressed: name a file that does not end in %s", path, filepath.Ext(path))
	}
	return nil
}

// Stem is a path without the ending of a compression.
func Stem(path string) string {
	if compression, err := Compression(path); err != nil || compression == "" {
		return path
	}
	return strings.TrimSuffix(path, filepath.Ext(path))
}

// Write is atomicfile.Write of text.
func Write(path string, fill func(w io.Writer) error) error {
	compression, err := Compression(path)
	if err != nil {
		return err
	}
	return atomicfile.Write(path, func(f *os.File) error {
		to, err := Compress(f, compression)
		if err != nil {
			return err
		}
		return errors.Join(fill(to), to.Close())
	})
}

// Compress compresses what is written. The writer's end is no end of what it writes to.
func Compress(to io.Writer, compression string) (io.WriteCloser, error) {
	switch compression {
	case "gz":
		return gzip.NewWriter(to), nil
	case "zst":
		return zstd.NewWriter(to)
	}
	return nopCloser{to}, nil
}

type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }
