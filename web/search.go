package web

import (
	"context"
	"net/http"

	"bitextmine/bitext/concordance"
	"bitextmine/corpus"
	"bitextmine/internal/badinput"
	"bitextmine/web/page"
	"bitextmine/web/pairs"
)

// searchPage looks words up: in the index, if there is one, else in every sentence.
func searchPage(ctx context.Context, s *Server, one *shown, r *http.Request) ([]byte, error) {
	languages := one.Languages()
	q, searched, err := Search(r.URL.Query(), languages)
	if err == nil {
		err = Reachable(q)
	}
	if err != nil {
		return nil, badRequest(err)
	}
	body := searchForm(q, languages)
	body.Indexed, body.Decides, body.Searched = one.index != nil, one.Decides(), searched
	body.HowToIndex = "mine search WORD --run " + one.Named
	if searched {
		done, err := s.turn(ctx)
		if err != nil {
			return nil, err
		}
		defer done()
		err = one.find(ctx, q, &body)
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
func (o *shown) find(ctx context.Context, q concordance.Query, body *page.SearchBody) error {
	now, err := o.labels.now()
	if err != nil {
		return err
	}
	var found *pairs.Found
	if o.index == nil {
		found, err = o.Pairs.Scan(ctx, q)
	} else {
		found, err = o.ask(ctx, q)
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
		for side, language := range o.Languages() {
			item.Sides[side] = page.NewSentence(language, hit.Texts[side], hit.Marks[side])
		}
		body.Items = append(body.Items, item)
	}
	return nil
}

// ask searches the index of the bitext, and finds the hits among the pairs by their keys.
func (o *shown) ask(ctx context.Context, q concordance.Query) (*pairs.Found, error) {
	result, err := o.index.Search(ctx, q)
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
