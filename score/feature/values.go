package feature

import (
	"bitextmine/internal/spill"
)

// Values are the features of candidates, [n, Count], one row each.
type Values []float32

// Of returns candidate i's values.
func (v Values) Of(i int) []float32 { return v[i*Count:][:Count:Count] }

// Len returns n.
func (v Values) Len() int { return len(v) / Count }

// Table is the features of candidates, which may be in a file.
type Table struct{ rows *spill.Table[float32] }

func newTable(space spill.Space, n int) (*Table, error) {
	rows, err := spill.NewTable[float32](space, n, Count)
	return &Table{rows}, err
}

// TableOf returns a table in memory.
func TableOf(values Values) *Table {
	t, err := newTable(spill.Space{}, values.Len())
	if err == nil {
		err = t.write(0, values)
	}
	if err != nil {
		panic(err) // only files fail
	}
	return t
}

// Len is the number of candidates.
func (t *Table) Len() int { return t.rows.Len() }

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
func (t *Table) Each(do func(i int, values []float32)) error {
	block := make(Values, candidateBlock*Count)
	for lo := 0; lo < t.Len(); lo += candidateBlock {
		n := min(candidateBlock, t.Len()-lo)
		if err := t.read(lo, block[:n*Count]); err != nil {
			return err
		}
		for i := range n {
			do(lo+i, block.Of(i))
		}
	}
	return nil
}

func (t *Table) write(first int, values Values) error { return t.rows.Write(first, values) }
func (t *Table) read(first int, values Values) error  { return t.rows.Read(first, values) }

// Close frees the table.
func (t *Table) Close() error { return t.rows.Close() }
