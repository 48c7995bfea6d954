package web

import (
	"context"
	"encoding/hex"
	"net/http"

	"bitextmine/bitext"
	"bitextmine/web/page"
)

// reviewPage shows pairs one at a time.
func reviewPage(_ context.Context, s *Server, one *shown, r *http.Request) ([]byte, error) {
	sel, card, now, err := one.nextCard(r)
	if err != nil {
		return nil, err
	}
	return page.Render(s.around(one, page.Review, "Review",
		page.ReviewBody{Selection: sel, Card: card, Accepted: now.accepted, Rejected: now.rejected}))
}

// cardPage is the part of the review that changes.
func cardPage(_ context.Context, s *Server, one *shown, r *http.Request) ([]byte, error) {
	_, card, _, err := one.nextCard(r)
	if err != nil {
		return nil, err
	}
	return page.RenderPart(page.CardPart, card)
}

// nextCard is the pair at a place of a list or, if asked so or if no place is named, the first undecided one from there
// on.
func (o *shown) nextCard(r *http.Request) (sel page.Selection, card page.Card, now *decisions, err error) {
	form := r.URL.Query()
	sel, rows, err := o.selection(r)
	if err != nil {
		return sel, card, nil, err
	}
	at, err := Place(form, "at")
	if err != nil {
		return sel, card, nil, badRequest(err)
	}
	undecided, err := Step(form)
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
	return sel, card, now, err
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
