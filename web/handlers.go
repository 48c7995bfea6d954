package web

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"strconv"
	"time"

	"bitextmine/internal/badinput"
	"bitextmine/web/page"
)

// content makes a page, or a part of one, for a request.
type content func(context.Context, *Server, *shown, *http.Request) ([]byte, error)

// Handler answers every request. It may be used concurrently.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", s.page(overviewPage))
	mux.HandleFunc("GET /changes", s.page(changesPage))
	mux.HandleFunc("GET /search", s.page(searchPage))
	mux.HandleFunc("GET /pairs", s.page(listPage))
	mux.HandleFunc("GET /pair/{row}", s.page(pairPage))
	mux.HandleFunc("GET /pair/{row}/explanation", s.page(whyPage))
	mux.HandleFunc("GET /review", s.page(reviewPage))
	mux.HandleFunc("GET /review/card", s.page(cardPage))
	mux.HandleFunc("POST /labels", s.decide)
	mux.HandleFunc("GET /assets/{name}", asset)
	mux.HandleFunc("GET /", s.page(func(context.Context, *Server, *shown, *http.Request) ([]byte, error) {
		return nil, problem{http.StatusNotFound, "Nothing is here",
			"This server has an overview, a search, the pairs and their review: take one of these above."}
	}))
	return s.guard.around(mux)
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
	return PageOf(one.Run, s.opts.Version, here, title, body)
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
