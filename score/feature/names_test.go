package feature

import (
	"math"
	"testing"

	"bitextmine/corpus/surface"
	"bitextmine/internal/spill"
)

// nameTable has vectors of cosine 0 to each other, but for the second, which has 0.8 to the first, and the third,
// which is in all directions.
func nameTable(t *testing.T) TokenVectors {
	t.Helper()
	v := NewTokenVectors(8)
	for _, row := range [][]float32{{1}, {0.8, 0.6}, {1, 1, 1, 1, 1, 1, 1, 1}, {0, 0, 0, 1}, {0, 0, 0, 0, 1}, {0, 0, 0, 0, 0, 1}, {0, 0, 0, 0, 0, 0, 1}} {
		if err := v.Append(append(row, make([]float32, 8-len(row))...)); err != nil {
			t.Fatal(err)
		}
	}
	return v
}

// sideOf is a side whose token ids are rows of a table, ready to be loaded from.
func sideOf(t *testing.T, table *TokenVectors, names *NameList, all ...Sentence) *Side {
	t.Helper()
	s := NewSide(spill.Space{}, len(all), table.dim)
	s.Names = names
	rows := make([]int32, table.Len())
	for i := range rows {
		rows[i] = int32(i)
	}
	s.SetTable(table, rows)
	for i := range all {
		if err := s.Add(int32(i), &all[i]); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.finish(len(all)); err != nil {
		t.Fatal(err)
	}
	s.weigh()
	return s
}

// TestNamesConflict: a name without a counterpart counts only if the other sentence has one, too.
func TestNamesConflict(t *testing.T) {
	table := nameTable(t)
	name := func(n uint32, rows ...int32) (Name, []int32) { return Name{Hash: n, Stem: 100 + n}, rows }
	type one struct {
		name uint32
		rows []int32
	}
	side := func(tokens []int32, words []uint32, stems []uint32, names ...one) *Side {
		list, sentence := &NameList{}, Sentence{Surface: surface.Features{Capitals: words, Stems: stems}, Tokens: tokens}
		for i, n := range names {
			known, rows := name(n.name, n.rows...)
			list.Add(known, rows)
			sentence.Names = append(sentence.Names, int32(i))
		}
		return sideOf(t, &table, list, sentence)
	}
	for _, c := range []struct {
		name           string
		source, target *Side
		want           float64
	}{
		{"nothing alike", side([]int32{3}, nil, nil, one{1, []int32{3}}), side([]int32{4}, nil, nil, one{2, []int32{4}}), 1},
		{"only one has a name", side([]int32{3}, nil, nil, one{1, []int32{3}}), side([]int32{4}, nil, nil), 0},
		{"the same word", side([]int32{3}, []uint32{1}, nil, one{1, []int32{3}}), side([]int32{4}, []uint32{1}, nil, one{2, []int32{4}}), 0},
		{"the same stem", side([]int32{3}, nil, nil, one{1, []int32{3}}), side([]int32{4}, nil, []uint32{101}, one{2, []int32{4}}), 0},
		{"vectors alike", side([]int32{0}, nil, nil, one{1, []int32{0}}), side([]int32{1}, nil, nil, one{2, []int32{1}}), 0},
		{"a token alike", side([]int32{0}, nil, nil, one{1, []int32{0}}), side([]int32{4, 1}, nil, nil, one{2, []int32{4}}), 0},
		{"two tokens of one name", side([]int32{3, 4}, nil, nil, one{1, []int32{3, 4}}), side([]int32{3, 4}, nil, nil, one{2, []int32{4, 3}}), 0},
		// the cosine of a sum of two with either is 0.7
		{"half of a name", side([]int32{3}, nil, nil, one{1, []int32{3, 4}}), side([]int32{5}, nil, nil, one{2, []int32{4, 5}}), (0.5 - minUnlike) / (1 - minUnlike)},
		{"one name of two", side([]int32{3, 4}, nil, nil, one{1, []int32{3}}, one{5, []int32{4}}), side([]int32{3, 6}, nil, nil, one{3, []int32{3}}, one{4, []int32{6}}), 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := describer{source: c.source, target: c.target}
			v, m := make([]float32, Count), newCoverage()
			if err := m.load(&d, 0, 0); err != nil {
				t.Fatal(err)
			}
			var p pair
			m.compareNames(&d, &p)
			p.set(v)
			if got := float64(v[Index("names_conflict")]); math.Abs(got-c.want) > 1e-3 {
				t.Errorf("names_conflict is %v, want %v", got, c.want)
			}
		})
	}
}

// TestNamesSoundAlike: the sounds of the sentence tell whether it has a name, also in a script without capitals and
// without token vectors.
func TestNamesSoundAlike(t *testing.T) {
	side := func(name, text string) *Side {
		s := NewSide(spill.Space{}, 1, 0)
		s.Names = &NameList{}
		one := Sentence{Sounds: surface.AppendSounds(nil, text)}
		if name != "" {
			s.Names.Add(Name{Hash: 1, Stem: 1, Sounds: surface.AppendSounds(nil, name)}, nil)
			one.Names = []int32{0}
		}
		if err := s.Add(0, &one); err != nil {
			t.Fatal(err)
		}
		if err := s.finish(1); err != nil {
			t.Fatal(err)
		}
		return s
	}
	for _, c := range []struct {
		source, target            *Side
		shared, missing, conflict float64
	}{
		{side("", "ジョンソン首相は"), side("Johnson", "said Johnson"), 1, 0, 0},
		{side("", "メルケル首相は"), side("Johnson", "said Johnson"), 0, 1, 0},
		{side("Ерофеева", "роман Ерофеева"), side("Yerofeyev", "a novel by Yerofeyev"), 1, 0, 0},
		{side("Кокинакис", "сказал Кокинакис"), side("Berlusconi", "said Berlusconi"), 0, 1, 1},
	} {
		d := describer{source: c.source, target: c.target}
		v, m := make([]float32, Count), newCoverage()
		if err := m.load(&d, 0, 0); err != nil {
			t.Fatal(err)
		}
		var p pair
		m.compareNames(&d, &p)
		p.set(v)
		got := [3]float64{float64(v[Index("names_shared")]), float64(v[Index("names_missing")]), float64(v[Index("names_conflict")])}
		want := [3]float64{c.shared, c.missing, c.conflict}
		for i := range got {
			if math.Abs(got[i]-want[i]) > 0.3 {
				t.Errorf("shared, missing and in conflict are %.2f, want about %v", got, want)
			}
		}
	}
}

func TestNumbersConflict(t *testing.T) {
	for _, c := range []struct {
		a, b                      string
		differ, shared, conflicts float32
	}{
		{"no number", "none", 0, 0, 0},
		{"3 Kinder, 1968", "3 children, 1986", 2, 1. / 3, 1},
		{"3 Kinder, 1968", "3 children", 1, 0.5, 0},
		{"3, 4, 5", "6 and 7", 5, 0, 2},
		{"7", "7", 0, 1, 0},
		{"zwei Kinder", "three children", 0, 0, 1}, // numbers in words
		{"zwei Kinder", "13 children", 1, 0, 1},
		{"das 19 Kind", "in the XVII house of 12", 2, 0, 0}, // a Roman number may be 19
	} {
		a, b := surface.Of("de", c.a), surface.Of("en", c.b)
		var p pair
		p.compareSurface(&a, &b, 0)
		n := p.numbers
		if n.differ != c.differ || n.shared != c.shared || n.conflict != c.conflicts {
			t.Errorf("%q and %q: %v differ, %v are shared, %v in conflict; want %v, %v, %v",
				c.a, c.b, n.differ, n.shared, n.conflict, c.differ, c.shared, c.conflicts)
		}
	}
}

// TestLongPairsConflictLess: a number or a name in place of another counts the less, the more tokens both have.
func TestLongPairsConflictLess(t *testing.T) {
	numbers, names := All[Index("numbers_conflict")], All[Index("names_conflict")]
	for tokens, want := range map[int]float64{0: 1, 1: 1, 16: 1, 64: 0.5, 256: 0.25} {
		p := pair{shorter: float32(math.Log(float64(1 + tokens)))}
		p.numbers.conflict = 2
		p.names[source].largest, p.names[target].largest = 0.8, 0.4
		if got := float64(numbers.of(&p)); math.Abs(got-2*want) > 1e-5 {
			t.Errorf("among %d tokens two numbers count %v, want %v", tokens, got, 2*want)
		}
		if got := float64(names.of(&p)); math.Abs(got-0.4*want) > 1e-5 {
			t.Errorf("among %d tokens a name counts %v, want %v", tokens, got, 0.4*want)
		}
	}
}
