package web

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"bitextmine/bitext/concordance"
	"bitextmine/bitext/label"
	"bitextmine/corpus"
	"bitextmine/web/overview"
	"bitextmine/web/page"
	"bitextmine/web/pairs"
)

// pageSize is how many pairs are on a page.
const pageSize = 50

// The bounds of what is asked for.
const (
	maxQuery  = 1 << 10 // characters
	maxReason = 200     // bytes of a reason's name
	maxPlace  = 1 << 40
)

// checkFields refuses a query that has other fields than those named, or one twice: what is misspelt would do nothing.
func checkFields(query string, names ...string) error {
	form, err := url.ParseQuery(query)
	if err != nil {
		return fmt.Errorf("its query cannot be read: %w", err)
	}
	for _, name := range slices.Sorted(maps.Keys(form)) {
		switch {
		case len(names) == 0:
			return fmt.Errorf("this page takes no %q, nor any other field", name)
		case !slices.Contains(names, name):
			return fmt.Errorf("this page takes no %q: its fields are %s", name, strings.Join(names, ", "))
		case len(form[name]) > 1:
			return fmt.Errorf("%s is given %d times", name, len(form[name]))
		}
	}
	return nil
}

// selection reads which pairs are meant: by default the kept ones, in the order that is given.
func selection(form url.Values, order string) (sel pairs.Selection, err error) {
	show := pairs.Kept
	if form.Get("label") != "" || form.Get("by") != "" {
		show = pairs.All // a decision is on any pair
	}
	sel = pairs.Selection{Show: field(form, "show", show), Order: field(form, "order", order), Text: strings.TrimSpace(form.Get("q")),
		Min: math.Inf(-1), Max: math.Inf(1)}
	switch {
	case len(sel.Show) > maxReason || !utf8.ValidString(sel.Show):
		return sel, errors.New("show is all, kept, rejected or the name of a reason")
	case !slices.Contains(pairs.Orders, sel.Order):
		return sel, fmt.Errorf("order is one of %s", strings.Join(pairs.Orders, ", "))
	case utf8.RuneCountInString(sel.Text) > maxQuery || !utf8.ValidString(sel.Text):
		return sel, fmt.Errorf("the words to look for are UTF-8, and at most %d characters", maxQuery)
	}
	for name, to := range map[string]*float64{"min": &sel.Min, "max": &sel.Max} {
		if text := form.Get(name); text != "" {
			if *to, err = strconv.ParseFloat(text, 64); err != nil || math.IsNaN(*to) {
				return sel, fmt.Errorf("%s is a number", name)
			}
		}
	}
	return sel, nil
}

// place reads a place in a list, from 0.
func place(form url.Values, name string) (int, error) {
	text := field(form, name, "0")
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 || n > maxPlace {
		return 0, fmt.Errorf("%s is a place in the list, counted from 0", name)
	}
	return n, nil
}

// step reads whether the first undecided pair is asked for, from a place on, or the one at the place.
func step(form url.Values) (undecided bool, err error) {
	switch field(form, "step", "") {
	case "":
		return false, nil
	case "undecided":
		return true, nil
	}
	return false, errors.New("step is undecided or left out")
}

// search reads a query; searched is false if there is none yet. languages are the languages of the two sides.
func search(form url.Values, languages [2]string) (q concordance.Query, searched bool, err error) {
	q = concordance.Query{Text: field(form, "q", ""),
		Mode: concordance.Mode(field(form, "mode", string(concordance.Words))), Limit: pageSize}
	modes := []concordance.Mode{concordance.Words, concordance.Phrase, concordance.Fuzzy, concordance.Regexp}
	if !slices.Contains(modes, q.Mode) {
		return q, false, errors.New("mode is words, phrase, fuzzy or regexp")
	}
	switch in := field(form, "in", ""); in {
	case "":
		q.Sides = [2]bool{true, true}
	case languages[0], languages[1]:
		q.Sides = [2]bool{in == languages[0], in == languages[1]}
	default:
		return q, false, fmt.Errorf("in is %s, %s or left out", languages[0], languages[1])
	}
	switch {
	case utf8.RuneCountInString(q.Text) > maxQuery:
		return q, false, fmt.Errorf("the query has %d characters, more than %d: look for less", utf8.RuneCountInString(q.Text), maxQuery)
	case !utf8.ValidString(q.Text):
		return q, false, errors.New("the query is not UTF-8")
	}
	if q.Skip, err = place(form, "from"); err != nil {
		return q, false, err
	}
	return q, strings.TrimSpace(q.Text) != "", nil
}

// maxSkip is how many hits of a search may be left out: an index sorts as many.
const maxSkip = 10_000

// reachable reports whether a search may go as far as it asks for.
func reachable(q concordance.Query) error {
	if q.Skip > maxSkip {
		return fmt.Errorf("a search shows its first %d hits: look for more words", maxSkip)
	}
	return nil
}

func field(form url.Values, name, otherwise string) string {
	if value := form.Get(name); value != "" {
		return value
	}
	return otherwise
}

// Decision is a person's decision on a pair.
type Decision struct {
	Label     label.Label
	Withdrawn bool // the decision before is taken back
	// Replaces is the version of the label that the person saw; nil: whatever label the pair has is replaced.
	Replaces *string
}

// maxDecision bounds the bytes of a decision.
const maxDecision = 256 << 10

// maxName bounds the bytes of a reviewer's name: 60 characters, as the field of the review page has.
const maxName = 60 * utf8.UTFMax

// readDecision reads a decision, which is an object of JSON: key is SOURCE:TARGET in hexadecimal digits, decision is
// accept, reject or withdraw, by the reviewer's name, if there is one, texts both texts as they should be, if they
// were corrected, and replaces the version of the label that the reviewer saw, if only that is to be replaced. The
// reader is to be bounded by the caller.
func readDecision(r io.Reader) (d Decision, err error) {
	var sent struct {
		Key      string `json:"key"`
		Decision string `json:"decision"`
		By       string `json:"by"`
		Texts    []string
		Replaces *string
	}
	in := json.NewDecoder(r)
	in.DisallowUnknownFields()
	if err := in.Decode(&sent); err != nil {
		return d, fmt.Errorf("a decision is an object of JSON with key and decision: %w", err)
	}
	if _, err := in.Token(); !errors.Is(err, io.EOF) {
		return d, errors.New("a decision is one object of JSON and nothing after it")
	}
	source, target, found := strings.Cut(sent.Key, ":")
	if _, err := pairs.Keys(source, target); !found || err != nil {
		return d, errors.New("key is that of a pair: source:target, each of 32 hexadecimal digits")
	}
	d.Replaces = sent.Replaces
	d.Label = label.Label{Source: strings.ToLower(source), Target: strings.ToLower(target),
		Accepted: sent.Decision == "accept"}
	switch sent.Decision {
	case "accept", "reject":
	case "withdraw":
		d.Withdrawn = true
	default:
		return d, errors.New("decision is accept, reject or withdraw")
	}
	if d.Label.By = corpus.Normalise(sent.By); len(d.Label.By) > maxName {
		return d, fmt.Errorf("by is a name of at most %d bytes", maxName)
	}
	if len(sent.Texts) == 0 {
		return d, nil
	}
	if len(sent.Texts) != 2 || !d.Label.Accepted {
		return d, errors.New("texts are both texts of a pair that is accepted")
	}
	for side, to := range []*string{&d.Label.SourceText, &d.Label.TargetText} {
		if *to = corpus.Normalise(sent.Texts[side]); *to == "" || len(*to) > label.MaxText {
			return d, fmt.Errorf("a text is not empty and has at most %d bytes", label.MaxText)
		}
	}
	if texts := label.Of(d.Label.SourceText, d.Label.TargetText); texts.Source == d.Label.Source && texts.Target == d.Label.Target {
		d.Label.SourceText, d.Label.TargetText = "", "" // they are as mined
	}
	return d, nil
}

// Report is the overview of a run as one HTML file that refers to no other, with what the last night changed.
func Report(ctx context.Context, dir, version string, progress pairs.Progress) (_ []byte, err error) {
	run, err := overview.Open(ctx, dir, progress)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, run.Close()) }()
	labels, err := label.Latest(run.Out)
	if err != nil {
		return nil, err
	}
	all := run.Overview(labels)
	for _, night := range all.History {
		if night.Shown && night.Previous != "" {
			if all.Changes, err = run.Changes(ctx, night.Name); err != nil {
				return nil, err
			}
		}
	}
	return page.RenderReport(pageOf(run, version, page.Overview, "Report", all))
}
