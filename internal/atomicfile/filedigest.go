package atomicfile

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"syscall"

	"bitextmine/internal/badinput"
)

// Digest returns a file's size in bytes and the hex SHA-256 of its content.
func Digest(path string) (size int64, sum string, err error) {
	f, err := OpenRegular(path, os.O_RDONLY)
	if err != nil {
		return 0, "", err
	}
	h := sha256.New()
	size, err = io.Copy(h, f)
	return size, hex.EncodeToString(h.Sum(nil)), errors.Join(err, f.Close())
}

// DigestOf returns the hex SHA-256 of a file's content, or of anything else.
func DigestOf(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}

// OpenRegular opens a file, or makes it if flag has os.O_CREATE. Anything else of that name is a badinput error at
// once: a named pipe would block whoever opens it.
func OpenRegular(path string, flag int) (*os.File, error) {
	f, err := os.OpenFile(path, flag|syscall.O_NONBLOCK, Mode) //nolint:gosec // the umask decides
	if errors.Is(err, syscall.ENXIO) {                         // a pipe without a reader
		return nil, badinput.Errorf("%s is not a regular file: remove it, or copy its content to a file and name that", path)
	}
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = badinput.Errorf("%s is not a regular file: remove it, or copy its content to a file and name that", path)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}
