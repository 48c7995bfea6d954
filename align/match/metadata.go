package match

import (
	"math"
	"regexp"
	"strings"
	"time"
)

// kind is the type of a parsed metadata value.
type kind int

const (
	missing kind = iota
	text
	number
	date
)

// value is a parsed metadata field of a document.
type value struct {
	kind kind
	form string // equal for equal values
	day  int64  // days, for a date
}

// far is the number of days from which on two dates speak against a pair as much as two different numbers do.
const far = 7

// dateForms lists the formats of ISO 8601, of RSS and HTTP, and of days with full stops. Dates with slashes are
// ambiguous: either the day or the month may come first.
var dateForms = []string{
	time.RFC3339, "2006-01-02", "2006-01-02T15:04:05", "2006-01-02T15:04", "2006-01-02 15:04:05", "2006-01-02 15:04",
	"2006-01-02 15:04:05Z07:00", "2006-01-02T15:04:05Z0700", "2006/01/02", "2.1.2006", time.RFC1123, time.RFC1123Z,
}

// numberForm is the sign, the whole part and the fraction of a number.
var numberForm = regexp.MustCompile(`^([+-]?)0*(\d+?)(?:\.(\d*?)0*)?$`)

// parse reads a value: a date by its day as it is written, a number, or text regardless of case.
func parse(s string) value {
	if s = strings.TrimSpace(s); s == "" {
		return value{}
	}
	for _, form := range dateForms {
		if t, err := time.Parse(form, s); err == nil {
			year, month, day := t.Date()
			n := time.Date(year, month, day, 0, 0, 0, 0, time.UTC).Unix() / (24 * 60 * 60)
			return value{date, t.Format("2006-01-02"), n}
		}
	}
	if part := numberForm.FindStringSubmatch(s); part != nil {
		return value{kind: number, form: strings.TrimPrefix(part[1], "+") + part[2] + "." + part[3]}
	}
	return value{kind: text, form: strings.ToLower(s)}
}

// metadata compares documents field by field.
type metadata struct {
	values [2][][]value // value by side, document and field
	counts [2][]map[value]int
}

func newMetadata(sides [2][]Document) *metadata {
	m := &metadata{}
	for side, documents := range sides {
		for _, d := range documents {
			values := make([]value, len(d.Metadata))
			for f, s := range d.Metadata {
				if f == len(m.counts[side]) {
					m.counts[side] = append(m.counts[side], map[value]int{})
				}
				values[f] = parse(s)
				m.counts[side][f][values[f]]++
			}
			m.values[side] = append(m.values[side], values)
		}
	}
	return m
}

// fields is the number of them.
func (m *metadata) fields() int { return min(len(m.counts[0]), len(m.counts[1])) }

// agreement compares two documents' values of a field, from 1 to -1. Equal values speak for a pair, the more the fewer
// documents of a side have that value. Different numbers speak against it; dates do so the more the further they are
// apart. Different texts count as 0, because they may be translations, and so does a missing value.
func (m *metadata) agreement(c [2]int32, field int) float64 {
	a, b := m.values[0][c[0]][field], m.values[1][c[1]][field]
	switch {
	case a.kind == missing || b.kind == missing:
		return 0
	case a == b:
		return min(m.rarity(0, field, a), m.rarity(1, field, b))
	case a.kind == date && b.kind == date:
		return -math.Min(math.Abs(float64(a.day-b.day)), far) / far
	case a.kind == number && b.kind == number:
		return -1
	}
	return 0
}

// rarity is 1 for a value that one document has, 0 for one that all have, and falls with the logarithm of the number.
func (m *metadata) rarity(side, field int, v value) float64 {
	all := len(m.values[side])
	if all == 1 {
		return 1
	}
	return 1 - math.Log(float64(m.counts[side][field][v]))/math.Log(float64(all))
}

// sum is the agreement of all fields.
func (m *metadata) sum(c [2]int32) (sum float64) {
	for field := range m.fields() {
		sum += m.agreement(c, field)
	}
	return sum
}

// candidates are the pairs of documents that have a value in common which at most k documents of either side have.
func (m *metadata) candidates(k int) (all [][2]int32) {
	for field := range m.fields() {
		by := map[value][]int32{}
		for i, values := range m.values[0] {
			v := values[field]
			if v.kind != missing && m.counts[0][field][v] <= k && m.counts[1][field][v] <= k {
				by[v] = append(by[v], int32(i))
			}
		}
		for j, values := range m.values[1] {
			for _, i := range by[values[field]] {
				all = append(all, [2]int32{i, int32(j)})
			}
		}
	}
	return all
}

// FieldCounts say how often the pairs that were found agree in a field of metadata.
type FieldCounts struct {
	Equal     int `json:"equal"`
	Different int `json:"different"`
	Missing   int `json:"missing"` // pairs without a value on one side or both
}

// CountFields counts, by field, how often the metadata of pairs agrees.
func CountFields(documents [2][]Document, pairs []Pair) []FieldCounts {
	m := newMetadata(documents)
	counts := make([]FieldCounts, m.fields())
	for _, p := range pairs {
		for field := range counts {
			a, b := m.values[0][p.Source][field], m.values[1][p.Target][field]
			switch {
			case a.kind == missing || b.kind == missing:
				counts[field].Missing++
			case a == b:
				counts[field].Equal++
			default:
				counts[field].Different++
			}
		}
	}
	return counts
}
