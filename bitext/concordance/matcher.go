package concordance

import (
	"context"
	"slices"
	"strings"

	"github.com/blevesearch/bleve/v2/search"
)

// phrases looks through the pairs that have all words until it has those that were asked for.
func (m *matcher) phrases(ctx context.Context) (*Result, error) {
	result := &Result{Hits: []Hit{}}
	seen := 0
	for limit := firstCandidates; ; limit *= 10 {
		found, err := m.find(ctx, m.q, seen, limit-seen)
		if err != nil {
			return nil, err
		}
		for _, document := range found.Hits {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			if err := m.count(document.ID, result); err != nil {
				return nil, err
			}
			seen++
		}
		result.More = seen < int(found.Total)
		if !result.More || limit == maxCandidates || len(result.Hits) == m.q.Limit {
			return result, nil
		}
	}
}

// count adds a pair to a result if it has the phrase. Its text is read for the page alone; beyond, hashes of two bytes
// for each term decide, which do not tell letters in pairs from others.
func (m *matcher) count(id string, result *Result) error {
	at, err := place(id)
	var may bool
	if err == nil {
		may, err = m.mayMatch(at)
	}
	if err != nil {
		return m.damaged(err)
	}
	if !may {
		return nil
	}
	offPage := result.Total < m.q.Skip || len(result.Hits) == m.q.Limit
	if offPage && !slices.Contains(slices.Concat(m.hashes[0], m.hashes[1]), anyTerm) {
		result.Total++
		return nil
	}
	hit, matched, err := m.hit(id)
	if err != nil || !matched {
		return err
	}
	result.Total++
	if !offPage {
		result.Hits = append(result.Hits, hit)
	}
	return nil
}

// mayMatch reports whether a pair's hashes contain those of the phrase.
func (m *matcher) mayMatch(at uint64) (bool, error) {
	head, err := m.texts.Head(at)
	if err != nil {
		return false, err
	}
	terms, err := parseHead(head)
	return mayHave(terms[0], m.hashes[0]) || mayHave(terms[1], m.hashes[1]), err
}

// matcher finds what a query matches in texts. It may be used by one goroutine.
type matcher struct {
	*Index
	q      Query
	wanted [2][]token
	hashes [2][]int32 // hashes of a phrase's terms, anyTerm for those that may be in pairs
	texts  *BlockCursor
}

func (x *Index) matcher(q Query) *matcher {
	m := &matcher{Index: x, q: q, texts: x.texts.Cursor()}
	for side, wanted := range q.Sides {
		if wanted {
			m.wanted[side] = x.tokens(side, q.Text)
			for _, t := range m.wanted[side] {
				wanted := int32(hash([]byte(t.term)))
				if t.letter {
					wanted = anyTerm
				}
				m.hashes[side] = append(m.hashes[side], wanted)
			}
		}
	}
	return m
}

// hit reads a pair and says whether the query matches anything in it.
func (m *matcher) hit(id string) (hit Hit, matched bool, err error) {
	at, err := place(id)
	var body []byte
	if err == nil {
		body, err = m.texts.Body(at)
	}
	if err == nil {
		hit, err = parseBody(body)
	}
	if err != nil {
		return hit, false, m.damaged(err)
	}
	for side := range hit.Texts {
		if m.q.Sides[side] {
			hit.Marks[side] = m.marks(side, hit.Texts[side])
			matched = matched || len(hit.Marks[side]) > 0
		}
	}
	return hit, matched, nil
}

// token is a term of a text and where it stands.
type token struct {
	term   string
	letter bool // one letter of text that is indexed by pairs of letters: a text may have it in pairs
	Span
}

// tokens are a text's terms by a side's analyser.
func (x *Index) tokens(side int, text string) []token {
	stream := x.index.Mapping().AnalyzerNamed(analyser(side)).Analyze([]byte(text))
	inPairs := inPairs(x.Languages[side])
	out := make([]token, len(stream))
	for i, t := range stream {
		out[i] = token{string(t.Term), inPairs && isLetter(t.Term), Span{t.Start, t.End}}
	}
	return out
}

// marks are the parts of a text that the query matches, in order, where they touch joined.
func (m *matcher) marks(side int, text string) (spans []Span) {
	wanted, there := m.wanted[side], m.tokens(side, text)
	mark := func(s Span) {
		if last := len(spans) - 1; last >= 0 && s.Start <= spans[last].End {
			spans[last] = Span{min(spans[last].Start, s.Start), max(spans[last].End, s.End)}
			return
		}
		spans = append(spans, s)
	}
	for i := range there {
		if m.q.Mode == Phrase {
			if startsWith(there[i:], wanted) {
				last := len(wanted) - 1
				mark(Span{wanted[0].in(text, there[i].Span).Start, wanted[last].in(text, there[i+last].Span).End})
			}
			continue
		}
		for _, w := range wanted {
			if w.letter && strings.Contains(there[i].term, w.term) {
				mark(w.in(text, there[i].Span))
			} else if same(w.term, there[i].term, m.q.Mode) {
				mark(there[i].Span)
				break
			}
		}
	}
	return spans
}

// in is the place of a wanted term in one of a text: of a letter its own in a pair.
func (t token) in(text string, there Span) Span {
	at := strings.Index(text[there.Start:there.End], t.term)
	if !t.letter || at < 0 {
		return there
	}
	return Span{there.Start + at, there.Start + at + len(t.term)}
}

// startsWith says whether a text begins with a phrase. Where this begins or ends with a letter, the text may go on in a
// pair.
func startsWith(text, phrase []token) bool {
	if len(phrase) == 0 || len(text) < len(phrase) {
		return false
	}
	for i, w := range phrase {
		term := text[i].term
		fits := term == w.term
		if w.letter && i == 0 {
			fits = fits || strings.HasSuffix(term, w.term)
		}
		if w.letter && i == len(phrase)-1 {
			fits = fits || strings.HasPrefix(term, w.term)
		}
		if !fits {
			return false
		}
	}
	return true
}

func same(wanted, term string, mode Mode) bool {
	if wanted == term || mode != Fuzzy {
		return wanted == term
	}
	_, tooFar := search.LevenshteinDistanceMax(wanted, term, fuzziness(wanted))
	return !tooFar
}
