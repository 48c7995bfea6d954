package dataset

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"bitextmine/internal/badinput"
	"bitextmine/internal/lockfile"
	"bitextmine/internal/transfer"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// publisher is a server whose faults a test sets.
type publisher struct {
	*httptest.Server
	mu       sync.Mutex
	content  map[string][]byte
	requests []string       // "GET /path bytes=..."
	breaks   map[string]int // responses for a path that break off half-way
	noRanges bool
	status   int
}

func newPublisher(t *testing.T, content map[string][]byte) *publisher {
	t.Helper()
	p := &publisher{content: content, breaks: map[string]int{}}
	p.Server = httptest.NewServer(p)
	t.Cleanup(p.Close)
	return p
}

func (p *publisher) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.requests = append(p.requests, r.URL.Path+" "+r.Header.Get("Range"))
	name := strings.TrimPrefix(r.URL.Path, "/")
	data, ok := p.content[name]
	switch {
	case p.status != 0:
		w.WriteHeader(p.status)
		return
	case !ok:
		http.NotFound(w, r)
		return
	}
	if p.noRanges {
		r.Header.Del("Range")
	}
	if p.breaks[name] > 0 {
		p.breaks[name]--
		w.Header().Set("Content-Length", fmt.Sprint(len(data)))
		_, _ = w.Write(data[:len(data)/2])
		panic(http.ErrAbortHandler) // closes the connection
	}
	http.ServeContent(w, r, name, time.Time{}, bytes.NewReader(data))
}

func digest(data []byte) string { return fmt.Sprintf("%x", sha256.Sum256(data)) }

func (p *publisher) set(files ...File) Set {
	return Set{Name: "toy", Base: "http://publisher.invalid/", Files: files}
}

func (p *publisher) options() Options {
	return Options{Mirror: p.URL, Client: p.Client(), Wait: time.Millisecond, Attempts: 3}
}

func (p *publisher) get(t *testing.T, set Set, dir string, opts Options) error {
	t.Helper()
	defer p.Client().CloseIdleConnections()
	return Get(t.Context(), set, dir, opts)
}

var text = bytes.Repeat([]byte("a line of a test set\n"), 5000)

func check(t *testing.T, path string, want []byte) {
	t.Helper()
	got, err := os.ReadFile(path)
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("%s: %d bytes (%v), want %d", path, len(got), err, len(want))
	}
	if _, err := os.Stat(path + transfer.PartSuffix); !os.IsNotExist(err) {
		t.Errorf("%s%s is left behind", path, transfer.PartSuffix)
	}
}

func TestGetAndKeep(t *testing.T) {
	p := newPublisher(t, map[string][]byte{"deep/a.txt": text})
	set, dir := p.set(File{"deep/a.txt", digest(text), int64(len(text))}), t.TempDir()
	var last int64
	opts := p.options()
	opts.Progress = func(_ string, done, _ int64) { last = done }
	for range 2 {
		if err := p.get(t, set, dir, opts); err != nil {
			t.Fatal(err)
		}
	}
	check(t, filepath.Join(dir, "deep", "a.txt"), text)
	if len(p.requests) != 1 || last != int64(len(text)) {
		t.Errorf("requests %q, progress up to %d: the second call has nothing to download", p.requests, last)
	}
}

// TestBrokenTransferIsTakenUp checks that the second request asks only for the missing bytes.
func TestBrokenTransferIsTakenUp(t *testing.T) {
	p := newPublisher(t, map[string][]byte{"a.txt": text})
	p.breaks["a.txt"] = 1
	dir := t.TempDir()
	if err := p.get(t, p.set(File{"a.txt", digest(text), int64(len(text))}), dir, p.options()); err != nil {
		t.Fatal(err)
	}
	check(t, filepath.Join(dir, "a.txt"), text)
	if len(p.requests) != 2 || !strings.HasPrefix(p.requests[1], "/a.txt bytes=") {
		t.Errorf("requests %q, want a second one with a range", p.requests)
	}
}

// TestNextCallTakesUpWhatTheLastLeft checks that a call resumes the part of an earlier one, whether or not the size is
// known and the server supports ranges.
func TestNextCallTakesUpWhatTheLastLeft(t *testing.T) {
	for name, c := range map[string]struct {
		size     int64
		noRanges bool
	}{"with a size": {int64(len(text)), false}, "without": {0, false}, "no ranges": {int64(len(text)), true}} {
		t.Run(name, func(t *testing.T) {
			p := newPublisher(t, map[string][]byte{"a.txt": text})
			p.breaks["a.txt"] = 3
			dir, set := t.TempDir(), p.set(File{"a.txt", digest(text), c.size})
			p.noRanges = c.noRanges
			err := p.get(t, set, dir, p.options())
			if err == nil || badinput.Is(err) {
				t.Fatalf("%v: want an error that is worth a retry", err)
			}
			if _, err := os.Stat(filepath.Join(dir, "a.txt")); !os.IsNotExist(err) {
				t.Error("a half-downloaded file stands under its final name")
			}
			if err := p.get(t, set, dir, p.options()); err != nil {
				t.Fatal(err)
			}
			check(t, filepath.Join(dir, "a.txt"), text)
		})
	}
}

func TestRefusals(t *testing.T) {
	other := bytes.Repeat([]byte("b"), len(text))
	for _, c := range []struct {
		name    string
		content []byte
		status  int
		file    File
		words   []string
	}{
		{"a wrong digest", other, 0, File{"a.txt", digest(text), int64(len(text))}, []string{digest(other), digest(text)}},
		{"more bytes than there should be", append(text[:len(text):len(text)], 'x'), 0, File{"a.txt", digest(text), int64(len(text))}, []string{"more than"}},
		{"moved away", nil, 0, File{"a.txt", digest(text), 0}, []string{"404", "--mirror"}},
		{"forbidden", text, http.StatusForbidden, File{"a.txt", digest(text), 0}, []string{"403"}},
		{"not pinned", text, 0, File{"a.txt", "", 0}, []string{"not pinned", "--sha256 a.txt=", "--trust-first"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newPublisher(t, map[string][]byte{})
			if c.content != nil {
				p.content["a.txt"] = c.content
			}
			p.status = c.status
			dir := t.TempDir()
			err := p.get(t, p.set(c.file), dir, p.options())
			if !badinput.Is(err) {
				t.Fatalf("%v: not bad input", err)
			}
			for _, w := range c.words {
				if !strings.Contains(err.Error(), w) {
					t.Errorf("%q does not say %q", err, w)
				}
			}
			if _, err := os.Stat(filepath.Join(dir, "a.txt")); !os.IsNotExist(err) {
				t.Error("a refused file stands under its final name")
			}
		})
	}
}

func TestServerErrorIsWorthARetry(t *testing.T) {
	p := newPublisher(t, map[string][]byte{"a.txt": text})
	p.status = http.StatusBadGateway
	err := p.get(t, p.set(File{"a.txt", digest(text), 0}), t.TempDir(), p.options())
	if err == nil || badinput.Is(err) || len(p.requests) != 3 {
		t.Errorf("%v after %d requests, want a passing error after 3", err, len(p.requests))
	}
}

func TestTrustFirstRecordsAndHolds(t *testing.T) {
	p := newPublisher(t, map[string][]byte{"a.txt": text})
	dir, set, opts := t.TempDir(), p.set(File{"a.txt", "", 0}), p.options()
	opts.TrustFirst = true
	if err := p.get(t, set, dir, opts); err != nil {
		t.Fatal(err)
	}
	check(t, filepath.Join(dir, sumsName), []byte(digest(text)+"  a.txt\n"))
	// A recorded digest is checked with and without --trust-first.
	p.content["a.txt"] = []byte("something else")
	if err := os.Remove(filepath.Join(dir, "a.txt")); err != nil {
		t.Fatal(err)
	}
	if err := p.get(t, set, dir, opts); !badinput.Is(err) {
		t.Errorf("%v: other content than the first time is accepted", err)
	}
	p.content["a.txt"] = text
	if err := p.get(t, set, dir, p.options()); err != nil {
		t.Errorf("the same content as the first time: %v", err)
	}
}

// TestUnpinnedPartIsNotTakenUp checks that a part without a digest is not resumed: nobody would notice that its rest is
// of another version.
func TestUnpinnedPartIsNotTakenUp(t *testing.T) {
	p := newPublisher(t, map[string][]byte{"a.txt": text})
	dir, opts := t.TempDir(), p.options()
	opts.TrustFirst = true
	if err := os.WriteFile(filepath.Join(dir, "a.txt"+transfer.PartSuffix), []byte("an older version"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := p.get(t, p.set(File{"a.txt", "", 0}), dir, opts); err != nil {
		t.Fatal(err)
	}
	check(t, filepath.Join(dir, "a.txt"), text)
}

func TestDigestFromTheUser(t *testing.T) {
	p := newPublisher(t, map[string][]byte{"a.txt": text})
	opts := p.options()
	opts.SHA256 = map[string]string{"a.txt": digest([]byte("x"))}
	if err := p.get(t, p.set(File{"a.txt", "", 0}), t.TempDir(), opts); !badinput.Is(err) {
		t.Errorf("%v: a digest that differs from the user's is accepted", err)
	}
	opts.SHA256["a.txt"] = digest(text)
	if err := p.get(t, p.set(File{"a.txt", "", 0}), t.TempDir(), opts); err != nil {
		t.Error(err)
	}
}

func tarball(t testing.TB, name, content string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	if err := w.WriteHeader(&tar.Header{Name: name, Size: int64(len(content)), Mode: 0o644, Typeflag: tar.TypeReg}); err != nil {
		t.Fatal(err)
	}
	fmt.Fprint(w, content)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestArchives(t *testing.T) {
	good, bad := tarball(t, "set/dev/deu.dev", "eins\n"), tarball(t, "../../etc/escape", "x")
	cut := good[:len(good)-20]
	p := newPublisher(t, map[string][]byte{"good.tar.gz": good, "bad.tar.gz": bad, "cut.tar.gz": cut})
	dir := t.TempDir()
	for range 2 {
		if err := p.get(t, p.set(File{"good.tar.gz", digest(good), 0}), dir, p.options()); err != nil {
			t.Fatal(err)
		}
	}
	check(t, filepath.Join(dir, "set", "dev", "deu.dev"), []byte("eins\n"))
	for name, data := range map[string][]byte{"bad.tar.gz": bad, "cut.tar.gz": cut} {
		if err := p.get(t, p.set(File{name, digest(data), 0}), dir, p.options()); !badinput.Is(err) {
			t.Errorf("%s: %v, want bad input", name, err)
		}
	}
}

// TestRemovedTextsAreUnpackedAgain: those of every archive, though the archives are there and were unpacked before.
func TestRemovedTextsAreUnpackedAgain(t *testing.T) {
	first, second := tarball(t, "set/deu.dev", "eins\n"), tarball(t, "set/eng.dev", "one\n")
	p := newPublisher(t, map[string][]byte{"a.tar.gz": first, "b.tar.gz": second})
	set, dir := p.set(File{"a.tar.gz", digest(first), 0}, File{"b.tar.gz", digest(second), 0}), t.TempDir()
	set.Root = "set"
	for range 2 {
		if err := p.get(t, set, dir, p.options()); err != nil {
			t.Fatal(err)
		}
		check(t, filepath.Join(dir, "set", "deu.dev"), []byte("eins\n"))
		check(t, filepath.Join(dir, "set", "eng.dev"), []byte("one\n"))
		if err := os.RemoveAll(filepath.Join(dir, "set")); err != nil {
			t.Fatal(err)
		}
	}
	if len(p.requests) != 2 {
		t.Errorf("requests %q, want one for each archive", p.requests)
	}
}

// TestTwoDownloadsAtOnce: both end well, each file is requested once, and the digests that both trust are all recorded.
func TestTwoDownloadsAtOnce(t *testing.T) {
	p := newPublisher(t, map[string][]byte{"a.txt": text, "b.txt": []byte("b"), "c.txt": []byte("c")})
	defer p.Client().CloseIdleConnections()
	dir := t.TempDir()
	begun, other := make(chan struct{}), make(chan error, 1)
	slow := p.options()
	slow.TrustFirst = true
	var once sync.Once
	slow.Progress = func(string, int64, int64) {
		once.Do(func() {
			close(begun)
			time.Sleep(200 * time.Millisecond) // the other one comes now
		})
	}
	quick := p.options()
	quick.TrustFirst = true
	go func() {
		<-begun
		other <- Get(t.Context(), p.set(File{"a.txt", "", 0}, File{"c.txt", "", 0}), dir, quick)
	}()
	if err := Get(t.Context(), p.set(File{"a.txt", "", 0}, File{"b.txt", "", 0}), dir, slow); err != nil {
		t.Error(err)
	}
	if err := <-other; err != nil {
		t.Error(err)
	}
	check(t, filepath.Join(dir, "a.txt"), text)
	if len(p.requests) != 3 {
		t.Errorf("requests %q, want one for each file", p.requests)
	}
	sums, err := readSums(filepath.Join(dir, sumsName))
	if err != nil || len(sums) != 3 {
		t.Errorf("recorded %v (%v), want three digests", sums, err)
	}
}

func TestWaitingDownloadIsCancelled(t *testing.T) {
	dir := t.TempDir()
	release, err := lockfile.Lock(filepath.Join(dir, lockName))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if err := Get(ctx, Set{Name: "toy"}, dir, Options{}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v of a download that another holds up", err)
	}
	if err := release(); err != nil {
		t.Fatal(err)
	}
}

func TestCancel(t *testing.T) {
	p := newPublisher(t, map[string][]byte{"a.txt": text})
	p.breaks["a.txt"] = 100
	ctx, cancel := context.WithCancel(t.Context())
	opts := p.options()
	opts.Wait = time.Hour
	opts.Progress = func(string, int64, int64) { cancel() }
	defer p.Client().CloseIdleConnections()
	if err := Get(ctx, p.set(File{"a.txt", digest(text), 0}), t.TempDir(), opts); err == nil {
		t.Error("a cancelled download succeeds")
	}
}

// TestCatalogue checks that every entry is complete and says where its digests come from.
func TestCatalogue(t *testing.T) {
	all, err := Sets()
	if err != nil {
		t.Fatal(err)
	}
	counts := map[string]int{"tatoeba": 224, "flores200": 1, "ntrex": 129, "bucc2018": 8, "xsimplusplus": 2}
	for _, s := range all {
		if s.Licence == "" || s.Homepage == "" || s.Digests == "" || s.About == "" || !strings.HasPrefix(s.Base, "https://") || !strings.HasSuffix(s.Base, "/") {
			t.Errorf("%s: %+v lacks something", s.Name, s)
		}
		if len(s.Files) != counts[s.Name] {
			t.Errorf("%s has %d files, want %d", s.Name, len(s.Files), counts[s.Name])
		}
		for _, f := range s.Files {
			if f.Pinned() && (len(f.SHA256) != 64 || f.Size == 0) || !filepath.IsLocal(f.Path) {
				t.Errorf("%s: %+v", s.Name, f)
			}
		}
	}
	if _, err := Find("nosuch"); !badinput.Is(err) || !strings.Contains(err.Error(), "tatoeba") {
		t.Errorf("%v", err)
	}
}
