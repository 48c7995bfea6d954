// Package web is the page that mine serve shows of a run: its overview, search, its pairs with their reasons, why a
// pair has its score, and review by keyboard. mine report writes the overview as one file.
//
// Everything that a page needs is in the program; a page asks no other machine for anything. Reading needs no token, so
// the server listens on this machine alone unless it is told otherwise. A decision needs the token that is made at the
// start. Requests with the name of another host are refused, so that a page of the internet whose name is made to lead
// here reads nothing (DNS rebinding), and so are decisions that another site sends.
package web

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"bitextmine/encode"
	"bitextmine/internal/badinput"
	"bitextmine/web/page"
	"bitextmine/web/pairs"
)

// Options are the settings of mine serve.
type Options struct {
	Dir      string   // output directory of a run, of nightly runs, or of one night, or the bitext file in it
	Hosts    []string // further names that the server answers to
	Token    string   // token required for decisions
	Encoding encode.Options
	Version  string // program version
	Log      *slog.Logger
}

// Server serves the pages of one run. When the run is made again, or a night follows, it shows the new one.
type Server struct {
	opts   Options
	guard  *guard
	busy   chan struct{} // requests that read much: as many at once as processors
	ctx    context.Context
	cancel context.CancelFunc
	work   sync.WaitGroup // background work outside requests

	mu    sync.Mutex
	shown *shown
}

// Open loads a run. Close ends the use of it.
func Open(ctx context.Context, opts Options, progress pairs.Progress) (*Server, error) {
	s := &Server{opts: opts, guard: newGuard(opts), busy: make(chan struct{}, runtime.GOMAXPROCS(0))}
	s.ctx, s.cancel = context.WithCancel(context.WithoutCancel(ctx)) //nolint:gosec // Close cancels it
	one, err := s.load(ctx, progress)
	if err != nil {
		s.cancel()
		return nil, err
	}
	s.shown = one
	s.work.Go(s.follow)
	return s, nil
}

// Close waits for what is going on.
func (s *Server) Close() error {
	s.cancel()
	s.work.Wait()
	s.shown.users.Wait()
	return s.shown.close()
}

// Limits of a connection. A request is a few lines, and an answer is ready within answerTime.
const (
	headerTime = 5 * time.Second
	readTime   = 10 * time.Second
	answerTime = 30 * time.Second
	writeTime  = answerTime + 30*time.Second
	idleTime   = time.Minute
	maxHeader  = 12 << 10 // bytes, to which package http adds 4 KiB
)

// Serve answers requests until the context ends.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	server := &http.Server{
		Handler: s.Handler(), ReadHeaderTimeout: headerTime, ReadTimeout: readTime, WriteTimeout: writeTime,
		IdleTimeout:    idleTime,
		MaxHeaderBytes: maxHeader, ErrorLog: slog.NewLogLogger(s.opts.Log.Handler(), slog.LevelDebug),
	}
	stopped := make(chan error, 1)
	stop := context.AfterFunc(ctx, func() {
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		err := server.Shutdown(last)
		if errors.Is(err, context.DeadlineExceeded) {
			err = server.Close() // a reader that takes long
		}
		stopped <- err
	})
	err := server.Serve(l)
	if !stop() {
		return <-stopped
	}
	return err
}

// Listen takes a port.
func Listen(ctx context.Context, address string) (net.Listener, error) {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, badinput.Errorf(
			"%s is in use by another program: name another port with --address, such as 127.0.0.1:0 for any that is free",
			address)
	case err != nil:
		return nil, badinput.Errorf(
			"cannot listen on %s (%w): name an address of this machine and a port with --address", address, err)
	}
	return l, nil
}

// tokenHeader has the token of a decision. No form of another site can send it.
const tokenHeader = "X-Mine-Token" //nolint:gosec // a header's name

// policy lets a page load its own style sheet, script and icon, and nothing else from anywhere.
const policy = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// guard refuses requests before anything looks at them.
type guard struct {
	hosts  []string
	token  [sha256.Size]byte
	origin *http.CrossOriginProtection
}

func newGuard(opts Options) *guard {
	g := &guard{hosts: []string{"localhost"}, token: sha256.Sum256([]byte(opts.Token)),
		origin: http.NewCrossOriginProtection()}
	for _, name := range opts.Hosts {
		g.hosts = append(g.hosts, strings.ToLower(name))
	}
	return g
}

// around guards a handler.
func (g *guard) around(next http.Handler) http.Handler {
	next = g.origin.Handler(next) // a write from another site
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cache-Control", "no-store")
		if !g.knows(r.Host) {
			http.Error(w, "This server does not answer to that name: use localhost or an address, or start mine serve with --host NAME.", http.StatusMisdirectedRequest)
			return
		}
		if site := r.Header.Get("Sec-Fetch-Site"); (site == "cross-site" || site == "same-site") &&
			r.Header.Get("Sec-Fetch-Mode") != "navigate" {
			http.Error(w, "Pages of other sites may not read this one.", http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// knows reports whether a request's Host is one of this server. Only a name can be made to lead here by somebody else,
// so every address is one.
func (g *guard) knows(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.ToLower(strings.TrimSuffix(strings.TrimPrefix(host, "["), "]"))
	if _, err := netip.ParseAddr(host); err == nil {
		return true
	}
	return slices.Contains(g.hosts, host)
}

// mayDecide reports whether a request has the token. It takes as long for any other.
func (g *guard) mayDecide(r *http.Request) bool {
	sent := sha256.Sum256([]byte(r.Header.Get(tokenHeader)))
	return subtle.ConstantTimeCompare(sent[:], g.token[:]) == 1
}

// content makes a page, or a part of one, for a request.
type content func(context.Context, *Server, *shown, *http.Request) ([]byte, error)

// asks refuses a request with other fields than these.
func asks(of content, fields ...string) content {
	return func(ctx context.Context, s *Server, one *shown, r *http.Request) ([]byte, error) {
		if err := checkFields(r.URL.RawQuery, fields...); err != nil {
			return nil, badRequest(err)
		}
		return of(ctx, s, one, r)
	}
}

// Handler answers every request. It may be used concurrently.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	list := []string{"show", "order", "q", "min", "max"}
	review := append(slices.Clone(list), "at", "step")
	mux.HandleFunc("GET /{$}", s.page(asks(overviewPage)))
	mux.HandleFunc("GET /changes", s.page(asks(changesPage, "night")))
	mux.HandleFunc("GET /search", s.page(asks(searchPage, "q", "mode", "in", "from")))
	mux.HandleFunc("GET /pairs", s.page(asks(listPage, append(list, "label", "by", "from")...)))
	mux.HandleFunc("GET /pair/{pair}", s.byKeys(asks(pairPage), ""))
	mux.HandleFunc("GET /pair/{pair}/explanation", s.byKeys(asks(whyPage), "/explanation"))
	mux.HandleFunc("GET /review", s.page(asks(reviewPage, review...)))
	mux.HandleFunc("GET /review/card", s.page(asks(cardPage, review...)))
	mux.HandleFunc("POST /labels", s.decide)
	mux.HandleFunc("POST /index", func(w http.ResponseWriter, r *http.Request) {
		if !s.guard.mayDecide(r) {
			http.Error(w, "The index is made for whoever has the token that mine serve printed when it started.", http.StatusForbidden)
			return
		}
		one, done := s.use()
		defer done()
		s.makeIndex(one)
		w.WriteHeader(http.StatusAccepted)
	})
	mux.HandleFunc("GET /assets/{name}", asset)
	mux.HandleFunc("GET /", s.page(func(context.Context, *Server, *shown, *http.Request) ([]byte, error) {
		return nil, problem{http.StatusNotFound, "Nothing is here",
			"This server has an overview, a search, the pairs and their review: take one of these above."}
	}))
	return s.guard.around(mux)
}

// byKeys answers about a pair that the address names by its keys, and leads there from its row: in the next run the row
// is another pair's.
func (s *Server) byKeys(of content, rest string) http.HandlerFunc {
	about := s.page(of)
	return func(w http.ResponseWriter, r *http.Request) {
		row, err := strconv.Atoi(r.PathValue("pair"))
		one, done := s.use()
		defer done()
		if err != nil || row < 0 || row >= one.Pairs.Len() {
			about(w, r)
			return
		}
		http.Redirect(w, r, "/pair/"+keyOf(one.Pairs.Numbers(row).Keys)+rest, http.StatusFound)
	}
}

// asset answers with a style sheet, a script or an image. Only names in the table exist.
func asset(w http.ResponseWriter, r *http.Request) {
	a, ok := page.Assets[r.PathValue("name")]
	if !ok {
		http.NotFound(w, r)
		return
	}
	h := w.Header()
	h.Set("Content-Type", a.Type)
	h.Set("Cache-Control", "no-cache")
	h.Set("ETag", a.Tag)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(a.Data))
}

// problem is an error that is shown to the reader.
type problem struct {
	status        int
	heading, text string
}

func (p problem) Error() string { return p.text }

func badRequest(err error) error {
	return problem{http.StatusBadRequest, "That cannot be answered", "The address is wrong: " + err.Error() + "."}
}

// page answers with what is made. A page is made whole before anything of it is sent, so that a slow reader holds
// no run.
func (s *Server) page(make content) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), answerTime)
		defer cancel()
		status, data := s.make(ctx, make, r)
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Content-Length", strconv.Itoa(len(data)))
		w.WriteHeader(status)
		if _, err := w.Write(data); err != nil {
			s.opts.Log.Debug("an answer was not read", "reason", err)
		}
	}
}

func (s *Server) make(ctx context.Context, make content, r *http.Request) (status int, data []byte) {
	one, done := s.use()
	defer done()
	data, err := make(ctx, s, one, r)
	if err != nil {
		return s.failure(one, r, err)
	}
	return http.StatusOK, data
}

// failure is the page of an error.
func (s *Server) failure(one *shown, r *http.Request, err error) (status int, data []byte) {
	var p problem
	switch {
	case errors.As(err, &p):
	case errors.Is(err, context.DeadlineExceeded):
		p = problem{http.StatusServiceUnavailable, "That takes too long",
			"The server has much to do, or the question is too large: ask again in a moment, or ask for less."}
	case errors.Is(err, context.Canceled):
		return 499, nil // nobody reads it
	case badinput.Is(err):
		p = problem{http.StatusBadRequest, "That cannot be answered", err.Error() + "."}
	default:
		s.opts.Log.Error("a page could not be made", "path", r.URL.Path, "reason", err)
		p = problem{http.StatusInternalServerError, "That went wrong", err.Error() + "."}
	}
	data, err = page.Render(s.around(one, page.Problem, p.heading,
		page.ProblemBody{Status: p.status, Heading: p.heading, Text: p.text}))
	if err != nil {
		s.opts.Log.Error("a page could not be made", "path", r.URL.Path, "reason", err)
	}
	return p.status, data
}

// around is a page with the layout.
func (s *Server) around(one *shown, here, title string, body any) page.Page {
	return pageOf(one.Run, s.opts.Version, here, title, body)
}

// turn waits for a turn of those that read much.
func (s *Server) turn(ctx context.Context) (done func(), err error) {
	select {
	case s.busy <- struct{}{}:
		return func() { <-s.busy }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
