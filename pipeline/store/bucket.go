package store

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"iter"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"gocloud.dev/blob"
	"gocloud.dev/gcerrors"

	"bitextmine/internal/atomicfile"
	"bitextmine/internal/badinput"
)

// bucket is a Backend on an object store. Fetched files are cached in a local directory, because embedding files are
// mapped and not read.
//
// The files of an output are objects under its name and their own digests. An output exists once its record does; the
// record is written last, and only if there is none. So two writers of one output never mix their files, and the files
// of the one that lost are removed by a later sweep.
type bucket struct {
	bucket   *blob.Bucket
	cache    string
	patience time.Duration // how long an operation is tried again
}

// OpenBucket returns a backend on a bucket and caches fetched files in the directory cache. Closing the backend closes
// the bucket.
func OpenBucket(b *blob.Bucket, cache string) (Backend, error) {
	if err := os.MkdirAll(cache, 0o777); err != nil {
		return nil, badinput.Errorf("this machine's cache of the bucket cannot be made (%w); name a directory that this user may make in MINE_CACHE", err)
	}
	bounded(b)
	return bucket{b, cache, workPatience}, nil
}

// object is the name of the object that holds a file of an output.
func object(name string, file File) string { return name + "/" + file.SHA256[:32] + "/" + file.Name }

func (b bucket) Read(ctx context.Context, name string) ([]byte, error) {
	var data bytes.Buffer
	err := b.retry(ctx, func(ctx context.Context) error {
		data.Reset() // a note may have changed, so its rest cannot be asked for
		_, err := b.copyFrom(ctx, name, 0, &data)
		return err
	})
	if codeOf(err) == gcerrors.NotFound {
		return nil, &fs.PathError{Op: "read", Path: name, Err: fs.ErrNotExist}
	}
	return data.Bytes(), err
}

func (b bucket) Write(ctx context.Context, name string, data []byte) error {
	return b.within(ctx, int64(len(data)), func(ctx context.Context) error { return b.bucket.WriteAll(ctx, name, data, nil) })
}

func (b bucket) Delete(ctx context.Context, name string) error {
	err := b.within(ctx, 0, func(ctx context.Context) error { return b.bucket.Delete(ctx, name) })
	if err != nil && codeOf(err) != gcerrors.NotFound {
		return err
	}
	return nil
}

func (b bucket) Local(name string) string { return directory{b.cache}.Local(name) }

func (b bucket) Scratch(name string) (string, error) { return directory{b.cache}.Scratch(name) }

func (b bucket) Publish(ctx context.Context, name, dir string, files []File, record []byte) error {
	for _, file := range files {
		if err := b.upload(ctx, object(name, file), file, filepath.Join(dir, file.Name)); err != nil {
			return err
		}
	}
	// If the answer to a write was lost, the next attempt finds the record, and it is this one or an equal one.
	err := b.within(ctx, int64(len(record)), func(ctx context.Context) error {
		return b.bucket.WriteAll(ctx, name+"/"+recordName, record, &blob.WriterOptions{IfNotExist: true})
	})
	if codeOf(err) == gcerrors.FailedPrecondition {
		return errors.Join(fs.ErrExist, os.RemoveAll(dir))
	}
	if err != nil {
		return err
	}
	_, err = b.moveToCache(name, dir, files)
	return err
}

// moveToCache makes dir, which has the files of the output, the output's directory in the cache, and returns that. If
// another process of this machine did so first, its directory stays, because others may be reading in it.
func (b bucket) moveToCache(name, dir string, files []File) (final string, err error) {
	final = b.Local(name)
	for range 3 { // another process may put the directory back that was discarded here
		if err = os.Rename(dir, final); err == nil {
			return final, nil
		}
		if whole(final, files) {
			return final, os.RemoveAll(dir)
		}
		if err := (directory{b.cache}).discard(final); err != nil { // an older output of that name, or a damaged one
			return "", errors.Join(err, os.RemoveAll(dir))
		}
	}
	return "", errors.Join(err, os.RemoveAll(dir))
}

// whole reports whether dir has all the files.
func whole(dir string, files []File) bool {
	for _, file := range files {
		size, sum, err := atomicfile.Digest(filepath.Join(dir, file.Name))
		if err != nil || size != file.Size || sum != file.SHA256 {
			return false
		}
	}
	return true
}

// upload stores a file. An attempt that fails leaves no object, and the next one begins from the start; of a large file
// the clients repeat single parts.
func (b bucket) upload(ctx context.Context, name string, file File, path string) error {
	return b.within(ctx, file.Size, func(ctx context.Context) (err error) {
		in, err := os.Open(path)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, in.Close()) }()
		working, cancel := context.WithCancel(ctx)
		defer cancel() // no object is created if the context ends before Close
		out, err := b.bucket.NewWriter(working, name, checksummed(in, file.Size))
		if err != nil {
			return err
		}
		if _, err := io.Copy(out, in); err != nil {
			cancel()
			return errors.Join(err, ignore(out.Close(), context.Canceled))
		}
		return out.Close()
	})
}

func ignore(err, what error) error {
	if errors.Is(err, what) || codeOf(err) == gcerrors.Canceled {
		return nil
	}
	return err
}

// Fetch downloads the output's files unless the cache has them.
func (b bucket) Fetch(ctx context.Context, name string, files []File) (string, error) {
	if final := b.Local(name); len(files) > 0 && whole(final, files) {
		return final, nil
	}
	dir, err := b.Scratch(name)
	if err != nil {
		return "", err
	}
	for _, file := range files {
		if err := b.fetch(ctx, name, file, filepath.Join(dir, file.Name)); err != nil {
			return "", errors.Join(atomicfile.Explain(dir, classify(err)), os.RemoveAll(dir))
		}
	}
	return b.moveToCache(name, dir, files)
}

// fetch downloads a file. If its digest is not the record's, the download may be damaged, so it is repeated. If it
// still differs, the object itself is damaged, which readers find.
func (b bucket) fetch(ctx context.Context, name string, file File, path string) error {
	for range 3 {
		sum := sha256.New()
		err := writeTo(path, func(out io.Writer) error {
			return b.download(ctx, object(name, file), file.Size, io.MultiWriter(out, sum))
		})
		if err != nil || hex.EncodeToString(sum.Sum(nil)) == file.SHA256 {
			return err
		}
	}
	return nil
}

func writeTo(path string, write func(io.Writer) error) error {
	out, err := os.Create(path)
	if err != nil {
		return err
	}
	return errors.Join(write(out), out.Close())
}

// next is the next object of a list. After an error the list asks for the same page again.
func (b bucket) next(ctx context.Context, list *blob.ListIterator) (o *blob.ListObject, err error) {
	last := false
	err = b.within(ctx, 0, func(ctx context.Context) error {
		o, err = list.Next(ctx)
		if last = err == io.EOF; last { //nolint:errorlint // a connection that ends is an error with io.EOF in it
			return nil
		}
		return err
	})
	if last {
		err = io.EOF
	}
	return o, err
}

func (b bucket) Remove(ctx context.Context, name string) error {
	if err := b.Delete(ctx, name+"/"+recordName); err != nil {
		return err
	}
	objects := b.bucket.List(&blob.ListOptions{Prefix: name + "/"})
	for {
		o, err := b.next(ctx, objects)
		if errors.Is(err, io.EOF) {
			return (directory{b.cache}).discard(b.Local(name))
		}
		if err != nil {
			return err
		}
		if err := b.Delete(ctx, o.Key); err != nil {
			return err
		}
	}
}

func (b bucket) List(ctx context.Context, prefix string) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		objects := b.bucket.List(&blob.ListOptions{Prefix: prefix + "/"})
		// of the current output, whose files are listed before its record, because a digest sorts before "task.json"
		var bytes int64
		for {
			o, err := b.next(ctx, objects)
			if errors.Is(err, io.EOF) {
				return
			}
			if err != nil {
				yield(Entry{}, err)
				return
			}
			entry := Entry{Name: o.Key, Bytes: o.Size, Time: o.ModTime}
			switch parts := strings.Split(strings.TrimPrefix(o.Key, prefix+"/"), "/"); {
			case len(parts) == 2 && parts[1] == recordName:
				entry.Name, entry.Bytes, bytes = path.Dir(o.Key), o.Size+bytes, 0
			case len(parts) == 1:
			default:
				bytes += o.Size
				continue
			}
			if !yield(entry, nil) {
				return
			}
		}
	}
}

// Sweep removes files of outputs that are not in the output's record, probes of processes that were killed, and the
// temporary files in the cache and the outputs there that the bucket does not have.
func (b bucket) Sweep(ctx context.Context, before time.Time) (swept int, size int64, err error) {
	swept, size, err = directory{b.cache}.Sweep(ctx, before)
	if err != nil {
		return swept, size, err
	}
	cached, bytes, err := sweepCache(ctx, b, before)
	swept, size = swept+cached, size+bytes
	if err != nil {
		return swept, size, err
	}
	objects := b.bucket.List(nil)
	records := map[string]string{}
	for {
		o, err := b.next(ctx, objects)
		if errors.Is(err, io.EOF) {
			return swept, size, nil
		}
		if err != nil {
			return swept, size, err
		}
		if o.ModTime.After(before) {
			continue
		}
		needed, err := b.needed(ctx, o.Key, records)
		if err != nil {
			return swept, size, err
		}
		if needed {
			continue
		}
		if err := b.Delete(ctx, o.Key); err != nil {
			return swept, size, err
		}
		swept++
		size += o.Size
	}
}

// outputFile is the name of an object that object() made: a stage, a key, the digits of a digest, a file. Others share
// buckets with a store, so nothing else is taken for a file of an output; task.json is a record, that of a store which
// is below this one's location.
var outputFile = regexp.MustCompile(`^([a-z]+/[0-9a-f]{32})/([0-9a-f]{32})/([^/]+)$`)

// needed reports whether an object is a note, a record, a file that a record names, or none of this store's. records
// are the records read, by output; objects are listed by name, so one of them is enough.
func (b bucket) needed(ctx context.Context, object string, records map[string]string) (bool, error) {
	parts := outputFile.FindStringSubmatch(object)
	if parts == nil || parts[3] == recordName {
		return strings.Contains(object, "/") || !strings.HasPrefix(object, probePrefix), nil
	}
	name := parts[1]
	record, known := records[name]
	if !known {
		data, err := b.Read(ctx, name+"/"+recordName)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return true, err
		}
		clear(records)
		record = string(data)
		records[name] = record
	}
	return strings.Contains(record, parts[2]), nil
}

func (b bucket) Close() error { return b.bucket.Close() }
