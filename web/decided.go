package web

import (
	"errors"
	"fmt"
	"html/template"
	"net/url"
	"slices"

	"bitextmine/bitext/label"
	"bitextmine/web/page"
	"bitextmine/web/pairs"
)

// The decisions that a list may be of, besides those that label.Label names.
const (
	anyDecided = "decided"
	notDecided = "undecided"
)

// decisionNames are the choices of a list, in the order of the form.
var decisionNames = []page.Choice{
	{Value: "", Label: "any or none"}, {Value: anyDecided, Label: "decided"}, {Value: notDecided, Label: "undecided"},
	{Value: label.Accepted, Label: "accepted as mined"}, {Value: label.Edited, Label: "edited"}, {Value: label.Rejected, Label: "rejected"},
}

// Decided selects pairs by what people decided on them.
type Decided struct {
	Label string // decided, undecided, accepted, edited or rejected; empty: whatever it is
	By    string // name of who decided; empty: anybody
}

// readDecided reads which decisions a list is of; the zero value means that they do not matter.
func readDecided(form url.Values) (d Decided, err error) {
	d = Decided{form.Get("label"), form.Get("by")}
	switch {
	case !slices.ContainsFunc(decisionNames, func(c page.Choice) bool { return c.Value == d.Label }):
		return d, errors.New("label is decided, undecided, accepted, edited, rejected or left out")
	case len(d.By) > maxName:
		return d, fmt.Errorf("by is a name of at most %d bytes", maxName)
	case d.By != "" && d.Label == notDecided:
		return d, errors.New("an undecided pair is by nobody: leave by out")
	}
	return d, nil
}

// has reports whether a pair is meant. ok is false if it has no label.
func (d Decided) has(l label.Label, ok bool) bool {
	switch {
	case d == Decided{}:
		return true
	case !ok || d.Label == notDecided:
		return !ok && d.Label == notDecided
	case d.By != "" && d.By != l.By:
		return false
	}
	return d.Label == "" || d.Label == anyDecided || d.Label == l.Decision()
}

// filter takes the rows whose decisions are meant.
func (d Decided) filter(rows []int32, set *pairs.Set, now *decisions) (some []int32) {
	if d == (Decided{}) {
		return rows // they are shared
	}
	for _, row := range rows {
		if l, ok := now.byKeys[set.Numbers(int(row)).Keys]; d.has(l, ok) {
			some = append(some, row)
		}
	}
	return some
}

// choose fills in the form of a list, and the addresses of its pages.
func (d Decided) choose(body *page.ListBody, now *decisions) {
	body.Labels = slices.Clone(decisionNames)
	body.People = []page.Choice{{Value: "", Label: "anybody"}}
	for _, l := range now.list {
		if c := (page.Choice{Value: l.By, Label: l.By}); l.By != "" && !slices.Contains(body.People, c) {
			body.People = append(body.People, c)
		}
	}
	choose(body.Labels, d.Label)
	choose(body.People, d.By)
	if body.ByDecision = d != (Decided{}); body.ByDecision {
		body.Query += template.URL("&" + url.Values{"label": {d.Label}, "by": {d.By}}.Encode()) //nolint:gosec // Encode escapes it
	}
}

// missing lists the decisions that are meant on pairs that the bitext does not have. A label has no texts but those of
// a correction.
func (d Decided) missing(body *page.ListBody, o *shown, now *decisions) error {
	if !body.ByDecision {
		return nil
	}
	for _, l := range now.list {
		keys, err := pairs.Keys(l.Source, l.Target)
		if err != nil {
			return err
		}
		if _, ok := o.Pairs.Find(keys); ok || !d.has(l, true) {
			continue
		}
		if body.MissingTotal++; body.MissingTotal > pageSize {
			continue
		}
		item := page.Item{Key: keyOf(keys), Label: l.Decision(), By: l.By, Version: versionOf(l, true)}
		if l.Edited() {
			languages := o.Languages()
			item.Sides = [2]page.Sentence{page.NewSentence(languages[0], l.SourceText, nil), page.NewSentence(languages[1], l.TargetText, nil)}
		}
		body.Missing = append(body.Missing, item)
	}
	return nil
}
