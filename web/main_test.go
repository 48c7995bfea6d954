package web

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"bitextmine/web/webtest"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreCurrent()) // the index has workers from the start of the process
}

var discard = slog.New(slog.DiscardHandler)

const token = "TESTTOKEN"

// served opens a run and serves it. The client is one that asks by the server's address.
func served(t testing.TB, dir string) (*Server, *httptest.Server) {
	t.Helper()
	s, err := Open(t.Context(), Options{Dir: dir, Hosts: []string{"corpora.example"}, Token: token, Version: "test", Log: discard}, nil)
	if err != nil {
		t.Fatal(err)
	}
	ts := httptest.NewServer(s.Handler())
	t.Cleanup(func() {
		ts.Close()
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	})
	return s, ts
}

// sample is a run of 200 pairs.
func sample(t testing.TB) (dir string, ts *httptest.Server) {
	t.Helper()
	return sampleIn(t, filepath.Join(t.TempDir(), "run"))
}

// sampleIn is such a run in a directory.
func sampleIn(t testing.TB, dir string) (string, *httptest.Server) {
	t.Helper()
	webtest.Run(t, dir, 200)
	_, ts := served(t, dir)
	return dir, ts
}

// get asks for a page.
func get(t testing.TB, ts *httptest.Server, path string) (status int, body string) {
	t.Helper()
	answer, err := ts.Client().Get(ts.URL + path)
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(answer.Body)
	answer.Body.Close()
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, string(data)
}

// wants fails if a page has not all of some texts.
func wants(t testing.TB, ts *httptest.Server, path string, texts ...string) (body string) {
	t.Helper()
	status, body := get(t, ts, path)
	if status != http.StatusOK {
		t.Errorf("%s: status %d: %s", path, status, body)
	}
	for _, text := range texts {
		if !strings.Contains(body, text) {
			t.Errorf("%s has no %q", path, text)
		}
	}
	return body
}

// postLabel sends a decision.
func postLabel(t testing.TB, ts *httptest.Server, key, decision string, change func(*http.Request)) (status int, body string) {
	t.Helper()
	r, err := http.NewRequest(http.MethodPost, ts.URL+"/labels", strings.NewReader(`{"key":"`+key+`","decision":"`+decision+`"}`))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set(tokenHeader, token)
	if change != nil {
		change(r)
	}
	answer, err := ts.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	data, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, string(data)
}

// keyOfRow is the key of a pair of webtest.
func keyOfRow(row int) string {
	pair := webtest.Rows(row + 1)[row]
	return keyOf([2][16]byte{pair.Source.Key, pair.Target.Key})
}

func readFile(t testing.TB, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return string(data)
}
