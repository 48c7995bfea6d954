package concordance

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
	"strings"

	"bitextmine/internal/badinput"
)

// Collocate is a word that stands in pairs with the query more often than in others.
type Collocate struct {
	Word  string  `json:"word"`  // most frequent form
	Pairs int     `json:"pairs"` // pairs with the word, among the examined pairs
	All   int     `json:"all"`   // pairs of the bitext with it
	Score float64 `json:"log_likelihood"`
}

// MaxCollocated is how many pairs, the best first, are looked at for collocates.
const MaxCollocated = 2000

// Collocates are, for each side, the words that most distinguish pairs with the query from others, by Dunning's
// log-likelihood ratio of pairs (Accurate Methods for the Statistics of Surprise and Coincidence, 1993). On the side
// that was not searched they are candidates for translations. from is how many pairs were looked at.
func (x *Index) Collocates(ctx context.Context, q Query, limit int) (of [2][]Collocate, from int, err error) {
	if q.Mode == Regexp {
		return of, 0, badinput.Errorf(
			"collocates are of words: look for words, a phrase or other spellings, not for a regular expression")
	}
	q.Skip, q.Limit = 0, MaxCollocated
	result, err := x.Search(ctx, q)
	if err != nil {
		return of, 0, err
	}
	err = x.guard(func() error {
		for side := range of {
			if of[side], err = x.collocates(ctx, side, q, result.Hits, limit); err != nil {
				return err
			}
		}
		return nil
	})
	return of, len(result.Hits), err
}

func (x *Index) collocates(ctx context.Context, side int, q Query, hits []Hit,
	limit int) (found []Collocate, err error) {
	pairs, forms := map[string]int{}, map[string]map[string]int{}
	for _, hit := range hits {
		seen := map[string]bool{}
		text := PlainOf(hit.Texts[side]).Text
		for _, t := range x.tokens(side, text) {
			if forms[t.term] == nil {
				forms[t.term] = map[string]int{}
			}
			forms[t.term][lower(x.Languages[side], text[t.Start:t.End])]++
			if !seen[t.term] {
				seen[t.term] = true
				pairs[t.term]++
			}
		}
	}
	m, err := x.matcher(q)
	if err != nil {
		return nil, err
	}
	for _, p := range m.pieces[side] {
		for _, t := range p.tokens {
			if !p.without {
				delete(pairs, t.term)
			}
		}
	}
	all, err := x.frequencies(ctx, side, pairs)
	if err != nil {
		return nil, err
	}
	for term, n := range pairs {
		c := Collocate{frequent(forms[term]), n, all[term], logLikelihood(n, len(hits), all[term], x.Pairs)}
		if n > 1 && c.Score > 0 {
			found = append(found, c)
		}
	}
	slices.SortFunc(found, func(a, b Collocate) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), strings.Compare(a.Word, b.Word))
	})
	return found[:min(limit, len(found))], nil
}

// frequencies counts the pairs of the bitext that have each term on a side.
func (x *Index) frequencies(ctx context.Context, side int, terms map[string]int) (_ map[string]int, err error) {
	inner, err := x.index.Advanced()
	if err != nil {
		return nil, err
	}
	reader, err := inner.Reader()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, reader.Close()) }()
	all := make(map[string]int, len(terms))
	for term := range terms {
		field, err := reader.TermFieldReader(ctx, []byte(term), fields[side], false, false, false)
		if err != nil {
			return nil, err
		}
		all[term] = int(field.Count())
		if err := field.Close(); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// frequent is the form that stands most often, the first by alphabet among equals.
func frequent(forms map[string]int) (best string) {
	for form, n := range forms {
		if best == "" || n > forms[best] || n == forms[best] && form < best {
			best = form
		}
	}
	return best
}

// logLikelihood is Dunning's G2 of a term that stands in n of from pairs looked at and in all of total pairs; 0 where
// it stands there no more often than elsewhere.
func logLikelihood(n, from, all, total int) float64 {
	elsewhere, others := max(all-n, 0), max(total-from, 0)
	if n*others <= elsewhere*from {
		return 0
	}
	sum := 0.0
	add := func(observed, row, column int) {
		if observed > 0 {
			sum += float64(observed) * math.Log(float64(observed)*float64(total)/(float64(row)*float64(column)))
		}
	}
	with, without := n+elsewhere, total-n-elsewhere
	add(n, from, with)
	add(from-n, from, without)
	add(elsewhere, others, with)
	add(others-elsewhere, others, without)
	return 2 * sum
}
