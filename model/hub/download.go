package hub

import (
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"bitextmine/internal/badinput"
	"bitextmine/internal/transfer"
)

// partSuffix ends the name of a file that is not yet complete.
const partSuffix = ".part"

// Download puts a file of the repository's commit into a directory, unless it is there already. What an earlier call
// left is continued. The file is verified: large ones by their SHA-256, others by git's digest.
func (c *Client) Download(ctx context.Context, r *Repository, f File, dir string, progress func(done int64)) error {
	if !filepath.IsLocal(filepath.FromSlash(f.Path)) {
		return badinput.Errorf("%s has the file %q, which would be outside its directory: it is hostile", r.Name,
			f.Path)
	}
	final := filepath.Join(dir, filepath.FromSlash(f.Path))
	switch same, err := verify(final, f); {
	case err == nil && same:
		if progress != nil {
			progress(f.Size)
		}
		return nil
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return err
	}
	address := fmt.Sprintf("%s/%s/resolve/%s/%s", c.Endpoint, r.Name, r.Commit, escaped(f.Path))
	o := c.options(r.Name, r.Commit)
	o.Size, o.Resume, o.Progress = f.Size, true, progress
	part := final + partSuffix
	if err := transfer.Fetch(ctx, address, part, o); err != nil {
		return err
	}
	same, err := verify(part, f)
	if err != nil {
		return err
	}
	if !same {
		err := badinput.Errorf("%s of %s does not have the digest that the hub lists for it, so it was deleted: the transfer was damaged or tampered with; run the same command again", f.Path, r.Name)
		return errors.Join(err, os.Remove(part))
	}
	return os.Rename(part, final)
}

// escaped is a path in an address.
func escaped(path string) string {
	parts := strings.Split(path, "/")
	for i, part := range parts {
		parts[i] = url.PathEscape(part)
	}
	return strings.Join(parts, "/")
}

// verify compares a file with its digest.
func verify(path string, f File) (bool, error) {
	file, err := os.Open(path)
	if err != nil {
		return false, err
	}
	defer func() { _ = file.Close() }() // it is only read
	info, err := file.Stat()
	if err != nil {
		return false, err
	}
	var h hash.Hash
	want := f.SHA256
	switch {
	case f.SHA256 != "":
		h = sha256.New()
	case f.Blob != "":
		h, want = sha1.New(), f.Blob
		fmt.Fprintf(h, "blob %d\x00", info.Size())
	default:
		return info.Size() == f.Size, nil
	}
	if _, err := io.Copy(h, file); err != nil {
		return false, err
	}
	return hex.EncodeToString(h.Sum(nil)) == want, nil
}
