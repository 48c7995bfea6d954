package store_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"bitextmine/internal/badinput"
	"bitextmine/pipeline/store"
	"bitextmine/pipeline/store/storetest"
)

// poorS3 keeps what is put. What a test sets decides about the n-th GET of a file of an output, from 1.
type poorS3 struct {
	sync.Mutex
	objects map[string][]byte
	ranges  []string // of the GETs of files
	get     func(n int, w http.ResponseWriter, content []byte) (answered bool)
	every   func(w http.ResponseWriter) (answered bool)
}

func (s *poorS3) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.Lock()
	defer s.Unlock()
	if s.every != nil && s.every(w) {
		return
	}
	object, found := s.objects[r.URL.Path]
	switch {
	case r.Method == http.MethodPut:
		body, err := io.ReadAll(r.Body)
		if err != nil {
			panic(http.ErrAbortHandler)
		}
		s.objects[r.URL.Path] = body
	case r.Method == http.MethodDelete:
		w.WriteHeader(http.StatusNoContent)
	case !found:
		w.WriteHeader(http.StatusNotFound)
		fmt.Fprint(w, "<Error><Code>NoSuchKey</Code></Error>")
	case strings.HasSuffix(r.URL.Path, "/vectors"):
		s.ranges = append(s.ranges, r.Header.Get("Range"))
		if s.get != nil && s.get(len(s.ranges), w, object) {
			return
		}
		fallthrough
	default:
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(object))
	}
}

// onPoorS3 publishes an output and returns a function that gets it on another machine.
func onPoorS3(t *testing.T, poor *poorS3, content []byte) (get func() (*store.Output, error)) {
	t.Helper()
	poor.objects = map[string][]byte{}
	server := httptest.NewServer(poor)
	t.Cleanup(server.Close)
	for name, value := range map[string]string{
		"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_MAX_ATTEMPTS": "1",
		"AWS_REQUEST_CHECKSUM_CALCULATION": "when_required", // else what is put is cut into pieces
	} {
		t.Setenv(name, value)
	}
	location := "s3://corpus/work?region=us-east-1&use_path_style=true&endpoint=" + server.URL
	task := store.Task{Stage: "encode", Key: "0123456789abcdef"}
	on := func(do func(string) (any, error)) (*store.Output, error) {
		st, err := store.OpenCached(t.Context(), location, t.TempDir(), storetest.Quiet)
		if err != nil {
			return nil, err
		}
		out, err := st.Do(t.Context(), task, do)
		return out, errors.Join(err, st.Close())
	}
	if _, err := on(func(dir string) (any, error) {
		return nil, os.WriteFile(filepath.Join(dir, "vectors"), content, 0o600)
	}); err != nil {
		t.Fatal(err)
	}
	return func() (*store.Output, error) {
		return on(func(string) (any, error) { return nil, errors.New("made again") })
	}
}

// TestAServerWithoutChecksums: S3's client does not warn of each object.
func TestAServerWithoutChecksums(t *testing.T) {
	said, err := os.Create(filepath.Join(t.TempDir(), "stderr"))
	if err != nil {
		t.Fatal(err)
	}
	stderr := os.Stderr
	os.Stderr = said
	defer func() { os.Stderr = stderr }()
	if _, err := onPoorS3(t, &poorS3{}, []byte("some"))(); err != nil {
		t.Error(err)
	}
	if err := said.Close(); err != nil {
		t.Error(err)
	}
	if text, err := os.ReadFile(said.Name()); err != nil || len(text) > 0 {
		t.Errorf("error %v, standard error has %s", err, text)
	}
}

// TestPoorAnswers: a download goes on where an answer was cut, one that is not what was published is repeated, and a
// server that asks for time gets it.
func TestPoorAnswers(t *testing.T) {
	content := make([]byte, 100_000)
	if _, err := rand.Read(content); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		get    func(n int, w http.ResponseWriter, content []byte) bool
		ranges []string
		least  time.Duration
	}{
		"whole": {nil, []string{""}, 0},
		"cut": {func(n int, w http.ResponseWriter, content []byte) bool {
			if n > 1 {
				return false
			}
			w.Header().Set("Content-Length", fmt.Sprint(len(content)))
			_, _ = w.Write(content[:60_000])
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		}, []string{"", "bytes=60000-"}, 0},
		"cut before it says what is missing": {func(n int, w http.ResponseWriter, _ []byte) bool {
			if n > 1 {
				return false
			}
			w.Header().Set("Content-Length", "100")
			w.WriteHeader(http.StatusNotFound)
			fmt.Fprint(w, "<Error><Code>NoSu")
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		}, []string{"", ""}, 0},
		"damaged": {func(n int, w http.ResponseWriter, content []byte) bool {
			if n > 1 {
				return false
			}
			_, _ = w.Write(append([]byte{^content[0]}, content[1:]...))
			return true
		}, []string{"", ""}, 0},
		"asks for time": {func(n int, w http.ResponseWriter, _ []byte) bool {
			w.Header().Set("Retry-After", "1")
			if n < 3 {
				w.WriteHeader(http.StatusTooManyRequests)
			}
			return n < 3
		}, []string{"", "", ""}, 2 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			poor := &poorS3{get: c.get}
			get := onPoorS3(t, poor, content)
			begin := time.Now()
			out, err := get()
			if err != nil {
				t.Fatal(err)
			}
			if got, err := os.ReadFile(out.Path("vectors")); err != nil || !bytes.Equal(got, content) {
				t.Errorf("%d bytes, error %v", len(got), err)
			}
			if strings.Join(poor.ranges, ";") != strings.Join(c.ranges, ";") || time.Since(begin) < c.least {
				t.Errorf("asked for %q in %v", poor.ranges, time.Since(begin))
			}
		})
	}
}

// TestStoreThatDoesNotRecover ends an operation with an error that is worth a retry and says so.
func TestStoreThatDoesNotRecover(t *testing.T) {
	poor := &poorS3{get: func(_ int, w http.ResponseWriter, _ []byte) bool {
		w.WriteHeader(http.StatusServiceUnavailable)
		return true
	}}
	get := onPoorS3(t, poor, []byte("some"))
	store.BePatient(t, time.Second, time.Second)
	_, err := get()
	if err == nil || badinput.Is(err) || !strings.Contains(err.Error(), "did not answer well for 1s") ||
		!strings.Contains(err.Error(), "run the same command again") {
		t.Errorf("error %v", err)
	}
	if len(poor.ranges) < 3 {
		t.Errorf("asked %d times", len(poor.ranges))
	}
	poor.every = func(w http.ResponseWriter) bool {
		w.WriteHeader(http.StatusServiceUnavailable)
		return true
	}
	if _, err := get(); err == nil || badinput.Is(err) || !strings.Contains(err.Error(), "does not answer") {
		t.Errorf("error %v", err)
	}
}

// TestAServerThatSaysNothing is asked again, though one attempt takes as long as it is tried, and the error of one that
// never says anything is not that of a run which a person stopped.
func TestAServerThatSaysNothing(t *testing.T) {
	silent := 1
	poor := &poorS3{}
	poor.get = func(n int, _ http.ResponseWriter, _ []byte) bool {
		if n > silent {
			return false
		}
		poor.Unlock()
		defer poor.Lock()
		time.Sleep(time.Second)
		panic(http.ErrAbortHandler)
	}
	get := onPoorS3(t, poor, []byte("some"))
	store.Stall(t, 300*time.Millisecond)
	store.BePatient(t, time.Second, 300*time.Millisecond)
	if _, err := get(); err != nil || len(poor.ranges) != 2 {
		t.Errorf("asked %d times, error %v", len(poor.ranges), err)
	}
	silent = 1000
	if _, err := get(); err == nil || badinput.Is(err) || errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "sent nothing") {
		t.Errorf("error %v", err)
	}
}

// TestRefusedInTheMiddle: what asking again does not help, as keys that were withdrawn during a run, is permanent at
// once, and says what to do.
func TestRefusedInTheMiddle(t *testing.T) {
	for name, c := range map[string]struct {
		status     int
		code, want string
	}{
		"keys": {403, "SignatureDoesNotMatch", "the object store refuses the credentials: "},
		"full": {507, "XMinioStorageFull", "the object store is full: "},
	} {
		poor := &poorS3{get: func(_ int, w http.ResponseWriter, _ []byte) bool {
			w.WriteHeader(c.status)
			fmt.Fprintf(w, "<Error><Code>%s</Code></Error>", c.code)
			return true
		}}
		_, err := onPoorS3(t, poor, []byte("some"))()
		if !badinput.Is(err) || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), c.code) || len(poor.ranges) != 1 {
			t.Errorf("%s: asked %d times, error %v", name, len(poor.ranges), err)
		}
	}
}

// TestReadingWritesNothing: a store that is only looked at need not be writable, and one that is not there is refused.
func TestReadingWritesNothing(t *testing.T) {
	onPoorS3(t, &poorS3{}, []byte("some")) // sets the credentials
	methods, missing := map[string]int{}, false
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		methods[r.Method]++
		if missing {
			w.WriteHeader(http.StatusNotFound)
			fmt.Fprint(w, "<Error><Code>NoSuchBucket</Code></Error>")
			return
		}
		fmt.Fprint(w, "<ListBucketResult></ListBucketResult>")
	}))
	defer server.Close()
	t.Setenv("MINE_CACHE", t.TempDir())
	location := "s3://corpus/work?region=us-east-1&use_path_style=true&endpoint=" + server.URL
	if err := store.WithExisting(t.Context(), location, storetest.Quiet, func(*store.Store) error { return nil }); err != nil {
		t.Error(err)
	}
	missing = true
	err := store.WithExisting(t.Context(), location, storetest.Quiet, func(*store.Store) error { return nil })
	if !badinput.Is(err) || !strings.Contains(err.Error(), "cannot be read") {
		t.Errorf("error %v", err)
	}
	if len(methods) != 1 || methods[http.MethodGet] != 2 {
		t.Errorf("methods %v", methods)
	}
}

// TestGCSIsNotAskedForEver: Google's client would.
func TestGCSIsNotAskedForEver(t *testing.T) {
	reads := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			reads++
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, "{}")
	}))
	defer server.Close()
	t.Setenv("STORAGE_EMULATOR_HOST", strings.TrimPrefix(server.URL, "http://"))
	store.BePatient(t, 0, 0)
	st, err := store.OpenCached(t.Context(), "gs://corpus/work", t.TempDir(), storetest.Quiet)
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	if _, err := st.Stat(t.Context(), store.Task{Stage: "encode", Key: "0123456789abcdef"}); err == nil ||
		!strings.Contains(err.Error(), "did not answer well") || reads != 3 {
		t.Errorf("%d reads, error %v", reads, err)
	}
}
