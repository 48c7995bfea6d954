package concordance

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/blevesearch/bleve/v2"
	"github.com/blevesearch/bleve/v2/search/query"

	"bitextmine/bitext"
	"bitextmine/internal/badinput"
)

// Mode is how a query is read.
type Mode string

// Words finds pairs with all the pieces of a query on one side, in any order and form; Phrase with all its words next
// to each other in this order; Fuzzy also in other spellings (one letter of the stem more, less or other; two from
// eight on). Regexp matches Go's regular expressions against the text as it stands.
const (
	Words  Mode = "words"
	Phrase Mode = "phrase"
	Fuzzy  Mode = "fuzzy"
	Regexp Mode = "regexp"
)

// Query is a search. Sides selects source, target or both (either of them).
type Query struct {
	Text  string
	Mode  Mode
	Sides [2]bool
	Skip  int // hits, best first
	Limit int
}

// Span is bytes of a text, from Start to before End.
type Span struct {
	Start int `json:"start"`
	End   int `json:"end"`
}

// Hit is a pair that was found, with what matched in each of its texts.
type Hit struct {
	Texts [2]string `json:"texts"` // source, target
	Marks [2][]Span `json:"marks"`
	About
}

// Result is a page of hits, in the order of the bitext, which has the best pairs first; pairs that came later stand
// behind those of before.
type Result struct {
	Total int   `json:"total"`
	More  bool  `json:"more,omitempty"` // there may be more than Total: phrases are looked for until the page is full
	Hits  []Hit `json:"hits"`
}

// ranked is how many hits, the first of the bitext, Best puts in another order.
const ranked = 2000

// Best is Search with the hits of the highest probability first, or of the highest score where no scorer decided, among
// those that stand first in the bitext. The others follow as they stand.
func (x *Index) Best(ctx context.Context, q Query) (*Result, error) {
	of := q
	if q.Skip >= 0 && q.Limit >= 0 {
		of.Skip, of.Limit = 0, max(ranked, q.Skip+q.Limit)
	}
	result, err := x.Search(ctx, of)
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(result.Hits[:min(ranked, len(result.Hits))], func(a, b Hit) int {
		return cmp.Or(cmp.Compare(probability(b), probability(a)), cmp.Compare(b.Score, a.Score))
	})
	result.Hits = result.Hits[min(q.Skip, len(result.Hits)):min(q.Skip+q.Limit, len(result.Hits))]
	return result, nil
}

// probability is below all others where a hit has none.
func probability(h Hit) float32 {
	if h.Probability == nil {
		return -1
	}
	return *h.Probability
}

// maxQuery bounds a query's length in characters: a pasted page is no query.
const maxQuery = 1 << 10

// Search finds pairs.
func (x *Index) Search(ctx context.Context, q Query) (result *Result, err error) {
	err = x.guard(func() error {
		result, err = x.search(ctx, q)
		return err
	})
	return result, err
}

func (x *Index) search(ctx context.Context, q Query) (*Result, error) {
	switch {
	case strings.TrimSpace(q.Text) == "":
		return nil, badinput.Errorf("the query is empty: give words to look for")
	case utf8.RuneCountInString(q.Text) > maxQuery:
		return nil, badinput.Errorf("the query has %d characters, more than %d: look for less", utf8.RuneCountInString(q.Text), maxQuery)
	case q.Skip < 0 || q.Limit < 0:
		return nil, badinput.Errorf("hits from %d on, %d of them: both must be at least 0", q.Skip, q.Limit)
	case q.Mode == Regexp:
		return x.scan(ctx, q)
	}
	if !slices.Contains([]Mode{Words, Phrase, Fuzzy}, q.Mode) {
		return nil, badinput.Errorf("%q is no way to read a query: take %s, %s, %s or %s", q.Mode, Words, Phrase, Fuzzy,
			Regexp)
	}
	m, err := x.matcher(q)
	if err != nil {
		return nil, err
	}
	if m.words(0)+m.words(1) == 0 {
		return nil, badinput.Errorf("the query %q has no word: give letters or numbers, or a regular expression", q.Text)
	}
	if m.neighbours() {
		return m.lookThrough(ctx)
	}
	found, err := m.find(ctx, q.Skip, q.Limit)
	if err != nil {
		return nil, err
	}
	result := &Result{Total: int(found.Total), Hits: make([]Hit, 0, len(found.Hits))}
	for _, document := range found.Hits {
		hit, _, err := m.hit(document.ID)
		if err != nil {
			return nil, err
		}
		result.Hits = append(result.Hits, hit)
	}
	return result, nil
}

// Pairs with all words that are looked at first, and at most.
const (
	firstCandidates = 1000
	maxCandidates   = 100_000
)

// find asks the index for pairs with all terms of a query; of pieces of several words it knows the words alone.
func (m *matcher) find(ctx context.Context, skip, limit int) (*bleve.SearchResult, error) {
	var either, without []query.Query
	for side, pieces := range m.pieces {
		var all []query.Query
		for _, p := range pieces {
			switch {
			case !p.without:
				for _, t := range p.tokens {
					all = append(all, term(t, side, m.q.Mode))
				}
			case len(p.tokens) == 1:
				without = append(without, term(p.tokens[0], side, Words))
			}
		}
		if len(all) > 0 {
			either = append(either, bleve.NewConjunctionQuery(all...))
		}
	}
	var of query.Query = bleve.NewDisjunctionQuery(either...)
	if len(without) > 0 {
		but := bleve.NewBooleanQuery()
		but.AddMust(of)
		but.AddMustNot(without...)
		of = but
	}
	request := bleve.NewSearchRequestOptions(of, limit, skip, false)
	request.Score = bleve.ScoreNone // sort by the order of the bitext
	found, err := m.index.SearchInContext(ctx, request)
	if err != nil {
		return nil, fmt.Errorf("search the concordance: %w", err)
	}
	return found, nil
}

// term is the index's form of one term on a side.
func term(t token, side int, mode Mode) query.Query {
	var of query.FieldableQuery
	switch {
	case t.letter:
		of = bleve.NewRegexpQuery(withNeighbours(t.term))
	case mode == Fuzzy && fuzziness(t.term) > 0:
		near := bleve.NewFuzzyQuery(t.term)
		near.SetFuzziness(fuzziness(t.term))
		of = near
	default:
		of = bleve.NewTermQuery(t.term)
	}
	of.SetField(fields[side])
	return of
}

// fuzziness is how many letters of a term may differ: in text without spaces, where terms are pairs of letters, none.
func fuzziness(term string) int {
	n := len([]rune(term))
	switch {
	case spaceless.MatchString(term):
		return 0
	case n < 8:
		return 1
	}
	return 2
}

// scan matches a regular expression against every text of the bitext.
func (x *Index) scan(ctx context.Context, q Query) (_ *Result, err error) {
	pattern, err := regexp.Compile(q.Text)
	if err != nil {
		return nil, badinput.Errorf("the regular expression cannot be read: %w", err)
	}
	in, err := bitext.Open(x.bitext)
	if err != nil {
		return nil, err
	}
	defer func() {
		if closing := in.Close(); err == nil {
			err = closing
		}
	}()
	result := &Result{}
	_, err = eachKept(ctx, in, nil, func(row *bitext.Row) error {
		hit := Hit{Texts: [2]string{row.Source.Text, row.Target.Text}}
		matched := false
		for side, text := range hit.Texts {
			if !q.Sides[side] {
				continue
			}
			for _, at := range pattern.FindAllStringIndex(text, -1) {
				hit.Marks[side] = append(hit.Marks[side], Span{at[0], at[1]})
				matched = true
			}
		}
		if !matched {
			return nil
		}
		if result.Total++; result.Total > q.Skip && len(result.Hits) < q.Limit {
			hit.About = aboutOf(row)
			result.Hits = append(result.Hits, hit)
		}
		return nil
	})
	return result, err
}
