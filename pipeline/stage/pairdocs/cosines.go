package pairdocs

import (
	"context"
	"errors"
	"io"

	"bitextmine/align/match"
	"bitextmine/internal/spill"
	"bitextmine/pipeline/view"
)

const (
	cosinesFile  = "cosines"
	cosinesMagic = 0x534e49534f434f44 // "DOCOSINS"
)

// cosinesHeader is the beginning of a file of cosines.
type cosinesHeader struct{ magic, sources, candidates, values uint64 }

// cosines are the best cosines of the candidates of a source shard's documents.
type cosines struct {
	sources [][digestSize]byte // digests of the documents that have candidates
	firsts  []uint64           // place of the first candidate of each
	targets [][digestSize]byte // digest of each candidate's target document
	ends    []uint64           // end of each candidate's values: the source's and the target's
	values  []float32
	at      map[[digestSize]byte]int // places among sources
	mapping
}

// openCosines maps a file of cosines.
func openCosines(path string) (*cosines, error) { return opened(path, decodeCosines) }

// decodeCosines reads a file of cosines, whose memory they share, and says whether it is one.
func decodeCosines(data []byte) (*cosines, bool) {
	c, in := &cosines{mapping: mapping{data}}, spill.Sections{Rest: data}
	h := spill.TakeOne[cosinesHeader](&in)
	c.sources, c.firsts = spill.Take[[digestSize]byte](&in, h.sources), spill.Take[uint64](&in, h.sources)
	c.targets, c.ends = spill.Take[[digestSize]byte](&in, h.candidates), spill.Take[uint64](&in, h.candidates)
	c.values = spill.Take[float32](&in, h.values)
	if h.magic != cosinesMagic || in.Short || h.candidates > 0 && c.ends[h.candidates-1] != h.values {
		return c, false
	}
	return c, ascendTo(c.firsts, h.candidates) && ascendTo(c.ends, h.values)
}

// of are the values of a candidate.
func (c *cosines) of(k int) []float32 { return c.values[beginOf(c.ends, k):c.ends[k]] }

// find returns the values of two documents; nil: there are none.
func (c *cosines) find(source, target [digestSize]byte) []float32 {
	if c.at == nil {
		c.at = make(map[[digestSize]byte]int, len(c.sources))
		for i, digest := range c.sources {
			c.at[digest] = i
		}
	}
	i, known := c.at[source]
	if !known {
		return nil
	}
	last := uint64(len(c.targets))
	if i+1 < len(c.firsts) {
		last = c.firsts[i+1]
	}
	for k := c.firsts[i]; k < last; k++ {
		if c.targets[k] == target {
			return c.of(int(k))
		}
	}
	return nil
}

// eachCosines calls do with the best cosines of all candidates of a pair of languages.
func eachCosines(ctx context.Context, f *view.Files, pair int, all *candidates, documents [2][]match.Document, do func(k int, found match.Bests)) error {
	k := 0
	for _, key := range f.Plan.Pairs[pair].Compared {
		out, err := f.Output(ctx, Compare.Name, key)
		if err != nil {
			return err
		}
		path := out.Path(cosinesFile)
		c, err := openCosines(path)
		if err != nil {
			return err
		}
		for at := range c.ends {
			var n [2]int
			if k < len(all.pairs) {
				n = match.Compared(documents[0][all.pairs[k][0]].Count, documents[1][all.pairs[k][1]].Count)
			}
			values := c.of(at)
			if len(values) == 0 || len(values) != n[0]+n[1] {
				return errors.Join(damaged(path), c.close())
			}
			do(k, match.Bests{values[:n[0]], values[n[0]:]})
			k++
		}
		if err := errors.Join(c.close(), ctx.Err()); err != nil {
			return err
		}
	}
	if k != len(all.pairs) {
		return errors.New("the cosines of candidates are not those of all candidates; run again")
	}
	return nil
}

// write writes the beginning of a file of cosines, which the values follow.
func (c *cosines) write(out io.Writer) error {
	values := uint64(0)
	if n := len(c.ends); n > 0 {
		values = c.ends[n-1]
	}
	header := []cosinesHeader{{cosinesMagic, uint64(len(c.sources)), uint64(len(c.targets)), values}}
	for _, section := range [][]byte{
		spill.Bytes(header), spill.Bytes(c.sources), spill.Bytes(c.firsts), spill.Bytes(c.targets), spill.Bytes(c.ends),
	} {
		if err := spill.WriteSection(out, section); err != nil {
			return err
		}
	}
	return nil
}
