package feature

import (
	"fmt"
	"reflect"
	"runtime"
	"slices"
	"testing"

	"bitextmine/corpus/surface"
	"bitextmine/internal/spill"
)

// TestSideMemory: a sentence that is not in memory has four bytes there.
func TestSideMemory(t *testing.T) {
	used := func() uint64 {
		var stats runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&stats)
		return stats.HeapAlloc
	}
	const n, fixed = 200_000, 512 << 10
	one := Sentence{Surface: surface.Of("de", "Gestern, am 3. Mai 2020, kam Anna nicht aus Rostock!"), Tokens: []int32{1, 2, 3, 4, 5}}
	before := used()
	s := NewSide(spill.Space{Dir: t.TempDir()}, n, 8)
	for i := range int32(n) {
		if err := s.Add(i, &one); err != nil {
			t.Fatal(err)
		}
	}
	if after := used(); after > before+4*n+fixed {
		t.Errorf("%d sentences have %d bytes in memory", n, after-before)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// TestSide: what is added is what is loaded, from memory and from a file, but for names that are words, and tokens
// that are too frequent.
func TestSide(t *testing.T) {
	long := make([]int32, 3*usual)
	for i := range long {
		long[i] = int32(i)
	}
	table := NewTokenVectors(8)
	if err := table.Append(make([]float32, 8*len(long))); err != nil {
		t.Fatal(err)
	}
	texts := []string{"Gestern, am 3. Mai 2020, kam Anna nicht aus Rostock!", "", "Ja (nein): 12 %", "He said: \u201cLondon is big\u201d"}
	tokens, names := [][]int32{{3, 5}, nil, {5}, long}, [][]int32{{0, 1}, {1}, nil, {2}}
	for _, space := range []spill.Space{{}, {Dir: t.TempDir()}, {Dir: t.TempDir(), Memory: 256}} {
		s := NewSide(space, len(texts)+1, 8)
		s.SetTable(&table, long)
		s.Names = &NameList{}
		for i := range uint32(3) {
			s.Names.Add(Name{Hash: i}, nil)
		}
		s.Lower = []uint32{1}
		s.FindWords()
		for i := len(texts) - 1; i >= 0; i-- {
			if err := s.Add(int32(i), &Sentence{Surface: surface.Of("de", texts[i]), Tokens: tokens[i], Names: names[i], Sounds: surface.AppendSounds(nil, texts[i])}); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.finish(len(texts) + 1); err != nil {
			t.Fatal(err)
		}
		s.weigh()
		s.weights[5] = frequent
		var l loaded
		for i, text := range append(texts, "") {
			if err := l.load(s, int32(i)); err != nil {
				t.Fatal(err)
			}
			if i == len(texts) {
				if l.surface.Length != 0 || len(l.names) != 0 || len(l.tokens) != 0 {
					t.Errorf("a sentence that was left out is %+v", l)
				}
				break
			}
			want, got := surface.Of("de", text), l.surface
			want.Names, want.Lower = nil, nil
			for _, f := range []*surface.Features{&want, &got} { // whether an empty list is nil does not matter
				f.Capitals, f.Stems, f.Numbers = append([]uint32{}, f.Capitals...), append([]uint32{}, f.Stems...), append([]surface.Number{}, f.Numbers...)
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("%q: got %+v, want %+v", text, got, want)
			}
			if !slices.Equal(l.sounds, surface.AppendSounds(nil, text)) {
				t.Errorf("%q sounds like %v", text, l.sounds)
			}
			without := func(list []int32, one int32) string {
				return fmt.Sprint(slices.DeleteFunc(slices.Clone(list), func(x int32) bool { return x == one }))
			}
			if fmt.Sprint(l.tokens) != without(tokens[i], 5) || fmt.Sprint(l.names) != without(names[i], 1) || len(l.weights) != len(l.tokens) {
				t.Errorf("%q has tokens %v with weights %v and names %v", text, l.tokens, l.weights, l.names)
			}
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}
