package web

import (
	"context"
	"errors"
	"html/template"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"bitextmine/bitext"
	"bitextmine/bitext/concordance"
	"bitextmine/bitext/label"
	"bitextmine/corpus"
	"bitextmine/internal/badinput"
	"bitextmine/web/overview"
	"bitextmine/web/page"
	"bitextmine/web/pairs"
)

// pageOf is a page about a run.
func pageOf(run *overview.Run, version, here, title string, body any) page.Page {
	languages := run.Languages()
	return page.Page{
		Title: title + " · " + languages[0] + "–" + languages[1] + " · mine", Here: here, Body: body,
		Site: page.Site{Languages: languages, Night: run.Night(), Version: version},
	}
}

// overviewPage is the same page for every reader until somebody decides.
func overviewPage(_ context.Context, s *Server, one *shown, _ *http.Request) ([]byte, error) {
	now, err := one.labels.now()
	if err != nil {
		return nil, err
	}
	one.mu.Lock()
	defer one.mu.Unlock()
	if one.overview == nil || one.digest != now.digest {
		if one.overview, err = page.Render(s.around(one, page.Overview, "Overview",
			one.Overview(now.list))); err != nil {
			return nil, err
		}
		one.digest = now.digest
	}
	return one.overview, nil
}

// changesPage compares a night with the one before.
func changesPage(ctx context.Context, s *Server, one *shown, r *http.Request) ([]byte, error) {
	night := r.URL.Query().Get("night")
	one.mu.Lock()
	c := one.changes[night]
	one.mu.Unlock()
	if c == nil {
		done, err := s.turn(ctx)
		if err != nil {
			return nil, err
		}
		defer done()
		if c, err = one.Changes(ctx, night); err != nil {
			return nil, err
		}
		one.mu.Lock()
		one.changes[night] = c // one entry per night
		one.mu.Unlock()
	}
	return page.Render(s.around(one, page.Changes, "What "+night+" changed", c))
}

// selection reads which pairs are meant, and finds them: words in every sentence, which takes a turn.
func (o *shown) selection(ctx context.Context, s *Server, r *http.Request) (sel page.Selection, rows []int32, err error) {
	form := r.URL.Query()
	byDefault := pairs.ByRow
	if r.URL.Path != "/pairs" {
		byDefault = pairs.Random // a review estimates precision
	}
	wanted, err := selection(form, byDefault)
	if err != nil {
		return sel, nil, badRequest(err)
	}
	show, order := wanted.Show, wanted.Order
	query := url.Values{"show": {show}, "order": {order}}
	for name, value := range map[string]string{"q": wanted.Text, "min": form.Get("min"), "max": form.Get("max")} {
		if value != "" {
			query.Set(name, value)
		}
	}
	sel = page.Selection{Show: show, Order: order, Decides: o.Decides(), Text: wanted.Text, Min: form.Get("min"), Max: form.Get("max"),
		Query: template.URL(query.Encode())} //nolint:gosec // Encode escapes it
	sel.Shows = []page.Choice{{Value: pairs.Kept, Label: "kept pairs"},
		{Value: pairs.Rejected, Label: "pairs not kept"}, {Value: pairs.All, Label: "all pairs"}}
	for _, name := range o.Pairs.Found() {
		sel.Shows = append(sel.Shows, page.Choice{Value: pairs.FoundBy + name, Label: "kept, found by " + page.FoundBy(name)})
	}
	for _, reason := range o.Pairs.Reasons() {
		sel.Shows = append(sel.Shows, page.Choice{Value: reason.Name, Label: "not kept: " + page.ReasonName(reason.Name)})
	}
	if !slices.ContainsFunc(sel.Shows, func(c page.Choice) bool { return c.Value == show }) {
		return sel, nil, badRequest(errors.New("no pair of this run has the reason " + strconv.Quote(show)))
	}
	sel.Orders = []page.Choice{
		{Value: pairs.ByRow, Label: "as in the file"}, {Value: pairs.Best, Label: "best first"},
		{Value: pairs.Worst, Label: "worst first"},
		{Value: pairs.Uncertain, Label: "nearest to the threshold"}, {Value: pairs.Random, Label: "drawn at random"},
	}
	choose(sel.Shows, show)
	choose(sel.Orders, order)
	wanted.Threshold = o.Report.Threshold
	if wanted.Text != "" {
		done, err := s.turn(ctx)
		if err != nil {
			return sel, nil, err
		}
		defer done()
	}
	rows, err = o.Pairs.List(ctx, wanted)
	sel.Total = len(rows)
	return sel, rows, err
}

func choose(among []page.Choice, value string) {
	for i := range among {
		among[i].Chosen = among[i].Value == value
	}
}

// item reads a pair for a list.
func (o *shown) item(row int, now *decisions) (page.Item, *bitext.Row, error) {
	pair, err := o.Pairs.Row(row)
	if err != nil {
		return page.Item{}, nil, err
	}
	n := o.Pairs.Numbers(row)
	item := page.Item{Row: row, Key: keyOf(n.Keys), Value: n.Value, Kept: n.Kept, Reasons: n.Reasons, Label: now.of(n.Keys),
		By: now.byKeys[n.Keys].By, Version: now.version(n.Keys)}
	texts, languages := [2]string{pair.Source.Text, pair.Target.Text}, [2]string{pair.Source.Lang, pair.Target.Lang}
	if l := now.byKeys[n.Keys]; l.Edited() {
		texts = [2]string{l.SourceText, l.TargetText}
	}
	marks := differ(texts, languages)
	for side := range texts {
		item.Sides[side] = page.NewSentence(languages[side], texts[side], marks[side])
		item.Sides[side].Differs = true
	}
	return item, pair, nil
}

// listPage is a page of a list of pairs.
func listPage(ctx context.Context, s *Server, one *shown, r *http.Request) ([]byte, error) {
	sel, rows, err := one.selection(ctx, s, r)
	if err != nil {
		return nil, err
	}
	from, err := place(r.URL.Query(), "from")
	if err != nil {
		return nil, badRequest(err)
	}
	now, err := one.labels.now()
	if err != nil {
		return nil, err
	}
	which, err := readDecided(r.URL.Query())
	if err != nil {
		return nil, badRequest(err)
	}
	rows = which.filter(rows, one.Pairs, now)
	sel.Total = len(rows)
	body := page.ListBody{Selection: sel, From: from, OnlyKept: one.Pairs.Len() == one.Pairs.Kept()}
	which.choose(&body, now)
	if err := which.missing(&body, one, now); err != nil {
		return nil, err
	}
	body.Previous, body.Next = beside(from, len(rows))
	for at := from; at < min(len(rows), from+pageSize); at++ {
		item, _, err := one.item(int(rows[at]), now)
		if err != nil {
			return nil, err
		}
		body.Items = append(body.Items, item)
	}
	return page.Render(s.around(one, page.Pairs, "Pairs", body))
}

// beside is where the pages before and after begin; -1: there is none.
func beside(from, total int) (previous, next int) {
	previous, next = -1, -1
	if from > 0 {
		previous = max(0, from-pageSize)
	}
	if from+pageSize < total {
		next = from + pageSize
	}
	return previous, next
}

// asked reads the pair that an address names.
func (o *shown) asked(r *http.Request) (page.Item, *bitext.Row, error) {
	source, target, found := strings.Cut(strings.ToLower(r.PathValue("pair")), ":")
	keys, err := pairs.Keys(source, target)
	if err != nil || !found {
		return page.Item{}, nil, problem{http.StatusNotFound, "There is no such pair", "A pair is named by its keys, source:target, " +
			"or by its row: this run has " + strconv.Itoa(o.Pairs.Len()) + " pairs, which count from 0."}
	}
	now, err := o.labels.now()
	if err != nil {
		return page.Item{}, nil, err
	}
	row, ok := o.Pairs.Find(keys)
	if !ok {
		return page.Item{}, nil, problem{http.StatusNotFound, "This run does not have the pair", now.missing(keys)}
	}
	return o.item(row, now)
}

// missing says what is known of a pair that the bitext does not have.
func (d *decisions) missing(keys [2][16]byte) string {
	text := "Its bitext has no pair of these two sentences: a run between may have left it out or found a better one."
	if l, ok := d.byKeys[keys]; ok {
		text += " " + who(l) + " " + l.Decision() + " it"
		if !l.Accepted {
			text += ", so that runs leave it out"
		}
		text += "."
	}
	return text
}

// pairPage is all that is known of a pair.
func pairPage(_ context.Context, s *Server, one *shown, r *http.Request) ([]byte, error) {
	item, row, err := one.asked(r)
	if err != nil {
		return nil, err
	}
	body := page.PairBody{Item: item, Pair: row, Decides: one.Decides(), Threshold: one.Report.Threshold,
		Languages: one.Languages()}
	for i, value := range row.Features {
		body.Features = append(body.Features, page.Feature{Name: one.Pairs.Features[i], Value: value})
	}
	return page.Render(s.around(one, page.Pair, "Pair "+strconv.Itoa(item.Row), body))
}

// whyPage is the part of a pair's page that takes longer.
func whyPage(ctx context.Context, s *Server, one *shown, r *http.Request) ([]byte, error) {
	_, row, err := one.asked(r)
	if err != nil {
		return nil, err
	}
	done, err := s.turn(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	e, err := explain(ctx, s, one, row)
	if err != nil {
		return nil, err
	}
	return page.RenderPart(page.ExplanationPart, e)
}

// searchPage looks words up: in the index, if there is one, else in every sentence.
func searchPage(ctx context.Context, s *Server, one *shown, r *http.Request) ([]byte, error) {
	languages := one.Languages()
	q, searched, err := search(r.URL.Query(), languages)
	if err == nil {
		err = reachable(q)
	}
	if err != nil {
		return nil, badRequest(err)
	}
	body := searchForm(q, languages)
	index, indexing := one.searchable()
	body.Indexed, body.Decides, body.Searched = index != nil, one.Decides(), searched
	if indexing {
		body.Indexing = "The index is being made: it has " + strconv.FormatInt(one.indexed.Load(), 10) + " pairs so far."
	}
	body.IndexProblem = one.indexFailed()
	body.HowToIndex = "mine search WORD --run " + one.Named
	if searched {
		done, err := s.turn(ctx)
		if err != nil {
			return nil, err
		}
		defer done()
		err = one.find(ctx, index, q, &body)
		if badinput.Is(err) {
			body.Problem = err.Error() + "."
		} else if err != nil {
			return nil, err
		}
		total := body.Total
		if body.More {
			total++ // there may be a page after this one
		}
		body.Previous, body.Next = beside(q.Skip, total)
	}
	return page.Render(s.around(one, page.Search, "Search", body))
}

// searchForm is the form with what was asked.
func searchForm(q concordance.Query, languages [2]string) page.SearchBody {
	body := page.SearchBody{Query: q.Text, Mode: string(q.Mode), From: q.Skip, Previous: -1, Next: -1}
	body.Modes = []page.Choice{
		{Value: string(concordance.Words), Label: "all words"},
		{Value: string(concordance.Phrase), Label: "the phrase"},
		{Value: string(concordance.Fuzzy), Label: "similar spellings"},
		{Value: string(concordance.Regexp), Label: "regular expression"},
	}
	body.Sides = []page.Choice{
		{Value: "", Label: "either language"}, {Value: languages[0], Label: page.LanguageName(languages[0])},
		{Value: languages[1], Label: page.LanguageName(languages[1])},
	}
	for side, language := range languages {
		if q.Sides[side] && !q.Sides[1-side] {
			body.In = language
		}
	}
	choose(body.Modes, body.Mode)
	choose(body.Sides, body.In)
	return body
}

// find fills in what a query finds.
func (o *shown) find(ctx context.Context, index *concordance.Index, q concordance.Query, body *page.SearchBody) error {
	now, err := o.labels.now()
	if err != nil {
		return err
	}
	var found *pairs.Found
	switch {
	case index == nil:
		found, err = o.Pairs.Scan(ctx, q)
	case q.Mode == concordance.Regexp: // the index would read the bitext again, which a new run may have replaced
		found, err = o.Pairs.ScanBest(ctx, q)
	default:
		found, err = o.ask(ctx, index, q)
	}
	if err != nil {
		return err
	}
	body.Total, body.More = found.Total, found.More
	for _, hit := range found.Hits {
		item, _, err := o.item(hit.Row, now)
		if err != nil {
			return err
		}
		mined := make([]page.Sentence, len(hit.Texts))
		for side, language := range o.Languages() {
			mined[side] = page.NewSentence(language, hit.Texts[side], hit.Marks[side])
		}
		if item.Label == label.Edited {
			item.Mined = mined
		} else {
			item.Sides = [2]page.Sentence(mined)
		}
		body.Items = append(body.Items, item)
	}
	if q.Skip > 0 || !slices.ContainsFunc(now.list, label.Label.Edited) {
		return nil
	}
	return o.findCorrections(q, now, body)
}

// findCorrections adds kept pairs with a query's words in their corrected texts, which neither the bitext nor its index
// has.
func (o *shown) findCorrections(q concordance.Query, now *decisions, body *page.SearchBody) error {
	body.Corrections.Decides = body.Decides
	mark, err := pairs.Marker(q)
	if err != nil {
		return err
	}
	for _, l := range now.list {
		if !l.Edited() {
			continue
		}
		texts := [2]string{l.SourceText, l.TargetText}
		marks, found := mark(texts)
		if !found {
			continue
		}
		keys, err := pairs.Keys(l.Source, l.Target)
		if err != nil {
			return err
		}
		row, ok := o.Pairs.Find(keys)
		if !ok || !o.Pairs.Numbers(row).Kept {
			continue
		}
		if body.Corrections.Total++; body.Corrections.Total > pageSize {
			continue
		}
		item, _, err := o.item(row, now)
		if err != nil {
			return err
		}
		for side, language := range o.Languages() {
			item.Sides[side] = page.NewSentence(language, texts[side], marks[side])
		}
		body.Corrections.Items = append(body.Corrections.Items, item)
	}
	return nil
}

// ask searches the index of the bitext, and finds the hits among the pairs by their keys.
func (o *shown) ask(ctx context.Context, index *concordance.Index, q concordance.Query) (*pairs.Found, error) {
	result, err := index.Best(ctx, q)
	if err != nil {
		return nil, err
	}
	found := &pairs.Found{Total: result.Total, More: result.More}
	for _, hit := range result.Hits {
		var keys [2][16]byte
		for side, text := range hit.Texts {
			keys[side] = corpus.KeyOf(corpus.Normalise(text))
		}
		row, ok := o.Pairs.Find(keys)
		if !ok {
			return nil, badinput.Errorf(
				"the index has a pair that the bitext %s has not: remove the directory concordance beside it, and search again",
				o.Pairs.Path)
		}
		found.Hits = append(found.Hits, pairs.Match{Row: row, Texts: hit.Texts, Marks: hit.Marks})
	}
	return found, nil
}
