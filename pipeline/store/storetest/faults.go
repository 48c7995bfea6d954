package storetest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"maps"
	"math/rand/v2"
	"net"
	"net/http"
	"strconv"
	"sync"
	"testing"
	"time"
)

// Faults is an HTTP proxy in front of a server that disturbs some of the requests, chosen at random.
type Faults struct {
	server string // HOST:PORT
	client http.Transport

	mu     sync.Mutex
	random *rand.Rand
	share  float64   // probability that a request is disturbed
	down   time.Time // end of an outage
	counts map[string]int
}

// The kinds of faults. A server that refuses has done nothing; if its answer is lost, slow or cut, it has.
const (
	unavailable  = "503"
	throttled    = "429"
	throttledFor = "429, Retry-After"
	cutOff       = "connection reset"
	cutUpload    = "upload cut"
	lostAnswer   = "answer lost"
	failedAnswer = "503 after the work"
	slowAnswer   = "answer slow"
	cutAnswer    = "answer cut"
	outage       = "down for 1 to 3 s"
	undisturbed  = "undisturbed"
)

const (
	outageOneIn = 250 // disturbed requests
	cutOneIn    = 4   // disturbed uploads
	slowPieces  = 20
	slowPause   = 30 * time.Millisecond
)

// kinds are drawn with the same probability.
var kinds = []string{unavailable, throttled, throttledFor, cutOff, lostAnswer, failedAnswer, slowAnswer, cutAnswer}

// Disturb makes faults of a seed, in a share of the requests from now on; with 0 there are none.
func (f *Faults) Disturb(seed uint64, share float64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.random, f.share, f.down = rand.New(rand.NewPCG(seed, 34)), share, time.Time{}
}

// Counts is the number of requests by what was done to them.
func (f *Faults) Counts() map[string]int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return maps.Clone(f.counts)
}

// start listens on loopback until the test ends and returns the proxy's address.
func (f *Faults) start(t testing.TB, server string) string {
	t.Helper()
	f.server, f.counts = server, map[string]int{}
	f.client.DisableCompression = true
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	proxy := &http.Server{Handler: f, ErrorLog: log.New(io.Discard, "", 0)}
	done := make(chan error, 1)
	go func() { done <- proxy.Serve(l) }()
	t.Cleanup(func() {
		f.client.CloseIdleConnections()
		if err := proxy.Close(); err != nil {
			t.Error(err)
		}
		if err := <-done; !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
	})
	return l.Addr().String()
}

// next draws what is done to a request.
func (f *Faults) next(r *http.Request) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	kind := undisturbed
	switch {
	case time.Now().Before(f.down):
		kind = outage
	case f.share == 0 || f.random.Float64() >= f.share:
	case f.random.IntN(outageOneIn) == 0:
		f.down = time.Now().Add(time.Second + time.Duration(f.random.Int64N(int64(2*time.Second))))
		kind = outage
	case r.ContentLength != 0 && f.random.IntN(cutOneIn) == 0:
		kind = cutUpload
	default:
		kind = kinds[f.random.IntN(len(kinds))]
	}
	if f.share > 0 {
		f.counts[kind]++
	}
	return kind
}

// ServeHTTP implements http.Handler.
func (f *Faults) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch kind := f.next(r); kind {
	case unavailable:
		refuse(w, http.StatusServiceUnavailable, "ServiceUnavailable")
	case throttled:
		refuse(w, http.StatusTooManyRequests, "TooManyRequests")
	case throttledFor:
		w.Header().Set("Retry-After", "1")
		refuse(w, http.StatusTooManyRequests, "TooManyRequests")
	case cutOff, outage:
		reset(w)
	case cutUpload:
		length := r.ContentLength / 2
		if r.ContentLength < 0 { // GCS's client does not say
			length = 2000
		}
		if answer, err := f.forward(r, &cutBody{r.Body, length}); err == nil {
			_ = answer.Body.Close() // a server may refuse before it has read all
		}
		reset(w)
	default:
		answer, err := f.forward(r, r.Body)
		if err != nil {
			reset(w)
			return
		}
		f.pass(w, answer, kind)
	}
}

func refuse(w http.ResponseWriter, status int, code string) {
	w.WriteHeader(status)
	fmt.Fprintf(w, "<Error><Code>%s</Code><Message>a fault of a test</Message></Error>", code)
}

// reset ends the connection at once, without an answer.
func reset(w http.ResponseWriter) {
	connection, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	if c, ok := connection.(*net.TCPConn); ok {
		_ = c.SetLinger(0) // the client sees a reset and not an end
	}
	_ = connection.Close()
}

// cutBody is the beginning of a body.
type cutBody struct {
	io.ReadCloser
	left int64
}

func (c *cutBody) Read(p []byte) (int, error) {
	if c.left <= 0 {
		return 0, errors.New("cut by a test")
	}
	n, err := c.ReadCloser.Read(p[:min(int64(len(p)), c.left)])
	c.left -= int64(n)
	return n, err
}

// forward sends a request to the server as the client sent it. The signature covers the Host, so that stays.
func (f *Faults) forward(r *http.Request, body io.ReadCloser) (*http.Response, error) {
	// What the server was told it does, also if the client goes away.
	out := r.Clone(context.WithoutCancel(r.Context()))
	out.URL.Scheme, out.URL.Host, out.RequestURI, out.Body = "http", f.server, "", body
	if r.ContentLength == 0 {
		out.Body = http.NoBody
	}
	return f.client.RoundTrip(out)
}

// pass hands an answer on, whole or not.
func (f *Faults) pass(w http.ResponseWriter, answer *http.Response, kind string) {
	body, err := io.ReadAll(answer.Body)
	err = errors.Join(err, answer.Body.Close())
	switch {
	case err != nil, kind == lostAnswer, kind == cutAnswer && len(body) < 2:
		reset(w)
		return
	case kind == failedAnswer:
		refuse(w, http.StatusServiceUnavailable, "ServiceUnavailable")
		return
	}
	maps.Copy(w.Header(), answer.Header)
	if answer.ContentLength >= 0 {
		w.Header().Set("Content-Length", strconv.FormatInt(answer.ContentLength, 10))
	}
	w.WriteHeader(answer.StatusCode)
	switch kind {
	case cutAnswer:
		_, _ = w.Write(body[:len(body)/2])
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler) // which ends the connection
	case slowAnswer:
		step := len(body)/slowPieces + 1
		for begin := 0; begin < len(body); begin += step {
			_, _ = w.Write(body[begin:min(begin+step, len(body))])
			_ = http.NewResponseController(w).Flush()
			time.Sleep(slowPause)
		}
	default:
		_, _ = w.Write(body) // a client that went away asks again
	}
}
