package feature

import (
	"math"

	"bitextmine/corpus/surface"
	"bitextmine/internal/spill"
	"bitextmine/mine"
)

// The sides of a pair.
const (
	source = iota
	target
)

// pair holds the measurements of a candidate; arrays are by side.
type pair struct {
	cosine float32
	// Mean cosines of both neighbourhoods, those without the candidate, and the best other cosine.
	means, others, rivals [2]float32
	tokens                [2]covered
	shorter               float32 // log of one more than the tokens of the shorter sentence
	length                float32
	numbers               struct{ differ, shared, any, conflict float32 }
	names                 [2]namesFound
	punctuation, negation float32
}

func (p *pair) coverage() float32 { return (p.tokens[source].mean + p.tokens[target].mean) / 2 }
func (p *pair) cubes() float32    { return (p.tokens[source].cubes + p.tokens[target].cubes) / 2 }
func (p *pair) mutual() float32   { return (p.tokens[source].mutual + p.tokens[target].mutual) / 2 }

// namesMissing is the lower of the two sides' mean over their names, of those that have names.
func (p *pair) namesMissing() float32 {
	lowest := float32(0)
	for i, side := range p.names {
		if side.all > 0 && (i == source || p.names[source].all == 0 || side.mean() < lowest) {
			lowest = side.mean()
		}
	}
	return lowest
}

// compareVectors measures the vectors.
func (p *pair) compareVectors(l *mine.Lists, c *mine.Candidate) {
	p.cosine, p.means = c.Cosine, [2]float32{c.SourceMean, c.TargetMean}
	p.others[source], p.rivals[source] = mine.Others(l.Source, l.K, c.Source, c.SourceRank)
	p.others[target], p.rivals[target] = mine.Others(l.Target, l.K, c.Target, c.TargetRank)
}

// compareSurface measures the two texts. length is the log of the ratio of the corpora's mean lengths.
func (p *pair) compareSurface(a, b *surface.Features, length float64) {
	p.length = float32(math.Abs(math.Log(float64(b.Length+5)/float64(a.Length+5)) - length))
	p.compareNumbers(a, b)
	differences := 0
	for i := range a.Marks {
		differences += min(2, max(int(a.Marks[i])-int(b.Marks[i]), int(b.Marks[i])-int(a.Marks[i])))
	}
	p.punctuation = float32(differences)
	if a.Negation != b.Negation && a.Negation != surface.Unknown && b.Negation != surface.Unknown {
		p.negation = 1
	}
}

// shortTokens is the number of tokens up to which a number or a name in place of another counts in full. Among twice as
// many there are twice as many that may be in conflict by chance.
const shortTokens = 16

// shortness is what a conflict counts: 1, and less in a pair whose shorter sentence has many tokens.
func (p *pair) shortness() float32 {
	tokens := math.Exp(float64(p.shorter)) - 1
	return float32(math.Sqrt(shortTokens / max(shortTokens, tokens)))
}

// compareNumbers measures the numbers.
func (p *pair) compareNumbers(a, b *surface.Features) {
	if len(a.Numbers)+len(b.Numbers) == 0 {
		return
	}
	onlyA, onlyB := surface.UnpairedDecades(surface.UnpairedNumbers(a.Numbers, b.Numbers))
	shared := len(a.Numbers) - len(onlyA)
	onlyA, onlyB = surface.WithoutMonths(onlyA), surface.WithoutMonths(onlyB)
	p.numbers.differ = float32(inDigits(onlyA) + inDigits(onlyB))
	p.numbers.shared, p.numbers.any = float32(shared)/float32(max(1, len(onlyA)+len(onlyB)+shared)), 1
	// A number whose value is not read may be the other sentence's.
	p.numbers.conflict = float32(max(0, min(len(onlyA)-int(b.Numerals), len(onlyB)-int(a.Numerals))))
}

func inDigits(numbers []surface.Number) (n int) {
	for _, number := range numbers {
		if !number.Word {
			n++
		}
	}
	return n
}

// Values are the features of candidates, [n, Count], one row each.
type Values []float32

// Of returns candidate i's values.
func (v Values) Of(i int) []float32 { return v[i*Count:][:Count:Count] }

// Len returns n.
func (v Values) Len() int { return len(v) / Count }

// Table is the features of candidates, which may be in files: one after the other, if there are several.
type Table struct{ rows []*spill.Table[float32] }

func newTable(space spill.Space, n int) (*Table, error) {
	rows, err := spill.NewTable[float32](space, n, Count)
	return &Table{rows: []*spill.Table[float32]{rows}}, err
}

// TableOf returns a table in memory.
func TableOf(values Values) *Table {
	return &Table{rows: []*spill.Table[float32]{spill.TableOf(values, Count)}}
}

// Len is the number of candidates.
func (t *Table) Len() (n int) {
	for _, rows := range t.rows {
		n += rows.Len()
	}
	return n
}

// Of returns candidate i's values.
func (t *Table) Of(i int) (Values, error) {
	v := make(Values, Count)
	return v, t.read(i, v)
}

// All returns all values.
func (t *Table) All() (Values, error) {
	all := make(Values, t.Len()*Count)
	return all, t.read(0, all)
}

// Each calls do with the values of every candidate, in order. They must not be kept.
func (t *Table) Each(do func(i int, values []float32)) error { return t.Range(0, t.Len(), do) }

// Range is Each of the candidates from lo to hi-1. Several goroutines may call it.
func (t *Table) Range(lo, hi int, do func(i int, values []float32)) error {
	block := make(Values, candidateBlock*Count)
	for ; lo < hi; lo += candidateBlock {
		n := min(candidateBlock, hi-lo)
		if err := t.read(lo, block[:n*Count]); err != nil {
			return err
		}
		for i := range n {
			do(lo+i, block.Of(i))
		}
	}
	return nil
}

// write replaces rows of a table that is not of several files.
func (t *Table) write(first int, values Values) error { return t.rows[0].Write(first, values) }

// read reads rows from first on.
func (t *Table) read(first int, values Values) error {
	for _, rows := range t.rows {
		if first >= rows.Len() {
			first -= rows.Len()
			continue
		}
		n := min(values.Len(), rows.Len()-first)
		if err := rows.Read(first, values[:n*Count]); err != nil {
			return err
		}
		first, values = 0, values[n*Count:]
		if len(values) == 0 {
			break
		}
	}
	return nil
}
