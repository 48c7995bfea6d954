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

// Annotation is a column. Value computes it; what is outside the range is set to its nearer end. An annotation of type
// Name has Text instead, and its range is what the meaning says.
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
const Version = 1

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
