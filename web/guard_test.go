package web

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"bitextmine/internal/badinput"
)

func waitFor(t testing.TB, done func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !done(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("it did not happen within 20 seconds")
		}
	}
}

// TestHosts: a request with another site's name is refused, whatever it asks for (DNS rebinding).
func TestHosts(t *testing.T) {
	_, ts := sample(t)
	for host, want := range map[string]int{
		"localhost": 200, "LOCALHOST:1234": 200, "127.0.0.1": 200, "[::1]:80": 200, "192.168.1.7:8077": 200, "corpora.example": 200,
		"evil.example": 421, "localhost.evil.example": 421, "127.0.0.1.evil.example": 421, "evil.example:8077": 421, "0x7f000001": 421, "localhost.": 421,
	} {
		for _, path := range []string{"/", "/assets/page.css", "/labels"} {
			r, err := http.NewRequest(http.MethodGet, ts.URL+path, http.NoBody)
			if err != nil {
				t.Fatal(err)
			}
			r.Host = host
			answer, err := ts.Client().Do(r)
			if err != nil {
				t.Fatal(err)
			}
			answer.Body.Close()
			if refused := answer.StatusCode == http.StatusMisdirectedRequest; refused != (want == 421) {
				t.Errorf("host %q, %s: status %d, want %d", host, path, answer.StatusCode, want)
			}
		}
	}
}

// TestDecisionsAreGuarded: nothing is written without the token, by another site, or in another form.
func TestDecisionsAreGuarded(t *testing.T) {
	dir, ts := sample(t)
	file := filepath.Join(dir, "labels.jsonl")
	for name, c := range map[string]struct {
		want   int
		change func(*http.Request)
	}{
		"no token":       {403, func(r *http.Request) { r.Header.Del(tokenHeader) }},
		"half a token":   {403, func(r *http.Request) { r.Header.Set(tokenHeader, token[:4]) }},
		"another site":   {403, func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") }},
		"a sister site":  {403, func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "same-site") }},
		"another origin": {403, func(r *http.Request) { r.Header.Set("Origin", "https://evil.example") }},
		"no origin":      {403, func(r *http.Request) { r.Header.Set("Origin", "null") }},
		"a form":         {415, func(r *http.Request) { r.Header.Set("Content-Type", "application/x-www-form-urlencoded") }},
		"plain text":     {415, func(r *http.Request) { r.Header.Set("Content-Type", "text/plain; application/json") }},
		"another method": {405, func(r *http.Request) { r.Method = http.MethodPut }},
		"too large": {413, func(r *http.Request) {
			body(r, `{"key":"`+strings.Repeat("a", 10<<20))
		}},
		"another run's pair": {409, func(r *http.Request) {
			body(r, `{"key":"`+strings.Repeat("0", 32)+":"+strings.Repeat("0", 32)+`","decision":"accept"}`)
		}},
		"nothing to take back": {409, func(r *http.Request) { body(r, `{"key":"`+keyOfRow(1)+`","decision":"withdraw"}`) }},
		"no decision":          {400, func(r *http.Request) { body(r, `{"key":"`+keyOfRow(1)+`"}`) }},
	} {
		if status, text := postLabel(t, ts, keyOfRow(1), "accept", c.change); status != c.want {
			t.Errorf("%s: status %d, want %d: %s", name, status, c.want, text)
		}
	}
	if got := readFile(t, file); got != "" {
		t.Errorf("something was written: %s", got)
	}
	if status, text := postLabel(t, ts, keyOfRow(1), "accept", func(r *http.Request) {
		r.Header.Set("Sec-Fetch-Site", "same-origin")
		r.Header.Set("Origin", ts.URL)
	}); status != http.StatusOK || !strings.HasPrefix(text, `{"accepted":1,"rejected":0,"version":"`) {
		t.Errorf("status %d: %s", status, text)
	}
	wants(t, ts, "/pair/1", `data-label="accepted"`, "accepted by a person")
	wants(t, ts, "/", "People decided on 1 pairs of this bitext: 1 right as mined, 0 rejected or corrected.")
	wants(t, ts, "/review/card?order=row&at=0&step=undecided", `data-row="0"`)
	wants(t, ts, "/review/card?order=row&at=1&step=undecided", `data-row="3"`) // row 2 is not kept
	if status, text := postLabel(t, ts, keyOfRow(1), "withdraw", nil); status != http.StatusOK || strings.TrimSpace(text) != `{"accepted":0,"rejected":0,"version":"none"}` {
		t.Errorf("status %d: %s", status, text)
	}
	wants(t, ts, "/pair/1", `data-label=""`)
	if got := strings.Count(readFile(t, file), "\n"); got != 2 {
		t.Errorf("the file has %d lines, want both decisions", got)
	}
}

func body(r *http.Request, text string) {
	r.Body, r.ContentLength, r.GetBody = io.NopCloser(strings.NewReader(text)), int64(len(text)), nil
}

// TestReadingFromOtherSites: a page of another site cannot have parts of this one, and a link to it works.
func TestReadingFromOtherSites(t *testing.T) {
	_, ts := sample(t)
	for mode, want := range map[string]int{"navigate": 200, "no-cors": 403, "cors": 403} {
		r, err := http.NewRequest(http.MethodGet, ts.URL+"/", http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Sec-Fetch-Site", "cross-site")
		r.Header.Set("Sec-Fetch-Mode", mode)
		answer, err := ts.Client().Do(r)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if answer.StatusCode != want {
			t.Errorf("%s: status %d, want %d", mode, answer.StatusCode, want)
		}
		for name, want := range map[string]string{"Content-Security-Policy": policy, "X-Content-Type-Options": "nosniff", "Access-Control-Allow-Origin": ""} {
			if got := answer.Header.Get(name); got != want {
				t.Errorf("%s: %q, want %q", name, got, want)
			}
		}
	}
}

// raw sends bytes and returns the first line of the answer.
func raw(t testing.TB, address, request string) string {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	go func() { _, _ = io.WriteString(conn, request) }() // the server may close before it has read all
	line, err := bufio.NewReader(conn).ReadString('\n')
	if err != nil {
		return err.Error()
	}
	return strings.TrimSpace(line)
}

// serving runs a server as mine serve does.
func serving(t testing.TB) (address string) {
	t.Helper()
	dir, _ := sample(t)
	s, err := Open(t.Context(), Options{Dir: dir, Token: token, Log: discard}, nil)
	if err != nil {
		t.Fatal(err)
	}
	l, err := Listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- s.Serve(ctx, l) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil && !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return l.Addr().String()
}

// TestHostileRequests: paths that leave the pages, and requests without end, get an error and nothing else.
func TestHostileRequests(t *testing.T) {
	address := serving(t)
	for _, path := range []string{
		"/assets/../../../../etc/passwd", "/assets/..%2f..%2f..%2fetc%2fpasswd", "/assets/%2e%2e/page.go", "/assets/", "//etc/passwd", "/pair/../../labels.jsonl",
		"/labels.jsonl", "/run.json", "/assets/page.css/../../doc.go", `/assets\..\..\doc.go`, "/pair/0%00", "/changes?night=../../../etc", "/changes?night=000001-2026-03-01/../..",
	} {
		got := raw(t, address, "GET "+path+" HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
		if !strings.Contains(got, " 40") && !strings.Contains(got, " 30") {
			t.Errorf("%s: %s", path, got)
		}
	}
	large := strings.Repeat("a", 10<<20)
	for name, request := range map[string]string{
		"a query of 10 MB":  "GET /search?q=" + large + " HTTP/1.1\r\nHost: localhost\r\n\r\n",
		"a header of 10 MB": "GET / HTTP/1.1\r\nHost: localhost\r\nX-Large: " + large + "\r\n\r\n",
	} {
		if got := raw(t, address, request); !strings.Contains(got, "431") {
			t.Errorf("%s: %s", name, got)
		}
	}
	if got := raw(t, address, "GET /search?q="+large[:2000]+" HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"); !strings.Contains(got, "400") {
		t.Errorf("a query of 2 kB: %s", got)
	}
}

// TestManyReaders: a thousand readers at once all get their page, also beside clients that send nothing.
func TestManyReaders(t *testing.T) {
	address := serving(t)
	for range 50 { // they are cut off after headerTime
		conn, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		fmt.Fprint(conn, "GET / HTTP/1.1\r\nHost: loc")
	}
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 1}}
	defer client.CloseIdleConnections()
	paths := []string{"/", "/pairs?order=near", "/search?q=Haus", "/pair/7", "/review", "/assets/page.js"}
	var group sync.WaitGroup
	failures := make(chan string, 1000)
	for i := range 1000 {
		group.Go(func() {
			answer, err := client.Get("http://" + address + paths[i%len(paths)])
			if err != nil {
				failures <- err.Error()
				return
			}
			defer answer.Body.Close()
			if data, err := io.ReadAll(answer.Body); err != nil || answer.StatusCode != http.StatusOK || len(data) < 1000 {
				failures <- fmt.Sprintf("%s: %s, %d bytes, %v", paths[i%len(paths)], answer.Status, len(data), err)
			}
		})
	}
	group.Wait()
	close(failures)
	for failure := range failures {
		t.Error(failure)
	}
}

// TestFiltersTakeTurns: lists and reviews that look for words in every sentence wait while as many requests as there
// are processors do such work; other lists do not.
func TestFiltersTakeTurns(t *testing.T) {
	dir, _ := sample(t)
	s, _ := served(t, dir)
	for range cap(s.busy) {
		done, err := s.turn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer done()
	}
	for path, want := range map[string]int{
		"/pairs": 200, "/review": 200, "/review/card": 200, "/pairs?q=Haus": 503, "/review?q=Haus": 503, "/review/card?q=Haus": 503,
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		got := httptest.NewRecorder()
		s.Handler().ServeHTTP(got, httptest.NewRequestWithContext(ctx, http.MethodGet, "http://localhost"+path, http.NoBody))
		cancel()
		if got.Code != want {
			t.Errorf("%s: status %d, want %d", path, got.Code, want)
		}
	}
}

// TestSlowClients: a client that does not end its request is cut off.
func TestSlowClients(t *testing.T) {
	if testing.Short() {
		t.Skip("it waits for a time-out; not in -short")
	}
	address := serving(t)
	begin := time.Now()
	got := raw(t, address, "GET / HTTP/1.1\r\nHost: loc")
	if took := time.Since(begin); took > 2*headerTime || strings.Contains(got, "200") {
		t.Errorf("after %s: %s", took, got)
	}
}

func TestListen(t *testing.T) {
	l, err := Listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for address, want := range map[string]string{l.Addr().String(): "is in use by another program", "nowhere": "cannot listen", "192.0.2.1:80": "cannot listen"} {
		if _, err := Listen(t.Context(), address); err == nil || !badinput.Is(err) || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", address, err)
		}
	}
}
