package dataset

import (
	"context"
	"crypto/sha256"
	"errors"
	"hash"
	"maps"
	"net/http"
	"os"
	"slices"

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
