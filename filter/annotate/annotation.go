// Package annotate describes pairs of sentences by numbers on which a filter decides. It decides nothing itself.
//
// An annotation is one value: the name, type and documented range of a column, what it means, and a function of a
// pair. All lists them. A Reader reads a pair once, and all annotations are computed from what it found. Some need
// to know the whole bitext (how long translations usually are, how often a sentence stands in it): they are computed
// from Known, which a first pass over the bitext gives. NaN means that a value is unknown, for instance the script
// of a language that was not named; it becomes a null.
//
// The width of a text is its length in characters that are comparable between scripts: a Chinese character or a kana
// counts as three letters, a Hangul syllable as two.
//
// # The survey
//
// A survey learns what annotations must know of the whole bitext, in one pass over it and in memory that does
// not grow with it: how long translations usually are (Lengths), how often each side stands in it, and which pairs
// are near-duplicates of an earlier one (Survey).
//
// Near-duplicates. Two pairs are the same if their letters, digits and symbols are, apart from case and accents. They
// are nearly the same if their MinHash signatures agree in two of eight bands of five values each (Broder, "On the
// resemblance and containment of documents", 1997): signatures are of the four-letter sequences of both sides, digits
// counting as equal. Pairs that share 0.9 of their sequences are found with a probability of 0.99, such as share 0.5
// with one of 0.02. A pair's group is named by the first row that it agrees with.
//
// Counting. Each pair gives a few hashes with its row. They are spread over files by hash, each file is counted, and
// what occurs more than once is spread over files by row, to be read in the order of the rows.
package annotate

import (
	"math"
	"slices"
)

// Type is the type of an annotation's column.
type Type uint8

// The types.
const (
	Float Type = iota // float32
	Count             // uint32
	Row               // uint64, the number of a row from 1
	Name              // utf8
)

func (t Type) String() string { return [...]string{"float32", "uint32", "uint64", "utf8"}[t] }

// Annotation is a column. Value computes it; a value outside the range is set to its nearer end. An annotation of type
// Name has Text instead, and its meaning tells its range.
type Annotation struct {
	Name      string
	Type      Type
	Low, High float64
	Meaning   string
	Value     func(p *Pair) float64
	Text      func(p *Pair) string // "" is unknown
}

func value(name string, t Type, low, high float64, meaning string, of func(p *Pair) float64) Annotation {
	return Annotation{Name: name, Type: t, Low: low, High: high, Meaning: meaning, Value: of}
}

func name(name, meaning string, of func(p *Pair) string) Annotation {
	return Annotation{Name: name, Type: Name, Meaning: meaning, Text: of}
}

// Version is raised when an annotation is added or computed otherwise. Annotated files carry it.
const Version = 5

// unlimited is the end of the range of counts.
const unlimited = 1 << 24

// All lists every annotation in the order of the columns.
var All = slices.Concat(lengths, copies, numbers, links, markup, characters, endings, words, languages, whole)

// Of computes the value of an annotation. NaN is unknown, and so is one of type Name.
func (a *Annotation) Of(p *Pair) float64 {
	if a.Value == nil {
		return unknown
	}
	v := a.Value(p)
	if math.IsNaN(v) {
		return v
	}
	return max(a.Low, min(a.High, v))
}

// Names lists the annotations' names in order.
func Names() []string {
	names := make([]string, len(All))
	for i, a := range All {
		names[i] = a.Name
	}
	return names
}

// unknown is the value that becomes a null.
var unknown = math.NaN()

func truth(is bool) float64 {
	if is {
		return 1
	}
	return 0
}
