package split

import (
	"flag"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

// How the weights are found: rounds of labelling and fitting. Lengths of sentences in characters are log-normal around
// typical with the deviation spread; in the first round, which knows the ends of paragraphs only, a space counts as an
// end from the logit first up. All were chosen on FLORES dev.
const (
	rounds, epochs = 4, 2
	rate           = 0.1 // learning rate of Adagrad
	typical        = 90
	spread         = 0.6
	first          = -2.5
	longest        = 900 // characters of a sentence, unless it has no space
)

// document is a text of paragraphs, by its spaces.
type spaceDocument struct {
	places   []int32  // characters of the text before each space's end, then all
	known    []bool   // the space ends a paragraph
	features []uint32 // features of each space, the same number for each
}

// each is the number of features of a space.
func (d *spaceDocument) each() int { return len(d.features) / max(1, len(d.known)) }

func (d *spaceDocument) of(space int) []uint32 { return d.features[space*d.each():][:d.each()] }

// newDocument joins paragraphs with spaces.
func newDocument(paragraphs []string) spaceDocument {
	ends, at := map[int]bool{}, 0
	for _, p := range paragraphs {
		at += len(p)
		ends[at] = true
		at++
	}
	text := strings.Join(paragraphs, " ")
	var d spaceDocument
	var w spaceWindow
	last, count := 0, 0
	for from, to := range Spaces(text) {
		count += utf8.RuneCountInString(text[last:to])
		last = to
		d.places = append(d.places, int32(count))
		d.known = append(d.known, ends[from])
		w.look(text, from, to)
		d.features = w.features(d.features)
	}
	d.places = append(d.places, int32(count+utf8.RuneCountInString(text[last:])))
	return d
}

// fitter has the weights of a logistic regression and the sums of their squared gradients.
type fitter struct {
	weights, squares [buckets]float32
}

// fitSpaces finds the weights for documents of paragraphs. At first the ends of paragraphs are taken for the only ends
// of sentences. Then each document is divided by the weights and the usual length of a sentence, and the weights are
// found again by that.
func fitSpaces(documents [][]string, report func(round, spaces, ends int)) *SpaceModel {
	made := make([]spaceDocument, len(documents))
	for k, paragraphs := range documents {
		made[k] = newDocument(paragraphs)
	}
	var f *fitter
	for round := range rounds {
		var all examples
		for k := range made {
			ends := made[k].known
			if round > 0 {
				bias := 0.0
				if round == 1 {
					bias = first
				}
				ends = f.divide(&made[k], bias)
			}
			all.add(&made[k], ends)
		}
		f = &fitter{}
		random := uint64(1)
		for range epochs {
			f.epoch(&all, &random)
		}
		report(round, len(all.of), all.ends)
	}
	return quantised(f.weights[:])
}

// examples are spaces with what they are said to be.
type examples struct {
	of   []example
	ends int
}

type example struct {
	features []uint32
	end      bool
}

// add takes all spaces that end a sentence, and every second one of the others.
func (e *examples) add(d *spaceDocument, ends []bool) {
	for k, end := range ends {
		if end {
			e.ends++
		}
		if end || k%2 == 0 {
			e.of = append(e.of, example{d.of(k), end})
		}
	}
}

// epoch goes once through the examples in a random order (Fisher and Yates with xorshift).
func (f *fitter) epoch(e *examples, random *uint64) {
	for i := len(e.of) - 1; i > 0; i-- {
		*random ^= *random << 13
		*random ^= *random >> 7
		*random ^= *random << 17
		j := int(*random % uint64(i+1))
		e.of[i], e.of[j] = e.of[j], e.of[i]
	}
	for _, x := range e.of {
		slope := float32(1 / (1 + math.Exp(-float64(f.sum(x.features)))))
		if x.end {
			slope--
		}
		for _, k := range x.features {
			f.squares[k] += slope * slope
			f.weights[k] -= rate * slope / float32(math.Sqrt(float64(f.squares[k]))+1e-6)
		}
	}
}

func (f *fitter) sum(features []uint32) (sum float32) {
	for _, k := range features {
		sum += f.weights[k]
	}
	return sum
}

// divide finds the ends with the greatest sum of their logits, less a bias, and of the sentences' log-likelihoods by
// length. Ends of paragraphs are ends.
func (f *fitter) divide(d *spaceDocument, bias float64) []bool {
	n := len(d.known)
	best, from := make([]float64, n+1), make([]int, n+1) // best way to each space; the last is the end of the text
	for j := range best {
		gain := 0.0
		if j < n {
			if gain = float64(f.sum(d.of(j))) - bias; d.known[j] {
				gain = 1e6
			}
		}
		best[j], from[j] = math.Inf(-1), -1
		for i := j - 1; i >= -1; i-- {
			length, way := float64(d.places[j]), 0.0
			if i >= 0 {
				length, way = float64(d.places[j]-d.places[i]), best[i]
			}
			if length > longest && i < j-1 {
				break
			}
			z := math.Log(length/typical) / spread
			if way += gain - z*z; way > best[j] {
				best[j], from[j] = way, i
			}
		}
	}
	ends := make([]bool, n)
	for j := from[n]; j >= 0; j = from[j] {
		ends[j] = true
	}
	return ends
}

// quantile is the value that a share of the absolute values is below.
func quantile(values []float32, share float64) float32 {
	all := make([]float32, len(values))
	for k, v := range values {
		all[k] = float32(math.Abs(float64(v)))
	}
	slices.Sort(all)
	return all[int(share*float64(len(all)-1))]
}

// quantised rounds weights to bytes. The greatest bytes are for the 1 in 1,000 weights that are furthest from 0, which
// are cut there.
func quantised(weights []float32) *SpaceModel {
	most := quantile(weights, 0.999)
	m := &SpaceModel{}
	for k, w := range weights {
		m.weights[k] = int8(math.Round(float64(max(-1, min(1, w/most))) * math.MaxInt8))
	}
	return m
}

// Bytes encodes the model for ParseSpaces.
func (m *SpaceModel) Bytes() []byte {
	data := make([]byte, buckets)
	for k, w := range m.weights {
		data[k] = byte(w)
	}
	return data
}

var thaiGov = flag.String("thai", "", "a folder of the ThaiGov V2 corpus: fit thai.weights to it")

const (
	// every selects one file of this many.
	every = 4
	// shortest is how many characters a paragraph must have, and thaiShare what share of them must be Thai: what is left
	// out are headings, dates and addresses.
	shortest, thaiShare = 40, 0.6
)

// TestFitThai writes thai.weights if -thai names the corpus; scripts/thai-spaces runs it.
func TestFitThai(t *testing.T) {
	if *thaiGov == "" {
		t.Skip("there is no ThaiGov V2 corpus: -thai names its folder")
	}
	var documents [][]string
	files, seen := 0, map[string]bool{}
	err := filepath.WalkDir(*thaiGov, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || filepath.Ext(path) != ".txt" {
			return err
		}
		if files++; files%every != 0 {
			return nil
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if paragraphs := readThai(string(data), seen); len(paragraphs) > 1 {
			documents = append(documents, paragraphs)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d of %d files", len(documents), files)
	model := fitSpaces(documents, func(round, spaces, ends int) {
		t.Logf("round %d: %d spaces, %d ends of sentences", round, spaces, ends)
	})
	if err := os.WriteFile("thai.weights", model.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

// readThai returns the paragraphs of a file that no file before it had. The first line is a title.
func readThai(text string, seen map[string]bool) (paragraphs []string) {
	_, text, _ = strings.Cut(text, "\n")
	for line := range strings.Lines(text) {
		line = strings.Join(strings.FieldsFunc(line,
			func(r rune) bool { return unicode.IsSpace(r) || r == '\u200b' || r == '\ufeff' }), " ")
		letters := 0
		for _, r := range line {
			if unicode.Is(unicode.Thai, r) {
				letters++
			}
		}
		length := utf8.RuneCountInString(line)
		if length < shortest || float64(letters) < thaiShare*float64(length) || strings.HasPrefix(line, "ที่มา :") ||
			seen[line] {
			continue
		}
		seen[line] = true
		paragraphs = append(paragraphs, line)
	}
	return paragraphs
}
