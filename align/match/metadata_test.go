package match

import (
	"fmt"
	"math"
	"testing"
)

func TestParse(t *testing.T) {
	equal := [][]string{
		{"2024-03-01", "2024-03-01T23:59:59+09:00", "1.3.2024", "01.03.2024", "2024/03/01", "Fri, 01 Mar 2024 10:00:00 GMT", "2024-03-01 10:00:00", " 2024-03-01T10:00:00.25Z"},
		{"7", "007", "7.0", "+7", "7.", "7.00"}, {"-7.5", "-07.50"}, {"70", "70.0"}, {"0", "000"}, {"123456789012345678901234567890"}, {"123456789012345678901234567891"},
		{"Reuters", "reuters ", "REUTERS"}, {"01/02/2024"}, {"2024-02-31"}, {"1e3"}, {"", "  "},
	}
	kinds := []kind{date, number, number, number, number, number, number, text, text, text, text, missing}
	seen := map[value]string{}
	for k, forms := range equal {
		want := parse(forms[0])
		if other, ok := seen[want]; ok || want.kind != kinds[k] {
			t.Errorf("%q is %+v, and so is %q", forms[0], want, other)
		}
		seen[want] = forms[0]
		for _, form := range forms {
			if got := parse(form); got != want {
				t.Errorf("%q is %+v, %q %+v", form, got, forms[0], want)
			}
		}
	}
	if parse("2024-03-01").day-parse("2024-02-28").day != 2 {
		t.Error("2024 had a 29th of February")
	}
}

func TestAgreement(t *testing.T) {
	document := func(values ...string) Document { return Document{Metadata: values} }
	m := newMetadata([2][]Document{
		{document("2024-03-10", "7", "a"), document("2024-03-12", "8", "b"), document("", "9", "b"), document("2024-03-30", "10", "b")},
		{document("2024-03-10", "7", "x"), document("2024-03-11", "6", "B"), document("2023-01-01", "", "y"), document("2024-03-10", "9", "b")},
	})
	half := 1 - math.Log(2)/math.Log(4)
	for _, c := range []struct {
		pair  [2]int32
		field int
		want  float64
	}{
		{[2]int32{0, 0}, 0, half}, {[2]int32{0, 1}, 0, -1. / 7}, {[2]int32{1, 0}, 0, -2. / 7}, {[2]int32{1, 2}, 0, -1}, {[2]int32{3, 0}, 0, -1}, {[2]int32{2, 0}, 0, 0},
		{[2]int32{0, 0}, 1, 1}, {[2]int32{0, 1}, 1, -1}, {[2]int32{0, 2}, 1, 0},
		{[2]int32{0, 0}, 2, 0}, {[2]int32{1, 1}, 2, 1 - math.Log(3)/math.Log(4)},
	} {
		if got := m.agreement(c.pair, c.field); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("documents %v, field %d: %v, want %v", c.pair, c.field, got, c.want)
		}
	}
	if one := newMetadata([2][]Document{{document("a")}, {document("a")}}); one.sum([2]int32{}) != 1 {
		t.Error("one document a side: equal values are not worth 1")
	}
	if none := newMetadata([2][]Document{{document("a")}, {{}}}); none.sum([2]int32{}) != 0 || none.fields() != 0 {
		t.Error("metadata of one side alone says something")
	}
}

// TestMetadataDecides: if documents have the same vectors, the pairs with the same number win and become candidates
// although others are as near; differences are counted.
func TestMetadataDecides(t *testing.T) {
	const n = 50
	var sides [2]*Side
	for side := range sides {
		s := &Side{Dim: 2}
		for d := range n {
			id := d
			if side == 1 {
				id = n - 1 - d
			}
			s.Documents = append(s.Documents, Document{First: d, Count: 1, Metadata: []string{fmt.Sprint("id", id), ""}})
			s.Vectors = append(s.Vectors, 1, 0)
		}
		sides[side] = s
	}
	o := DefaultOptions()
	o.Candidates = 1
	pairs, err := Match(t.Context(), sides[0], sides[1], o)
	if err != nil || len(pairs) != n {
		t.Fatal(len(pairs), err)
	}
	for _, p := range pairs {
		if p.Target != n-1-p.Source || math.Abs(p.Score-1.1) > 1e-9 || math.Abs(p.Metadata-0.1) > 1e-9 {
			t.Errorf("%+v", p)
		}
	}
	counts := CountFields([2][]Document{sides[0].Documents, sides[1].Documents}, append(pairs[:3:3], Pair{Source: 0, Target: 0}))
	if len(counts) != 2 || counts[0] != (FieldCounts{Equal: 3, Different: 1}) || counts[1] != (FieldCounts{Missing: 4}) {
		t.Errorf("%+v", counts)
	}
}
