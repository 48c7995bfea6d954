package pairdocs

import (
	"bytes"
	"testing"

	"bitextmine/internal/spill"
)

// sections is a file of sections.
func sections(t testing.TB, of ...[]byte) []byte {
	t.Helper()
	var file bytes.Buffer
	for _, section := range of {
		if err := spill.WriteSection(&file, section); err != nil {
			t.Fatal(err)
		}
	}
	return file.Bytes()
}

// What is no file of documents is refused, and of what is one each document can be read.
func FuzzDocuments(f *testing.F) {
	const dim = 2
	good := sections(f, spill.Bytes([]meansHeader{{meansMagic, 2, dim, 5}}), spill.Bytes([]uint64{2, 5}),
		make([]byte, 2*digestSize), make([]byte, 2*dim*4), make([]byte, 5*rowSize))
	if d, ok := decodeDocuments(good, dim); !ok || len(d.rowsOf(0)) != 2 || len(d.rowsOf(1)) != 3 {
		f.Fatal("a file of two documents is refused")
	}
	f.Add(good)
	f.Add(sections(f, spill.Bytes([]meansHeader{{meansMagic, 2, dim, 5}}), spill.Bytes([]uint64{5, 2}),
		make([]byte, 2*digestSize), make([]byte, 2*dim*4), make([]byte, 5*rowSize)))
	f.Fuzz(func(t *testing.T, data []byte) {
		d, ok := decodeDocuments(data, dim)
		if !ok {
			return
		}
		for i := range d.ends {
			if d.rowsOf(i); len(d.digests) != len(d.ends) || len(d.means) != dim*len(d.ends) {
				t.Fatalf("%d documents, %d digests, %d values of means", len(d.ends), len(d.digests), len(d.means))
			}
		}
	})
}

// What is no file of candidates is refused, and of what is one each candidate is two of the documents.
func FuzzCandidates(f *testing.F) {
	file := func(pairs ...[2]int32) []byte {
		return sections(f, spill.Bytes([]candidatesHeader{{candidatesMagic, [2]uint64{2, 1}, uint64(len(pairs))}}),
			spill.Bytes([]place{{0, 0}, {1, 0}}), spill.Bytes([]place{{0, 0}}), spill.Bytes(pairs))
	}
	if c, ok := decodeCandidates(file([2]int32{0, 0}, [2]int32{1, 0})); !ok || len(c.pairs) != 2 {
		f.Fatal("a file of two candidates is refused")
	}
	for name, pairs := range map[string][2][2]int32{"descending": {{1, 0}, {0, 0}}, "beyond": {{0, 0}, {1, 1}}, "negative": {{0, -1}, {1, 0}}} {
		if _, ok := decodeCandidates(file(pairs[:]...)); ok {
			f.Errorf("%s candidates are taken", name)
		}
		f.Add(file(pairs[:]...))
	}
	f.Add(file([2]int32{0, 0}, [2]int32{1, 0}))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, ok := decodeCandidates(data)
		if !ok {
			return
		}
		for _, pair := range c.pairs {
			_, _ = c.places[0][pair[0]], c.places[1][pair[1]]
		}
		if from, to := c.of(0); from > to || to > len(c.pairs) {
			t.Errorf("candidates %d to %d of %d", from, to, len(c.pairs))
		}
	})
}

// What is no file of cosines is refused, and of what is one the cosines of each candidate can be read.
func FuzzCosines(f *testing.F) {
	whole := &cosines{
		sources: [][digestSize]byte{{1}, {2}}, firsts: []uint64{0, 1}, targets: [][digestSize]byte{{3}, {4}, {5}}, ends: []uint64{2, 3, 5},
	}
	var file bytes.Buffer
	if err := whole.write(&file); err != nil {
		f.Fatal(err)
	}
	good := append(file.Bytes(), sections(f, spill.Bytes([]float32{1, 2, 3, 4, 5}))...)
	if c, ok := decodeCosines(good); !ok || len(c.find([digestSize]byte{2}, [digestSize]byte{5})) != 2 {
		f.Fatal("a file of three candidates is refused")
	}
	f.Add(good)
	f.Fuzz(func(t *testing.T, data []byte) {
		c, ok := decodeCosines(data)
		if !ok {
			return
		}
		for k := range c.ends {
			c.of(k)
		}
		for _, source := range c.sources {
			for _, target := range c.targets {
				c.find(source, target)
			}
		}
	})
}
