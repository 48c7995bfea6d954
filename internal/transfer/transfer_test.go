package transfer

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestStalledDownload: a server that stops sending is asked again, from where it was, and at last given up.
func TestStalledDownload(t *testing.T) {
	const content = "the first half and the second"
	requests := []string{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests = append(requests, r.Header.Get("Range"))
		if r.URL.Path == "/silent" {
			<-r.Context().Done()
			return
		}
		if r.Header.Get("Range") != "" {
			http.ServeContent(w, r, "file", time.Time{}, strings.NewReader(content))
			return
		}
		w.Header().Set("Content-Length", "29")
		_, _ = w.Write([]byte(content[:14])) // the client may have gone
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	}))
	t.Cleanup(server.Close)
	part := filepath.Join(t.TempDir(), "part")
	o := Options{Client: server.Client(), Resume: true, Attempts: 3, Wait: time.Millisecond, Stall: 100 * time.Millisecond}
	if err := Fetch(t.Context(), server.URL, part, o); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(part); err != nil || string(got) != content {
		t.Errorf("%q, %v", got, err)
	}
	if got := strings.Join(requests, ","); got != ",bytes=14-" {
		t.Errorf("requests for %q", got)
	}
	err := Fetch(t.Context(), server.URL+"/silent", part+"2", o)
	if err == nil || !strings.Contains(err.Error(), "sent nothing for 100ms") || !strings.Contains(err.Error(), "attempt 3") {
		t.Errorf("of a silent server: %v", err)
	}
}
