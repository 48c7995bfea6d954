package pairs

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"regexp"
	"strings"

	"bitextmine/bitext/concordance"
	"bitextmine/internal/badinput"
)

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
// stand, in other words too, and in any case; all of them on one side. Only kept pairs are looked at, as by an index.
func (s *Set) Scan(ctx context.Context, q concordance.Query) (*Found, error) {
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
		if !s.entries[row].kept {
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
		m.see(found, row, data[:length])
	}
	return found, nil
}

// matcher finds what a query asks for in texts.
type matcher struct {
	query   concordance.Query
	parts   [][]byte         // all are in a text, in lower case; none for a regular expression
	pattern []*regexp.Regexp // the same parts, for marks
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
	case concordance.Phrase:
		m.add(strings.Join(strings.Fields(q.Text), " "))
	default:
		for _, word := range strings.Fields(q.Text) {
			m.add(word)
		}
	}
	if len(m.parts) == 0 {
		return nil, badinput.Errorf("the query is empty: give words to look for")
	}
	return m, nil
}

func (m *matcher) add(part string) {
	m.parts = append(m.parts, []byte(strings.ToLower(part)))
	m.pattern = append(m.pattern, regexp.MustCompile("(?i)"+regexp.QuoteMeta(part)))
}

// see looks at a record, and adds it to what was found.
func (m *matcher) see(found *Found, row int, record []byte) {
	var texts [2][]byte
	for side := range texts {
		n, width := binary.Uvarint(record)
		texts[side], record = record[width:width+int(n)], record[width+int(n):]
	}
	matched := [2]bool{}
	for side, text := range texts {
		matched[side] = m.query.Sides[side] && m.matches(text)
	}
	if !matched[0] && !matched[1] {
		return
	}
	if found.Total++; found.Total <= m.query.Skip || len(found.Hits) >= m.query.Limit {
		return
	}
	hit := Match{Row: row, Texts: [2]string{string(texts[0]), string(texts[1])}}
	for side, yes := range matched {
		if yes {
			hit.Marks[side] = m.marks(texts[side])
		}
	}
	found.Hits = append(found.Hits, hit)
}

func (m *matcher) matches(text []byte) bool {
	if m.parts == nil {
		return m.pattern[0].Match(text)
	}
	folded := bytes.ToLower(text)
	for _, part := range m.parts {
		if !bytes.Contains(folded, part) {
			return false
		}
	}
	return true
}

// marks are the places of all parts, in order, where they touch joined.
func (m *matcher) marks(text []byte) []concordance.Span {
	marked := make([]bool, len(text)+1)
	for _, pattern := range m.pattern {
		for _, at := range pattern.FindAllIndex(text, -1) {
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
	return spans
}
