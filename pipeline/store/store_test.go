package store_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
	"gocloud.dev/blob"
	"gocloud.dev/blob/memblob"

	"bitextmine/internal/badinput"
	"bitextmine/pipeline/store"
	"bitextmine/pipeline/store/storetest"
)

func TestMain(m *testing.M) {
	// The AWS client keeps idle connections until its transport times them out.
	goleak.VerifyTestMain(m, goleak.IgnoreTopFunction("internal/poll.runtime_pollWait"), goleak.IgnoreTopFunction("net/http.(*persistConn).writeLoop"),
		goleak.IgnoreTopFunction("go.opencensus.io/stats/view.(*worker).start"))
}

func open(t testing.TB, location string) *store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), location, storetest.Quiet)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() }) // a memory bucket is closed once for all its machines
	return s
}

func TestDirectory(t *testing.T) {
	conformance(t, func(t testing.TB) place {
		dir := t.TempDir()
		return place{
			Open: func(t testing.TB) *store.Store { return open(t, dir) },
			Damage: func(t testing.TB, task store.Task, file string, content []byte) {
				path := filepath.Join(dir, task.Stage, task.Key, file)
				err := os.Remove(path)
				if err == nil && content != nil {
					err = os.WriteFile(path, content, 0o600)
				}
				if err != nil {
					t.Fatal(err)
				}
			},
		}
	})
}

func TestMemory(t *testing.T) {
	conformance(t, func(t testing.TB) place {
		b := memblob.OpenBucket(nil)
		return bucketPlace(b, func(t testing.TB) *store.Store {
			back, err := store.OpenBucket(b, t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			return store.New(back, storetest.Quiet)
		})
	})
}

// TestOneCache: processes of one machine, with one cache, make the same outputs at once.
func TestOneCache(t *testing.T) {
	b, cache := memblob.OpenBucket(nil), t.TempDir()
	for i := range 50 {
		task := store.Task{Stage: "encode", Key: fmt.Sprintf("%016x", i)}
		var group sync.WaitGroup
		for range 4 {
			back, err := store.OpenBucket(b, cache)
			if err != nil {
				t.Fatal(err)
			}
			group.Go(func() {
				out, err := store.New(back, storetest.Quiet).Do(t.Context(), task, func(dir string) (any, error) {
					return nil, errors.Join(os.WriteFile(filepath.Join(dir, "ids"), []byte{1}, 0o600),
						os.WriteFile(filepath.Join(dir, "vectors"), make([]byte, 100000), 0o600))
				})
				if err != nil {
					t.Error(err)
				} else if data, err := os.ReadFile(out.Path("vectors")); err != nil || len(data) != 100000 {
					t.Errorf("%d bytes, error %v", len(data), err)
				}
			})
		}
		group.Wait()
	}
	if left, err := filepath.Glob(filepath.Join(cache, "encode", ".*")); err != nil || left != nil {
		t.Errorf("left %q, error %v", left, err)
	}
}

// TestCacheOfAnotherMachine: what another machine removed from a bucket goes from a cache by the next sweep there, if
// it is old enough; what is still in the bucket, and files that are no outputs, stay.
func TestCacheOfAnotherMachine(t *testing.T) {
	b := memblob.OpenBucket(nil)
	caches := t.TempDir()
	machine := func(name string) (*store.Store, string) {
		cache := filepath.Join(caches, name)
		back, err := store.OpenBucket(b, cache)
		if err != nil {
			t.Fatal(err)
		}
		return store.New(back, storetest.Quiet), cache
	}
	here, _ := machine("m1")
	there, cache := machine("m[1]")
	kept := store.Task{Stage: "encode", Key: "fedcba9876543210"}
	for _, one := range []store.Task{task, kept} {
		if _, err := there.Do(t.Context(), one, write("one")); err != nil {
			t.Fatal(err)
		}
	}
	index := filepath.Join(cache, "indexes", "0123.index")
	if err := errors.Join(os.Mkdir(filepath.Dir(index), 0o755), os.WriteFile(index, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	if err := here.Remove(t.Context(), task); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		before time.Time
		swept  int
		bytes  int64
	}{{time.Now().Add(-time.Hour), 0, 0}, {time.Now().Add(time.Hour), 1, 3}} {
		if swept, bytes, err := there.Sweep(t.Context(), c.before); swept != c.swept || bytes != c.bytes || err != nil {
			t.Errorf("swept %d with %d bytes before %v, error %v", swept, bytes, c.before, err)
		}
	}
	for path, want := range map[string]bool{filepath.Join(cache, "encode", task.Key): false, filepath.Join(cache, "encode", kept.Key): true, index: true} {
		if _, err := os.Stat(path); (err == nil) != want {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// TestSweepOfABracketedDirectory takes what was left there, not in a directory whose path it would match as a pattern.
func TestSweepOfABracketedDirectory(t *testing.T) {
	dir := t.TempDir()
	left := func(out string) string { return filepath.Join(dir, out, "work", "encode", ".0123.1.tmp") }
	for _, out := range []string{"o1", "o[1]"} {
		if err := os.MkdirAll(left(out), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	s := open(t, filepath.Join(dir, "o[1]", "work"))
	if swept, _, err := s.Sweep(t.Context(), time.Now().Add(time.Hour)); swept != 1 || err != nil {
		t.Errorf("swept %d, error %v", swept, err)
	}
	for out, want := range map[string]bool{"o1": true, "o[1]": false} {
		if _, err := os.Stat(left(out)); (err == nil) != want {
			t.Errorf("%s: %v", out, err)
		}
	}
}

// TestSweepLeavesWhatIsNoOutput: files of others in the bucket, and the outputs of a store below this one, stay; a file
// that a killed writer left goes.
func TestSweepLeavesWhatIsNoOutput(t *testing.T) {
	b := memblob.OpenBucket(nil)
	back, err := store.OpenBucket(b, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	const key = "0123456789abcdef0123456789abcdef"
	const left = "encode/" + key + "/fedcba9876543210fedcba9876543210/embedding.npy"
	others := []string{
		"text/de/2024/a.gz", "text/de/" + key + "/a.gz", "projA/encode/" + key + "/task.json", "encode/" + key + "/2024/a", ".probe.d/a", "a",
	}
	for _, object := range append(others, left) {
		if err := back.Write(t.Context(), object, []byte("text")); err != nil {
			t.Fatal(err)
		}
	}
	if swept, _, err := back.Sweep(t.Context(), time.Now().Add(time.Hour)); swept != 1 || err != nil {
		t.Errorf("swept %d, want 1, error %v", swept, err)
	}
	for _, object := range others {
		if _, err := back.Read(t.Context(), object); err != nil {
			t.Errorf("%s: %v", object, err)
		}
	}
}

// TestProbeOfAKilledProcess is left in a bucket until a sweep.
func TestProbeOfAKilledProcess(t *testing.T) {
	b := memblob.OpenBucket(nil)
	back, err := store.OpenBucket(b, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, object := range []string{".probe.KILLED.tmp", "plans/a.json", "note"} {
		if err := back.Write(t.Context(), object, []byte("mine")); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		before time.Time
		swept  int
	}{{time.Now().Add(-time.Hour), 0}, {time.Now().Add(time.Hour), 1}, {time.Now().Add(time.Hour), 0}} {
		if swept, _, err := back.Sweep(t.Context(), c.before); err != nil || swept != c.swept {
			t.Errorf("swept %d before %v, error %v", swept, c.before, err)
		}
	}
}

func TestS3(t *testing.T) { onServer(t, storetest.S3(t)) }

func TestGCS(t *testing.T) { onServer(t, storetest.GCS(t)) }

// onServer runs the suite in a bucket of a server, with a prefix of its own for each test.
func onServer(t *testing.T, location string) {
	n := 0
	conformance(t, func(t testing.TB) place {
		n++
		place := strings.Replace(location, "/work", "/work"+string(rune('a'+n)), 1)
		b, err := blob.OpenBucket(t.Context(), strings.Replace(location, "/work", "", 1))
		if err != nil {
			t.Fatal(err)
		}
		b = blob.PrefixedBucket(b, "work"+string(rune('a'+n))+"/")
		t.Cleanup(func() {
			if err := b.Close(); err != nil {
				t.Error(err)
			}
		})
		return bucketPlace(b, func(t testing.TB) *store.Store {
			t.Setenv("MINE_CACHE", t.TempDir()) // stands for another machine
			return open(t, place)
		})
	})
}

func bucketPlace(b *blob.Bucket, open func(t testing.TB) *store.Store) place {
	return place{
		Open: open,
		Damage: func(t testing.TB, task store.Task, file string, content []byte) {
			objects := b.List(&blob.ListOptions{Prefix: task.Stage + "/" + task.Key + "/"})
			for {
				o, err := objects.Next(context.Background())
				if err != nil {
					break
				}
				if !strings.HasSuffix(o.Key, "/"+file) {
					continue
				}
				err = b.Delete(t.Context(), o.Key)
				if err == nil && content != nil {
					err = b.WriteAll(t.Context(), o.Key, content, nil)
				}
				if err != nil {
					t.Fatal(err)
				}
			}
		},
	}
}

func TestOpenRefuses(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("MINE_CACHE", t.TempDir())
	for name, location := range map[string]string{
		"a file":               file,
		"below a file":         filepath.Join(file, "work"),
		"an unknown scheme":    "ftp://host/work",
		"too few slashes":      "s3:/bucket/work",
		"no URL":               "s3://%zz",
		"an option of nothing": "mem://?colour=red",
	} {
		t.Run(name, func(t *testing.T) {
			_, err := store.Open(t.Context(), location, storetest.Quiet)
			if !badinput.Is(err) || !strings.Contains(err.Error(), location) || strings.Contains(err.Error(), "\n") {
				t.Errorf("error %v", err)
			}
		})
	}
}

// TestBucketThatListsButCannotWrite checks that such a bucket is refused before any work.
func TestBucketThatListsButCannotWrite(t *testing.T) {
	location := storetest.S3(t)
	t.Setenv("MINE_CACHE", t.TempDir())
	t.Setenv("AWS_SECRET_ACCESS_KEY", "wrong")
	if _, err := store.Open(t.Context(), location, storetest.Quiet); !badinput.Is(err) || !strings.Contains(err.Error(), "cannot be written") {
		t.Errorf("error %v", err)
	}
	refusesMissing(t, location)
}

// TestMissingBucketOfGCS checks that a bucket that is not there is refused before any work, as on S3.
func TestMissingBucketOfGCS(t *testing.T) {
	location := storetest.GCS(t)
	t.Setenv("MINE_CACHE", t.TempDir())
	refusesMissing(t, location)
}

func refusesMissing(t *testing.T, location string) {
	missing := strings.Replace(location, "://corpus", "://nosuch", 1)
	if _, err := store.Open(t.Context(), missing, storetest.Quiet); !badinput.Is(err) || errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

// TestDirectoriesHaveTheUmask: what a store makes can be written by a group whose users have the umask for it.
func TestDirectoriesHaveTheUmask(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0o002))
	root := filepath.Join(t.TempDir(), "work")
	back, err := store.OpenDirectory(root)
	if err != nil {
		t.Fatal(err)
	}
	if err := back.Write(t.Context(), "plans/a.json", nil); err != nil {
		t.Fatal(err)
	}
	if _, err := back.Scratch("shard/b"); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{root, filepath.Join(root, "plans"), filepath.Join(root, "shard")} {
		if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o775 {
			t.Errorf("%s: %v, error %v", dir, info.Mode(), err)
		}
	}
}

// TestOpenFileOnNFS: a file that is open and has no name any more has one of NFS's until it is closed. It is no part of
// an output.
func TestOpenFileOnNFS(t *testing.T) {
	s, task := open(t, t.TempDir()), store.Task{Stage: "shard", Key: "key"}
	out, err := s.Do(t.Context(), task, func(dir string) (any, error) {
		return nil, errors.Join(os.WriteFile(filepath.Join(dir, "rows"), []byte("one"), 0o600),
			os.WriteFile(filepath.Join(dir, ".nfs0000001"), []byte("two"), 0o600))
	})
	if err != nil || len(out.Files) != 1 || out.Files[0].Name != "rows" {
		t.Errorf("%+v, error %v", out, err)
	}
}

// TestComparedOnce: a cached output is read whole once, whoever asks for it again; one that is gone is fetched again.
func TestComparedOnce(t *testing.T) {
	back, err := store.OpenBucket(memblob.OpenBucket(nil), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s, task := store.New(back, storetest.Quiet), store.Task{Stage: "encode", Key: "key"}
	out, err := s.Do(t.Context(), task, write("one"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Get(t.Context(), task); err != nil {
		t.Fatal(err)
	}
	path := out.Path(out.Files[0].Name)
	if err := os.WriteFile(path, []byte("on3"), 0o600); err != nil {
		t.Fatal(err)
	}
	if again, err := s.Get(t.Context(), task); err != nil || read(t, again) != "on3" {
		t.Errorf("it was read again: %v", err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if again, err := s.Get(t.Context(), task); err != nil || read(t, again) != "one" {
		t.Errorf("it was not fetched again: %v", err)
	}
}
