package web

import (
	"encoding/json"
	"errors"
	"mime"
	"net/http"
	"os"
	"path/filepath"

	"bitextmine/bitext/label"
	"bitextmine/web/pairs"
)

func stampOfLabels(out string) stamp {
	path := filepath.Join(out, label.Name)
	info, err := os.Stat(path)
	if err != nil {
		return stamp{path: path}
	}
	return stamp{path, info.ModTime(), info.Size()}
}

// decide stores a decision, and answers when it is on the disk.
func (s *Server) decide(w http.ResponseWriter, r *http.Request) {
	if !s.guard.mayDecide(r) {
		http.Error(w, "A decision needs the token that mine serve printed when it started.", http.StatusForbidden)
		return
	}
	if media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || media != "application/json" {
		http.Error(w, "A decision is sent as application/json.", http.StatusUnsupportedMediaType)
		return
	}
	d, err := ReadDecision(http.MaxBytesReader(w, r.Body, MaxDecision))
	if err != nil {
		status := http.StatusBadRequest
		if tooLarge := (*http.MaxBytesError)(nil); errors.As(err, &tooLarge) {
			status = http.StatusRequestEntityTooLarge
		}
		http.Error(w, "The decision was not stored: "+err.Error()+".", status)
		return
	}
	one, done := s.use()
	defer done()
	keys, err := pairs.Keys(d.Label.Source, d.Label.Target)
	if err == nil {
		if _, ok := one.Pairs.Find(keys); !ok {
			http.Error(w, "The decision was not stored: this run has no such pair. A new run may be shown by now: load the page again.", http.StatusConflict)
			return
		}
		store := label.Append
		if d.Withdrawn {
			store = label.Withdraw
		}
		err = store(one.Out, []label.Label{d.Label})
	}
	var now *decisions
	if err == nil {
		now, err = one.labels.now()
	}
	if err != nil {
		s.opts.Log.Error("a decision was not stored", "reason", err)
		http.Error(w, "The decision was not stored: "+err.Error()+".", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	answer := map[string]int{"accepted": now.accepted, "rejected": now.rejected}
	if err := json.NewEncoder(w).Encode(answer); err != nil {
		s.opts.Log.Debug("an answer was not read", "reason", err)
	}
}
