package gpu

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"bitextmine/internal/badinput"
	"bitextmine/internal/lockfile"
	"bitextmine/internal/transfer"
)

// made is a wheel with libraries of a few bytes.
func made(t *testing.T, name string, files ...string) (Wheel, []byte) {
	t.Helper()
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	for _, file := range files {
		w, err := z.CreateHeader(&zip.FileHeader{Name: file, Method: zip.Store})
		if err == nil {
			_, err = w.Write([]byte(strings.Repeat("of "+file+" ", 50)))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(out.Bytes())
	return Wheel{Package: name, File: name + "-1.whl", SHA256: hex.EncodeToString(sum[:]), Size: int64(out.Len())}, out.Bytes()
}

// server is a package index whose pages link to files on another host, as PyPI's do; requests for files that ask
// answers itself are not its own.
type server struct {
	files    map[string][]byte // content by name
	ask      func(w http.ResponseWriter, r *http.Request) bool
	requests []string
	ranges   []string
	secrets  map[string]string // Authorization by path
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.requests = append(s.requests, r.URL.Path)
	s.secrets[r.URL.Path] = r.Header.Get("Authorization")
	if s.ask != nil && s.ask(w, r) {
		return
	}
	name := filepath.Base(r.URL.Path)
	switch {
	case strings.HasPrefix(r.URL.Path, "/simple/"):
		fmt.Fprintf(w, `<!DOCTYPE html><html><body><a href="../../old/other.whl#sha256=00">other.whl</a><br/>
			<a href="../../moved/%s-1.whl#sha256=feed">%s-1.whl</a></body></html>`, name, name)
	case strings.HasPrefix(r.URL.Path, "/moved/"):
		http.Redirect(w, r, "/files/"+name, http.StatusFound)
	case s.files[name] != nil:
		if wanted := r.Header.Get("Range"); wanted != "" {
			s.ranges = append(s.ranges, wanted)
		}
		http.ServeContent(w, r, name, time.Time{}, bytes.NewReader(s.files[name]))
	default:
		http.NotFound(w, r)
	}
}

// start serves two wheels and returns their set.
func start(t *testing.T) (*server, WheelSet, InstallOptions) {
	t.Helper()
	s := &server{files: map[string][]byte{}, secrets: map[string]string{}}
	runtime, a := made(t, "runtime", "onnx/capi/libonnxruntime.so.1.2", "onnx/capi/onnx_pybind.cpython-312.so", "onnx/capi/libreadme.txt")
	maths, b := made(t, "maths", "nvidia/lib/libcublas.so.13", "nvidia/lib/libcublasLt.so.13")
	s.files[runtime.File], s.files[maths.File] = a, b
	host := httptest.NewServer(s)
	t.Cleanup(host.Close)
	return s, WheelSet{"cuda13", []Wheel{runtime, maths}}, InstallOptions{Index: host.URL + "/simple", Transfer: transfer.Options{Wait: time.Millisecond, Attempts: 3}}
}

func list(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func TestInstallUnpacksLibrariesAlone(t *testing.T) {
	s, set, o := start(t)
	parent := t.TempDir()
	shown := map[string]int64{}
	o.Progress = func(w Wheel, done int64) { shown[w.Package] = done }
	dir, err := Install(t.Context(), set, parent, o)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := list(t, dir), []string{"libcublas.so.13", "libcublasLt.so.13", "libonnxruntime.so.1.2"}; !slices.Equal(got, want) {
		t.Errorf("unpacked %q, want %q", got, want)
	}
	if got := list(t, parent); !slices.Equal(got, []string{set.Directory()}) {
		t.Errorf("beside the libraries are %q", got)
	}
	for _, w := range set.Wheels {
		if shown[w.Package] != w.Size {
			t.Errorf("the progress of %s ends at %d of %d", w.Package, shown[w.Package], w.Size)
		}
	}
	before := len(s.requests)
	if again, err := Install(t.Context(), set, parent, o); err != nil || again != dir || len(s.requests) != before {
		t.Errorf("a second installation gives %s, %v after %d more requests", again, err, len(s.requests)-before)
	}
}

// TestInstallGoesOn: what broke off is continued at its byte, and a wheel that was unpacked is not fetched again.
func TestInstallGoesOn(t *testing.T) {
	s, set, o := start(t)
	parent := t.TempDir()
	s.ask = func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path != "/files/maths-1.whl" {
			return false
		}
		w.Header().Set("Content-Length", fmt.Sprint(set.Wheels[1].Size))
		_, _ = w.Write(s.files["maths-1.whl"][:100])
		return true // the connection ends before its time
	}
	o.Transfer.Attempts = 1
	if _, err := Install(t.Context(), set, parent, o); err == nil || badinput.Is(err) || !strings.Contains(err.Error(), "broken off after 100") {
		t.Fatalf("got %v, want an error that is worth a retry", err)
	}
	if _, err := os.Stat(filepath.Join(parent, set.Directory())); err == nil {
		t.Fatal("half an installation was published")
	}
	s.ask, s.requests = nil, nil
	if _, err := Install(t.Context(), set, parent, o); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(s.ranges, []string{"bytes=100-"}) || slices.ContainsFunc(s.requests, func(p string) bool { return strings.Contains(p, "runtime") }) {
		t.Errorf("went on with ranges %q and requests %q", s.ranges, s.requests)
	}
}

func TestInstallRefuses(t *testing.T) {
	refuse := func(path string, status int) func(*server, *WheelSet, string) {
		return func(s *server, _ *WheelSet, _ string) {
			s.ask = func(w http.ResponseWriter, r *http.Request) bool {
				if !strings.HasPrefix(r.URL.Path, path) {
					return false
				}
				http.Error(w, "no", status)
				return true
			}
		}
	}
	for _, c := range []struct {
		name      string
		change    func(s *server, set *WheelSet, staging string)
		says      string
		permanent bool
	}{
		{"no such package", refuse("/simple/maths", http.StatusNotFound), "answers 404 Not Found: name an index that has it in PIP_INDEX_URL", true},
		{"a server that is down", refuse("/simple/maths", http.StatusBadGateway), "502 Bad Gateway", false},
		{"a file that is gone", refuse("/files/maths", http.StatusNotFound), "maths-1.whl answers 404", true},
		{"a file that is not listed", func(_ *server, set *WheelSet, _ string) { set.Wheels[1].File = "maths-2.whl" }, "does not list maths-2.whl", true},
		{"another digest", func(s *server, _ *WheelSet, _ string) { s.files["maths-1.whl"][60] ^= 1 }, "does not have the digest", true},
		{"a longer file", func(s *server, _ *WheelSet, _ string) { s.files["maths-1.whl"] = append(s.files["maths-1.whl"], 0) }, "the address now serves something else", true},
		{"no wheel", func(s *server, set *WheelSet, _ string) {
			s.files["maths-1.whl"] = []byte("text")
			sum := sha256.Sum256([]byte("text"))
			set.Wheels[1].SHA256, set.Wheels[1].Size = hex.EncodeToString(sum[:]), 4
		}, "is not a wheel", true},
		{"a full disk", func(_ *server, set *WheelSet, staging string) {
			if err := os.Symlink("/dev/full", filepath.Join(staging, set.Wheels[1].File+transfer.PartSuffix)); err != nil {
				panic(err)
			}
		}, "the disk is full", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, set, o := start(t)
			parent := t.TempDir()
			staging := filepath.Join(parent, set.Directory()+stagingSuffix)
			if err := os.MkdirAll(staging, 0o755); err != nil {
				t.Fatal(err)
			}
			c.change(s, &set, staging)
			if named := filepath.Join(parent, set.Directory()+stagingSuffix); named != staging {
				if err := os.Rename(staging, named); err != nil {
					t.Fatal(err)
				}
			}
			_, err := Install(t.Context(), set, parent, o)
			if err == nil || !strings.Contains(err.Error(), c.says) || badinput.Is(err) != c.permanent || strings.Contains(err.Error(), "\n") {
				t.Errorf("got %v, want one line with %q (permanent: %v)", err, c.says, c.permanent)
			}
			if _, err := os.Stat(filepath.Join(parent, set.Directory())); err == nil {
				t.Error("half an installation was published")
			}
		})
	}
}

func TestSecondInstallationIsRefused(t *testing.T) {
	_, set, o := start(t)
	parent := t.TempDir()
	staging := filepath.Join(parent, set.Directory()+stagingSuffix)
	if err := os.MkdirAll(staging, 0o755); err != nil {
		t.Fatal(err)
	}
	release, err := lockfile.Lock(filepath.Join(staging, "lock"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = release() }()
	_, err = Install(t.Context(), set, parent, o)
	if held := (*lockfile.Locked)(nil); !errors.As(err, &held) {
		t.Errorf("got %v, want that another process is at work", err)
	}
}

// TestIndexFromTheEnvironment: the password of an index goes to it and to no other host, and into no message.
func TestIndexFromTheEnvironment(t *testing.T) {
	s, set, o := start(t)
	other := httptest.NewServer(s)
	defer other.Close()
	s.ask = func(w http.ResponseWriter, r *http.Request) bool {
		if strings.HasPrefix(r.URL.Path, "/moved/") {
			http.Redirect(w, r, strings.Replace(other.URL, "127.0.0.1", "localhost", 1)+"/files/"+filepath.Base(r.URL.Path), http.StatusFound)
			return true
		}
		return false
	}
	t.Setenv(IndexEnv, strings.Replace(o.Index, "http://", "http://name:secret@", 1))
	o.Index = ""
	if _, err := Install(t.Context(), set, t.TempDir(), o); err != nil {
		t.Fatal(err)
	}
	if s.secrets["/simple/maths/"] == "" || s.secrets["/files/maths-1.whl"] != "" {
		t.Errorf("the password went to %q", s.secrets)
	}
	set.Wheels[0].File = "none.whl"
	if _, err := Install(t.Context(), set, t.TempDir(), o); err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("the message is %v", err)
	}
	t.Setenv(IndexEnv, "no address")
	if _, err := Install(t.Context(), set, t.TempDir(), o); err == nil || !badinput.Is(err) || !strings.Contains(err.Error(), "PIP_INDEX_URL is not an address") {
		t.Errorf("got %v", err)
	}
}

// TestList: every set has ONNX Runtime of a version that the program can use, and each digest is a digest.
func TestList(t *testing.T) {
	for _, s := range WheelSets() {
		found := false
		for _, w := range s.Wheels {
			minor := 0
			if n, _ := fmt.Sscanf(w.File, "onnxruntime_gpu-1.%d.", &minor); n == 1 {
				found = minor >= 24
			}
			if sum, err := hex.DecodeString(w.SHA256); err != nil || len(sum) != sha256.Size || w.Size <= 0 || !strings.HasSuffix(w.File, "x86_64.whl") {
				t.Errorf("%s: %+v cannot be meant", s.Name, w)
			}
		}
		if !found {
			t.Errorf("%s has no ONNX Runtime of 1.24 or newer", s.Name)
		}
	}
	if _, err := NamedWheels("cuda11"); err == nil || !strings.Contains(err.Error(), "choose cuda13 or cuda12") {
		t.Errorf("got %v", err)
	}
}
