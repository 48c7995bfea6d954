package web

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"slices"

	"bitextmine/bitext"
	"bitextmine/bitext/label"
	"bitextmine/filter"
	"bitextmine/score/calibration"
	"bitextmine/web/page"
	"bitextmine/web/pairs"
)

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
	d, err := readDecision(http.MaxBytesReader(w, r.Body, maxDecision))
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
	stored, err := one.store(d)
	if err != nil {
		status := http.StatusInternalServerError
		if c := conflict(""); errors.As(err, &c) {
			status = http.StatusConflict
		} else {
			s.opts.Log.Error("a decision was not stored", "reason", err)
		}
		http.Error(w, "The decision was not stored: "+err.Error()+".", status)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	if err := json.NewEncoder(w).Encode(stored); err != nil {
		s.opts.Log.Debug("an answer was not read", "reason", err)
	}
}

// conflict says why a decision does not go with what is there by now.
type conflict string

func (c conflict) Error() string { return string(c) }

// stored is the answer to a decision.
type stored struct {
	Accepted int    `json:"accepted"` // labels of the whole file
	Rejected int    `json:"rejected"`
	Version  string `json:"version"` // version of the pair's label, for the decision that replaces it
}

// store writes a decision. The error is a conflict if the run has no such pair to decide on, if there is no decision to
// take back, or if the pair has another label than the one that the decision replaces.
func (o *shown) store(d Decision) (s stored, err error) {
	keys, err := pairs.Keys(d.Label.Source, d.Label.Target)
	if err != nil {
		return s, err
	}
	if _, ok := o.Pairs.Find(keys); !ok && !d.Withdrawn { // a run leaves out what was rejected before it
		return s, conflict("this run has no such pair. A new run may be shown by now: load the page again")
	}
	err = label.Replace(o.Out, d.Label, d.Withdrawn, func() error {
		now, err := o.labels.now()
		if err != nil {
			return err
		}
		if _, ok := now.byKeys[keys]; d.Withdrawn && !ok && d.Replaces == nil {
			return conflict("nobody has decided on this pair")
		}
		if d.Replaces != nil && *d.Replaces != now.version(keys) {
			return conflict(now.happened(keys))
		}
		return nil
	})
	if err != nil {
		return s, err
	}
	now, err := o.labels.now()
	if err != nil {
		return s, err
	}
	return stored{now.accepted, now.rejected, versionOf(d.Label, !d.Withdrawn)}, nil
}

// noLabel is the version of a label that a pair does not have.
const noLabel = "none"

// versionOf tells whether a label is the one that somebody has seen: it depends on all that the label says.
func versionOf(l label.Label, decided bool) string {
	if !decided {
		return noLabel
	}
	h := sha256.New()
	for _, text := range []string{l.Decision(), l.By, l.SourceText, l.TargetText} {
		fmt.Fprintf(h, "%d %s", len(text), text)
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}

func (d *decisions) version(keys [2][16]byte) string {
	l, ok := d.byKeys[keys]
	return versionOf(l, ok)
}

// happened says what somebody else did to the label of a pair.
func (d *decisions) happened(keys [2][16]byte) string {
	l, ok := d.byKeys[keys]
	if !ok {
		return "the decision on this pair was taken back meanwhile; decide again if it is still yours"
	}
	return who(l) + " " + l.Decision() + " this pair meanwhile; decide again to replace that"
}

// who is the name of the person who decided, as far as it is known.
func who(l label.Label) string { return cmp.Or(l.By, "somebody") }

// reviewPage shows pairs one at a time.
func reviewPage(ctx context.Context, s *Server, one *shown, r *http.Request) ([]byte, error) {
	sel, card, now, err := one.nextCard(ctx, s, r)
	if err != nil {
		return nil, err
	}
	return page.Render(s.around(one, page.Review, "Review",
		page.ReviewBody{Selection: sel, Card: card, Accepted: now.accepted, Rejected: now.rejected}))
}

// cardPage is the part of the review that changes.
func cardPage(ctx context.Context, s *Server, one *shown, r *http.Request) ([]byte, error) {
	_, card, _, err := one.nextCard(ctx, s, r)
	if err != nil {
		return nil, err
	}
	return page.RenderPart(page.CardPart, card)
}

// nextCard is the pair at a place of a list or, if asked so or if no place is named, the first undecided one from there
// on.
func (o *shown) nextCard(ctx context.Context, s *Server, r *http.Request) (sel page.Selection, card page.Card, now *decisions, err error) {
	form := r.URL.Query()
	sel, rows, err := o.selection(ctx, s, r)
	if err != nil {
		return sel, card, nil, err
	}
	at, err := place(form, "at")
	if err != nil {
		return sel, card, nil, badRequest(err)
	}
	undecided, err := step(form)
	if err != nil {
		return sel, card, nil, badRequest(err)
	}
	if now, err = o.labels.now(); err != nil {
		return sel, card, nil, err
	}
	at = min(at, len(rows))
	if undecided || !form.Has("at") {
		for at < len(rows) && now.of(o.Pairs.Numbers(int(rows[at])).Keys) != "" {
			at++
		}
	}
	card = page.Card{At: at, Total: len(rows), End: at == len(rows), Decides: sel.Decides}
	if !card.End {
		var pair *bitext.Row
		if card.Item, pair, err = o.item(int(rows[at]), now); err == nil {
			card.Origins = [2]string{origin(&pair.Source), origin(&pair.Target)}
		}
	}
	if sel.Order == pairs.Random && sel.Show == pairs.Kept && sel.Text == "" && sel.Min == "" && sel.Max == "" {
		card.Sample = o.sample(rows, now)
	}
	return sel, card, now, err
}

// sample estimates the precision of kept pairs from those that were decided on at the beginning of a random order. If
// the run left out some that were rejected before it, the others there are what a person chose.
func (o *shown) sample(rows []int32, now *decisions) *page.Sample {
	s := &page.Sample{}
	end := uint64(0)
	for _, row := range rows {
		keys := o.Pairs.Numbers(int(row)).Keys
		l, ok := now.byKeys[keys]
		if !ok {
			break
		}
		end = pairs.Lot(&keys)
		if s.Decided++; l.Right() {
			s.Accepted++
		}
	}
	for keys, l := range now.byKeys {
		s.Chosen = s.Chosen || !l.Accepted && pairs.Lot(&keys) < end && o.leftOut(keys)
	}
	share := calibration.Wilson(s.Accepted, s.Decided)
	s.Precision, s.Low, s.High = float64(s.Accepted)/float64(max(1, s.Decided)), share.Low, share.High
	return s
}

// leftOut reports whether the run has no pair with these keys that was matched: it has obeyed a label if there is one.
func (o *shown) leftOut(keys [2][16]byte) bool {
	row, ok := o.Pairs.Find(keys)
	return !ok || slices.Contains(o.Pairs.Numbers(row).Reasons, filter.Label.Reasons()[0])
}

// origin is where a sentence is from, as far as the bitext says.
func origin(s *bitext.Sentence) string {
	switch {
	case s.URL != "":
		return s.URL
	case s.Doc != "":
		return s.Doc
	}
	return s.Shard
}

func keyOf(keys [2][16]byte) string {
	return hex.EncodeToString(keys[0][:]) + ":" + hex.EncodeToString(keys[1][:])
}
