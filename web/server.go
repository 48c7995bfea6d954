package web

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"runtime"
	"sync"
	"syscall"
	"time"

	"bitextmine/encode"
	"bitextmine/internal/badinput"
	"bitextmine/web/pairs"
)

// Options are the settings of mine serve.
type Options struct {
	Dir      string   // output directory of a run, of nightly runs, or of one night
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
	one, err := s.load(ctx, progress)
	if err != nil {
		return nil, err
	}
	s.shown = one
	s.ctx, s.cancel = context.WithCancel(context.WithoutCancel(ctx)) //nolint:gosec // Close cancels it
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
	maxHeader  = 16 << 10 // bytes
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
