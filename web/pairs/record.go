package pairs

import (
	"bufio"
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strings"

	"bitextmine/bitext"
	"bitextmine/bitext/concordance"
	"bitextmine/internal/badinput"
)

// A record is a pair in the file of texts: both texts first, each after its length, then all that is not in memory.

func appendRow(to []byte, row *bitext.Row) []byte {
	to = appendText(to, row.Source.Text)
	to = appendText(to, row.Target.Text)
	for _, s := range []*bitext.Sentence{&row.Source, &row.Target} {
		for _, text := range []string{s.Lang, s.Shard, s.Doc, s.URL, s.Identified} {
			to = appendText(to, text)
		}
		to = binary.AppendUvarint(to, uint64(s.Row))
		to = binary.AppendUvarint(to, s.Line)
		to = appendFloat(to, s.Share)
	}
	for _, value := range []float32{row.Score, row.Cosine, row.SourceMean, row.TargetMean} {
		to = appendFloat(to, value)
	}
	to = append(to, row.SourceRank, row.TargetRank)
	for _, value := range []*float32{row.Prob, row.RefineCosine} {
		if value == nil {
			to = append(to, 0)
		} else {
			to = appendFloat(append(to, 1), *value)
		}
	}
	to = binary.AppendUvarint(to, uint64(len(row.Features)))
	for _, value := range row.Features {
		to = appendFloat(to, value)
	}
	return appendAlignment(to, row.Alignment)
}

// appendAlignment begins with 0 for nil, 1 for an alignment and 2 for one with a bead.
func appendAlignment(to []byte, a *bitext.Alignment) []byte {
	if a == nil {
		return append(to, 0)
	}
	kind := byte(1)
	if a.Bead != nil {
		kind = 2
	}
	to = appendText(append(to, kind), a.FoundBy)
	for _, n := range a.Sentences {
		to = binary.AppendUvarint(to, uint64(n))
	}
	if a.Bead == nil {
		return to
	}
	for _, n := range a.Bead.First {
		to = binary.AppendUvarint(to, uint64(n))
	}
	return appendFloat(appendFloat(to, a.Bead.Score), a.Bead.DocScore)
}

func appendText(to []byte, text string) []byte {
	return append(binary.AppendUvarint(to, uint64(len(text))), text...)
}

func appendFloat(to []byte, value float32) []byte {
	return binary.LittleEndian.AppendUint32(to, math.Float32bits(value))
}

// record reads what appendRow wrote. This process wrote it, so it is not checked.
type record struct{ data []byte }

func (r *record) row() *bitext.Row {
	row := &bitext.Row{}
	row.Source.Text, row.Target.Text = r.text(), r.text()
	for _, s := range []*bitext.Sentence{&row.Source, &row.Target} {
		for _, text := range []*string{&s.Lang, &s.Shard, &s.Doc, &s.URL, &s.Identified} {
			*text = r.text()
		}
		s.Row, s.Line, s.Share = uint32(r.number()), r.number(), r.float()
	}
	for _, value := range []*float32{&row.Score, &row.Cosine, &row.SourceMean, &row.TargetMean} {
		*value = r.float()
	}
	row.SourceRank, row.TargetRank = r.byte(), r.byte()
	for _, value := range []**float32{&row.Prob, &row.RefineCosine} {
		if r.byte() == 1 {
			v := r.float()
			*value = &v
		}
	}
	if n := r.number(); n > 0 {
		row.Features = make([]float32, n)
		for i := range row.Features {
			row.Features[i] = r.float()
		}
	}
	row.Alignment = r.alignment()
	return row
}

func (r *record) alignment() *bitext.Alignment {
	kind := r.byte()
	if kind == 0 {
		return nil
	}
	a := &bitext.Alignment{FoundBy: r.text()}
	for side := range a.Sentences {
		a.Sentences[side] = uint32(r.number())
	}
	if kind == 2 {
		a.Bead = &bitext.Bead{First: [2]uint32{uint32(r.number()), uint32(r.number())}, Score: r.float(),
			DocScore: r.float()}
	}
	return a
}

func (r *record) byte() (b byte) {
	b, r.data = r.data[0], r.data[1:]
	return b
}

func (r *record) number() uint64 {
	v, n := binary.Uvarint(r.data)
	r.data = r.data[n:]
	return v
}

func (r *record) bytes() []byte {
	n := r.number()
	out := r.data[:n]
	r.data = r.data[n:]
	return out
}

func (r *record) text() string { return string(r.bytes()) }

func (r *record) float() float32 {
	v := math.Float32frombits(binary.LittleEndian.Uint32(r.data))
	r.data = r.data[4:]
	return v
}

// Found is a page of a scan's hits, by rows of the set.
type Found struct {
	Total int
	More  bool // there may be more than Total
	Hits  []Match
}

// Match is a row with what matched in its texts.
type Match struct {
	Row   int
	Texts [2]string
	Marks [2][]concordance.Span
}

// Scan looks for pairs by reading every text, for a bitext that has no index. Words are found wherever their letters
// stand, in other words too, and in any case; all of them on one side, and none that is left out on a searched one.
// Only kept pairs are looked at, as by an index.
func (s *Set) Scan(ctx context.Context, q concordance.Query) (*Found, error) {
	return s.scan(ctx, q, func(row int) bool { return s.entries[row].kept }, false)
}

// ranked is how many hits, the first of the bitext, ScanBest puts in another order.
const ranked = 2000

// ScanBest is Scan with the hits of the highest value first among those that stand first in the bitext, as an index has
// them.
func (s *Set) ScanBest(ctx context.Context, q concordance.Query) (*Found, error) {
	all := q
	all.Skip, all.Limit = 0, max(ranked, q.Skip+q.Limit)
	found, err := s.Scan(ctx, all)
	if err != nil {
		return nil, err
	}
	value := func(m Match) float32 { return s.entries[m.Row].value }
	slices.SortStableFunc(found.Hits[:min(ranked, len(found.Hits))], func(a, b Match) int { return cmp.Compare(value(b), value(a)) })
	found.Hits = found.Hits[min(q.Skip, len(found.Hits)):min(q.Skip+q.Limit, len(found.Hits))]
	return found, nil
}

// Marker finds what a query asks for in other texts of pairs, as Scan does: where its words stand on the sides on
// which all of them are. It finds no other spellings.
func Marker(q concordance.Query) (func(texts [2]string) (marks [2][]concordance.Span, found bool), error) {
	if q.Mode == concordance.Fuzzy {
		return func([2]string) (marks [2][]concordance.Span, found bool) { return marks, false }, nil
	}
	m, err := newMatcher(q)
	if err != nil {
		return nil, err
	}
	return func(texts [2]string) (marks [2][]concordance.Span, found bool) {
		for side, text := range texts {
			if !q.Sides[side] {
				continue
			}
			all, out := m.matches(text)
			if out {
				return [2][]concordance.Span{}, false
			}
			if all {
				marks[side], found = m.marks(text), true
			}
		}
		return marks, found
	}, nil
}

// scan reads the texts of the rows that are looked at; with rowsAlone hits have neither texts nor marks.
func (s *Set) scan(ctx context.Context, q concordance.Query, looked func(row int) bool, rowsAlone bool) (*Found, error) {
	m, err := newMatcher(q)
	if err != nil {
		return nil, err
	}
	found := &Found{}
	size := int64(0)
	if n := len(s.entries); n > 0 {
		size = s.entries[n-1].end
	}
	in := bufio.NewReaderSize(io.NewSectionReader(s.texts, 0, size), 1<<20)
	at := int64(0)
	var data []byte
	for row := range s.entries {
		if row%step == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		length := int(s.entries[row].end - at)
		at = s.entries[row].end
		if !looked(row) {
			if _, err := in.Discard(length); err != nil {
				return nil, fmt.Errorf("read the texts of %s from a temporary file: %w", s.Path, err)
			}
			continue
		}
		if cap(data) < length {
			data = make([]byte, 2*length)
		}
		if _, err := io.ReadFull(in, data[:length]); err != nil {
			return nil, fmt.Errorf("read the texts of %s from a temporary file: %w", s.Path, err)
		}
		m.see(found, row, data[:length], rowsAlone)
	}
	return found, nil
}

// matcher finds what a query asks for in texts.
type matcher struct {
	query   concordance.Query
	parts   []string         // all are in a text, folded; none for a regular expression
	without []string         // none is in a searched text of the pair, folded
	pattern []*regexp.Regexp // the same as parts, for marks
}

func newMatcher(q concordance.Query) (*matcher, error) {
	m := &matcher{query: q}
	switch q.Mode {
	case concordance.Regexp:
		pattern, err := regexp.Compile(q.Text)
		if err != nil {
			return nil, badinput.Errorf("the regular expression cannot be read: %w", err)
		}
		m.pattern = []*regexp.Regexp{pattern}
		return m, nil
	case concordance.Fuzzy:
		return nil, badinput.Errorf("other spellings need an index: mine search makes one, and this page uses it")
	}
	pieces, err := q.Pieces()
	if err != nil {
		return nil, err
	}
	for _, p := range pieces {
		text := concordance.PlainOf(p.Text).Text
		if p.Without {
			m.without = append(m.without, fold(text))
			continue
		}
		m.parts = append(m.parts, fold(text))
		m.pattern = append(m.pattern, regexp.MustCompile("(?i)"+anyI.ReplaceAllString(regexp.QuoteMeta(text), anyI.String())))
	}
	if len(m.parts) == 0 {
		return nil, badinput.Errorf("the query is empty: give words to look for")
	}
	return m, nil
}

// anyI is one letter for a search in any case: which of them is the capital of which depends on the language.
var anyI = regexp.MustCompile(`[iIİı]`)

// fold is a text in plain form in the lower case of every language.
func fold(text string) string { return strings.ReplaceAll(strings.ToLower(text), "ı", "i") }

// see looks at a record, and adds it to what was found.
func (m *matcher) see(found *Found, row int, record []byte, rowsAlone bool) {
	var texts [2]string
	for side := range texts {
		n, width := binary.Uvarint(record)
		texts[side], record = string(record[width:width+int(n)]), record[width+int(n):]
	}
	matched := [2]bool{}
	for side, text := range texts {
		if !m.query.Sides[side] {
			continue
		}
		var out bool
		if matched[side], out = m.matches(text); out {
			return
		}
	}
	if !matched[0] && !matched[1] {
		return
	}
	if found.Total++; found.Total <= m.query.Skip || len(found.Hits) >= m.query.Limit {
		return
	}
	if rowsAlone {
		found.Hits = append(found.Hits, Match{Row: row})
		return
	}
	hit := Match{Row: row, Texts: texts}
	for side, yes := range matched {
		if yes {
			hit.Marks[side] = m.marks(texts[side])
		}
	}
	found.Hits = append(found.Hits, hit)
}

// matches reports whether all parts are in a text, and whether it has what is left out.
func (m *matcher) matches(text string) (all, out bool) {
	if m.parts == nil {
		return m.pattern[0].MatchString(text), false
	}
	folded := fold(concordance.PlainOf(text).Text)
	has := func(part string) bool { return strings.Contains(folded, part) }
	lacks := func(part string) bool { return !has(part) }
	return !slices.ContainsFunc(m.parts, lacks), slices.ContainsFunc(m.without, has)
}

// marks are the places of all parts, in order, where they touch joined.
func (m *matcher) marks(text string) []concordance.Span {
	plain := concordance.Plain{Text: text}
	if m.parts != nil {
		plain = concordance.PlainOf(text)
	}
	marked := make([]bool, len(plain.Text)+1)
	for _, pattern := range m.pattern {
		for _, at := range pattern.FindAllStringIndex(plain.Text, -1) {
			for i := at[0]; i < at[1]; i++ {
				marked[i] = true
			}
		}
	}
	var spans []concordance.Span
	for i, yes := range marked {
		switch {
		case yes && (i == 0 || !marked[i-1]):
			spans = append(spans, concordance.Span{Start: i, End: i + 1})
		case yes:
			spans[len(spans)-1].End = i + 1
		}
	}
	return plain.Places(spans)
}
