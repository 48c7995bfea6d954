package feature

import (
	"reflect"
	"testing"

	"bitextmine/corpus/surface"
)

// TestSurfaces: what is set is what comes back, but for names and words in lower case.
func TestSurfaces(t *testing.T) {
	texts := []string{"Gestern, am 3. Mai 2020, kam Anna nicht aus Rostock!", "", "Ja (nein): 12 %", "He said: \u201cLondon is big\u201d"}
	all := NewSurfaces(len(texts) + 1)
	for i, text := range texts {
		f := surface.Of("de", text)
		all.Set(int32(i), &f)
	}
	for i, text := range texts {
		want, got := surface.Of("de", text), all.Of(int32(i))
		want.Names, want.Lower = nil, nil
		for _, f := range []*surface.Features{&want, &got} { // whether an empty list is nil does not matter
			f.Capitals, f.Stems, f.Numbers = append([]uint32{}, f.Capitals...), append([]uint32{}, f.Stems...), append([]surface.Number{}, f.Numbers...)
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%q: got %+v, want %+v", text, got, want)
		}
	}
	if got := all.Of(int32(len(texts))); all.Len() != len(texts)+1 || got.Length != 0 || len(got.Stems) != 0 {
		t.Errorf("a sentence that was not set has %+v", got)
	}
}
