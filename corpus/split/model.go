package split

import (
	_ "embed" // the weights
	"fmt"
	"iter"
	"sync"
	"unicode"
	"unicode/utf8"
)

//go:embed thai.weights
var thai []byte

// Thai is the model of Thai.
var Thai = sync.OnceValue(func() *SpaceModel {
	m, err := ParseSpaces(thai)
	if err != nil {
		panic(err) // the file is part of the program
	}
	return m
})

// SpaceModel has the weights of features. It is only read, so any number of goroutines may use it.
type SpaceModel struct {
	weights [buckets]int8
}

// ParseSpaces reads a model: a byte for each weight.
func ParseSpaces(data []byte) (*SpaceModel, error) {
	if len(data) != buckets {
		return nil, fmt.Errorf("weights of spaces: %d bytes instead of %d", len(data), buckets)
	}
	m := &SpaceModel{}
	for k, b := range data {
		m.weights[k] = int8(b)
	}
	return m, nil
}

// Ends reports whether the space text[from:to] ends a sentence. text is a paragraph.
func (m *SpaceModel) Ends(text string, from, to int) bool {
	var w spaceWindow
	var room [64]uint32
	w.look(text, from, to)
	sum := 0
	for _, k := range w.features(room[:0]) {
		sum += int(m.weights[k])
	}
	return sum > 0
}

// Spaces yields where runs of white space begin and end that have something before and after them.
func Spaces(text string) iter.Seq2[int, int] {
	return func(yield func(from, to int) bool) {
		text, from := trimRight(text), -1
		seen := false
		for at, r := range text {
			switch {
			case unicode.IsSpace(r):
				if from < 0 {
					from = at
				}
			default:
				if from >= 0 && seen && !yield(from, at) {
					return
				}
				from, seen = -1, true
			}
		}
	}
}

func trimRight(text string) string {
	for text != "" {
		r, width := utf8.DecodeLastRuneInString(text)
		if !unicode.IsSpace(r) {
			break
		}
		text = text[:len(text)-width]
	}
	return text
}
