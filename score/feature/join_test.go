package feature

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"bitextmine/corpus/surface"
	"bitextmine/internal/spill"
	"bitextmine/mine"
)

// dealt are sentences dealt to the rows of shards: some stand in several of them.
type dealt struct {
	sentences []Sentence
	shards    [][]int32 // sentence of each row
	first     [][2]int  // first shard and row of each sentence
}

func deal(rng *rand.Rand, n, shards int) *dealt {
	d := &dealt{sentences: make([]Sentence, n), shards: make([][]int32, shards), first: make([][2]int, n)}
	for i := range d.sentences {
		one := &d.sentences[i]
		one.Surface.Length = int32(rng.IntN(90))
		for range rng.IntN(3) {
			one.Surface.Capitals = append(one.Surface.Capitals, uint32(len(one.Surface.Capitals)))
			one.Names = append(one.Names, int32(rng.IntN(40)))
		}
		one.Sounds = surface.AppendSounds(nil, strings.Repeat("ab", i%5)+"o")
		for range rng.IntN(9) {
			one.Tokens = append(one.Tokens, int32(rng.IntN(60)))
		}
		slices.Sort(one.Tokens)
		one.Tokens = slices.Compact(one.Tokens)
	}
	for i := range int32(n) {
		at := rng.IntN(shards)
		d.first[i] = [2]int{at, len(d.shards[at])}
		d.shards[at] = append(d.shards[at], i)
		if again := at + 1 + rng.IntN(3); again < shards {
			d.shards[again] = append(d.shards[again], i)
		}
	}
	return d
}

// describe describes some of the sentences. Names are numbered in the order in which they occur.
func (d *dealt) describe(t testing.TB, rows []int32, dim int) *Side {
	t.Helper()
	s := NewSide(spill.Space{Dir: t.TempDir(), Memory: 1 << 10}, len(rows), dim)
	s.Names = &NameList{}
	places := map[int32]int32{}
	for row, i := range rows {
		one := d.sentences[i]
		one.Names = slices.Clone(one.Names)
		for j, name := range one.Names {
			at, ok := places[name]
			if !ok {
				at = int32(len(places))
				places[name] = at
				s.Names.Add(Name{Hash: uint32(name), Stem: uint32(name), Sounds: surface.AppendSounds(nil, strings.Repeat("ka", int(name)%7)+"u")}, []int32{name, name + 1})
			}
			one.Names[j] = at
		}
		if i%11 == 0 {
			s.Lower = append(s.Lower, uint32(i%40))
		}
		if err := s.Add(int32(row), &one); err != nil {
			t.Fatal(err)
		}
	}
	slices.Sort(s.Lower)
	s.Lower = slices.Compact(s.Lower)
	return s
}

// joined writes the shards to files and joins what is read from them.
func (d *dealt) joined(t *testing.T, dim int) *Side {
	t.Helper()
	var parts []*Side
	for _, rows := range d.shards {
		path := filepath.Join(t.TempDir(), "description")
		if err := d.describe(t, rows, dim).Write(path); err != nil {
			t.Fatal(err)
		}
		part, err := OpenSide(path, len(rows))
		if err != nil {
			t.Fatal(err)
		}
		parts = append(parts, part)
	}
	s, err := Join(parts, len(d.sentences), dim, func(i int32) (part, row int) { return d.first[i][0], d.first[i][1] },
		func(yield func(int, int) bool) {
			for shard, rows := range d.shards {
				for row, i := range rows {
					if d.first[i] != [2]int{shard, row} && !yield(shard, row) {
						return
					}
				}
			}
		})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestJoin: sentences that are described by shard have the features that they have when they are described together,
// whatever the number of shards, and whichever candidates are described at a time.
func TestJoin(t *testing.T) {
	const n, m, dim = 80, 70, 24
	lists := randomLists(t, 23, n, m, 6, 4)
	vectors := randomTable(rand.New(rand.NewPCG(8, 8)), 61, dim)
	ids := make([]int32, 61)
	for i := range ids {
		ids[i] = int32(i)
	}
	candidates := lists.ScoredCandidates()
	for _, shards := range []int{1, 3, 20} {
		var together, apart [2]*Side
		for side, sentences := range [2]int{n, m} {
			d := deal(rand.New(rand.NewPCG(7, uint64(side))), sentences, shards)
			all := make([]int32, sentences)
			for i := range all {
				all[i] = int32(i)
			}
			together[side], apart[side] = d.describe(t, all, dim), d.joined(t, dim)
			together[side].FindWords()
			together[side].SetTable(&vectors, ids)
			apart[side].SetTable(&vectors, ids)
		}
		compute := func(sides [2]*Side, of []mine.Candidate) *Table {
			table, err := Compute(t.Context(), spill.Space{}, lists, of, sides[0], sides[1], 2)
			if err != nil {
				t.Fatal(err)
			}
			return table
		}
		want, err := compute(together, candidates).All()
		if err != nil {
			t.Fatal(err)
		}
		var read []mine.Candidate
		values := &Table{}
		for task := range shards {
			some := slices.DeleteFunc(slices.Clone(candidates), func(c mine.Candidate) bool { return int(c.Source)*shards/n != task })
			path := filepath.Join(t.TempDir(), "candidates")
			if err := WriteCandidates(path, some, compute(apart, some)); err != nil {
				t.Fatal(err)
			}
			var table *Table
			if read, table, err = AppendCandidates(read, path); err != nil {
				t.Fatal(err)
			}
			values.Join(table)
		}
		got, err := values.All()
		if err != nil || !slices.Equal(read, candidates) || !slices.Equal(got, want) {
			t.Errorf("%d shards: other features, or candidates, than together; error %v", shards, err)
		}
		for _, closer := range []interface{ Close() error }{values, apart[0], apart[1]} {
			if err := closer.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

// Files that are not as they were written are refused, or what is read of them is.
func FuzzFiles(f *testing.F) {
	d := deal(rand.New(rand.NewPCG(7, 7)), 3, 1)
	path := filepath.Join(f.TempDir(), "file")
	for _, write := range []func() error{
		func() error { return d.describe(f, d.shards[0], 8).Write(path) },
		func() error { return WriteCandidates(path, make([]mine.Candidate, 2), TableOf(make(Values, 2*Count))) },
	} {
		if err := write(); err != nil {
			f.Fatal(err)
		}
		whole, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(whole)
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		path := filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		if side, err := OpenSide(path, 3); err == nil {
			var l loaded
			for row := range 3 {
				_, _ = l.loadRow(side, row)
			}
			if err := side.Close(); err != nil {
				t.Error(err)
			}
		}
		if candidates, values, err := AppendCandidates(nil, path); err == nil {
			if all, err := values.All(); err != nil || len(all) != len(candidates)*Count {
				t.Errorf("%d candidates have %d values, error %v", len(candidates), len(all), err)
			}
			if err := values.Close(); err != nil {
				t.Error(err)
			}
		}
	})
}

// TestDamagedFiles: files that are cut short or of another kind are refused.
func TestDamagedFiles(t *testing.T) {
	d := deal(rand.New(rand.NewPCG(7, 7)), 30, 1)
	path := filepath.Join(t.TempDir(), "file")
	open := map[string]func() error{
		"side": func() error { _, err := OpenSide(path, 30); return err },
		"candidates": func() error {
			_, _, err := AppendCandidates(nil, path)
			return err
		},
	}
	for name, write := range map[string]func() error{
		"side":       func() error { return d.describe(t, d.shards[0], 8).Write(path) },
		"candidates": func() error { return WriteCandidates(path, make([]mine.Candidate, 9), TableOf(make(Values, 9*Count))) },
	} {
		if err := write(); err != nil {
			t.Fatal(err)
		}
		whole, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, size := range []int{0, 7, 100, len(whole) / 2, len(whole) - 1} {
			if err := os.WriteFile(path, whole[:size], 0o600); err != nil {
				t.Fatal(err)
			}
			for kind, opened := range open {
				if err := opened(); err == nil || !strings.Contains(err.Error(), "is damaged") {
					t.Errorf("%d bytes of %s as %s: error %v", size, name, kind, err)
				}
			}
		}
	}
}
