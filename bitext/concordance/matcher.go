package concordance

import (
	"context"
	"slices"
	"strings"
)

// lookThrough finds what the index cannot tell alone: it looks through the pairs that have all words until it has those
// that were asked for.
func (m *matcher) lookThrough(ctx context.Context) (*Result, error) {
	result := &Result{Hits: []Hit{}}
	seen := 0
	for limit := firstCandidates; ; limit *= 10 {
		found, err := m.find(ctx, seen, limit-seen)
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

// count adds a pair to a result if it has what was asked for. Its text is read for the page alone, where hashes of two
// bytes for each term can decide.
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
	if offPage && m.hashesDecide() {
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

// mayMatch reports whether a pair's hashes contain those of all wanted pieces on a side.
func (m *matcher) mayMatch(at uint64) (bool, error) {
	head, err := m.texts.Head(at)
	if err != nil {
		return false, err
	}
	terms, err := parseHead(head)
	if err != nil {
		return false, err
	}
	for side, pieces := range m.pieces {
		may := m.words(side) > 0
		for _, p := range pieces {
			may = may && (p.without || mayHave(terms[side], p.hashes))
		}
		if may {
			return true, nil
		}
	}
	return false, nil
}

// hashesDecide reports whether the hashes of a pair's terms, and the index, say if it has what was asked for.
func (m *matcher) hashesDecide() bool {
	for _, p := range slices.Concat(m.pieces[0], m.pieces[1]) {
		if p.without && len(p.tokens) > 1 || !p.without && slices.Contains(p.hashes, anyTerm) {
			return false
		}
	}
	return true
}

// matcher finds what a query matches in texts. It may be used by one goroutine.
type matcher struct {
	*Index
	q      Query
	pieces [2][]piece // pieces with words, by side; none of a side that is not searched
	texts  *BlockCursor
}

// piece is a Piece in the terms of a side.
type piece struct {
	tokens  []token
	hashes  []int32 // hashes of the terms, anyTerm for those that a text may have otherwise
	without bool
}

func (x *Index) matcher(q Query) (*matcher, error) {
	pieces, err := q.Pieces()
	if err != nil {
		return nil, err
	}
	m := &matcher{Index: x, q: q, texts: x.texts.Cursor()}
	for side, searched := range q.Sides {
		for _, p := range pieces {
			if !searched {
				continue
			}
			one := piece{tokens: x.tokens(side, PlainOf(p.Text).Text), without: p.Without}
			for _, t := range one.tokens {
				of := int32(hash([]byte(t.term)))
				if t.letter || q.Mode == Fuzzy && fuzziness(t.term) > 0 {
					of = anyTerm
				}
				one.hashes = append(one.hashes, of)
			}
			if len(one.tokens) > 0 {
				m.pieces[side] = append(m.pieces[side], one)
			}
		}
	}
	return m, nil
}

// words is the number of terms that are wanted on a side.
func (m *matcher) words(side int) (n int) {
	for _, p := range m.pieces[side] {
		if !p.without {
			n += len(p.tokens)
		}
	}
	return n
}

// neighbours reports whether a piece has several words, which stand next to each other.
func (m *matcher) neighbours() bool {
	return slices.ContainsFunc(slices.Concat(m.pieces[0], m.pieces[1]), func(p piece) bool { return len(p.tokens) > 1 })
}

// hit reads a pair and says whether the query matches it.
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
	out := false
	for side := range hit.Texts {
		if m.q.Sides[side] {
			marks, all, without := m.look(side, hit.Texts[side])
			hit.Marks[side] = marks
			matched, out = matched || all, out || without
		}
	}
	return hit, matched && !out, nil
}

// token is a term of a text and where it stands.
type token struct {
	term   string
	letter bool // one letter of text that is indexed by pairs of letters: a text may have it in pairs
	Span
}

// tokens are the terms of a text in plain form by a side's analyser.
func (x *Index) tokens(side int, text string) []token {
	stream := x.index.Mapping().AnalyzerNamed(analyser(side)).Analyze([]byte(text))
	inPairs := inPairs(x.Languages[side])
	out := make([]token, len(stream))
	for i, t := range stream {
		out[i] = token{string(t.Term), inPairs && isLetter(t.Term), Span{t.Start, t.End}}
	}
	return out
}

// look finds a query's pieces in a text of a side: where they stand, in order, where they touch joined; whether all
// that are wanted are there, and whether one that is not wanted is.
func (m *matcher) look(side int, text string) (marks []Span, all, without bool) {
	plain := PlainOf(text)
	there := m.tokens(side, plain.Text)
	found := make([]bool, len(m.pieces[side]))
	for i := range there {
		for n, p := range m.pieces[side] {
			if !p.beginsAt(there[i:], m.q.Mode) {
				continue
			}
			if p.without {
				return nil, false, true
			}
			found[n] = true
			last := len(p.tokens) - 1
			marks = join(marks, Span{p.tokens[0].in(plain.Text, there[i].Span).Start,
				p.tokens[last].in(plain.Text, there[i+last].Span).End})
		}
	}
	all = m.words(side) > 0
	for n, p := range m.pieces[side] {
		all = all && (p.without || found[n])
	}
	return plain.Places(marks), all, false
}

// join adds a span to those before it.
func join(spans []Span, s Span) []Span {
	if last := len(spans) - 1; last >= 0 && s.Start <= spans[last].End {
		spans[last] = Span{min(spans[last].Start, s.Start), max(spans[last].End, s.End)}
		return spans
	}
	return append(spans, s)
}

// in is the place of a wanted term in one of a text: of a letter its own in a pair.
func (t token) in(text string, there Span) Span {
	at := strings.Index(text[there.Start:there.End], t.term)
	if !t.letter || at < 0 {
		return there
	}
	return Span{there.Start + at, there.Start + at + len(t.term)}
}

// beginsAt says whether a text begins with a piece. Where this begins or ends with a letter, the text may go on in a
// pair. Words that are not wanted have no other spellings.
func (p *piece) beginsAt(text []token, mode Mode) bool {
	if len(text) < len(p.tokens) {
		return false
	}
	if p.without {
		mode = Words
	}
	for i, w := range p.tokens {
		term, first, last := text[i].term, i == 0, i == len(p.tokens)-1
		fits := same(w.term, term, mode)
		switch {
		case !w.letter || fits:
		case first && last:
			fits = strings.Contains(term, w.term)
		case first:
			fits = strings.HasSuffix(term, w.term)
		case last:
			fits = strings.HasPrefix(term, w.term)
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
	return within([]rune(wanted), []rune(term), fuzziness(wanted))
}

// within reports whether so many changes at most make one term of the other: a letter more, less or other, or two
// neighbours that change places. It is the distance of the index's automata, which count letters, not bytes.
func within(a, b []rune, most int) bool {
	if len(a)-len(b) > most || len(b)-len(a) > most {
		return false
	}
	rows := make([][]int, len(a)+1) // changes between the first letters of both
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		for j := range rows[i] {
			switch {
			case i == 0 || j == 0:
				rows[i][j] = i + j
				continue
			case a[i-1] == b[j-1]:
				rows[i][j] = rows[i-1][j-1]
			default:
				rows[i][j] = 1 + min(rows[i-1][j-1], rows[i-1][j], rows[i][j-1])
			}
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				rows[i][j] = min(rows[i][j], 1+rows[i-2][j-2])
			}
		}
	}
	return rows[len(a)][len(b)] <= most
}
