package documents

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"bitextmine/align/match"
)

func text(prefix string, n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprint(prefix, i)
	}
	return out
}

// TestMakePairing: each source document's gold has lines with the same four numbers, and the two halves come from two
// such documents.
func TestMakePairing(t *testing.T) {
	o := PairingOptions{Documents: 50, Lines: 4, Near: 1, Missing: 0.3, Seed: 2}
	m := MakePairing(text("s", 200), text("t", 200), nil, o)
	if len(m.Source) != 50 || len(m.Target) != 100 {
		t.Fatalf("%d and %d documents", len(m.Source), len(m.Target))
	}
	number := func(line string) (n int) {
		if _, err := fmt.Sscan(strings.TrimLeft(line, "st"), &n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	right := map[int]bool{}
	lines := 0
	for d, document := range m.Source {
		right[m.Gold[d]] = true
		lines += len(document)
		for _, line := range slices.Concat(document, m.Target[m.Gold[d]]) {
			if number(line)/4 != d {
				t.Errorf("document %d has line %s", d, line)
			}
		}
	}
	if len(right) != 50 || lines < 120 || lines > 160 {
		t.Errorf("%d right documents, %d of 200 lines", len(right), lines)
	}
	halves := map[int]int{}
	for k, document := range m.Target {
		if right[k] {
			continue
		}
		if len(document) != 4 || number(document[0])/4 != number(document[1])/4 || number(document[2])/4 != number(document[3])/4 || number(document[0])/4 == number(document[2])/4 {
			t.Errorf("%q is not of two halves", document)
		}
		halves[number(document[0])/4]++
		halves[number(document[2])/4]++
	}
	for d := range 50 {
		if halves[d] != 2 {
			t.Errorf("halves of document %d stand in %d documents", d, halves[d])
		}
	}
	if again := MakePairing(text("s", 200), text("t", 200), nil, o); !reflect.DeepEqual(m, again) {
		t.Error("the same seed makes other documents")
	}
}

// TestNearDuplicates: documents of a group have the same lines but for one, and are a day apart; most translations have
// the date of the original.
func TestNearDuplicates(t *testing.T) {
	o := PairingOptions{Documents: 10, Lines: 4, Near: 3, Seed: 2}
	if o.Need() != 4*3+10 {
		t.Errorf("%d lines are needed", o.Need())
	}
	m := MakePairing(text("s", o.Need()), text("t", o.Need()), nil, o)
	if got := m.Source[4]; !reflect.DeepEqual(got, []string{"s6", "s7", "s8", "s10"}) {
		t.Errorf("the second document of the second group is %q", got)
	}
	o.Documents, o.Near = 300, 3
	m = MakePairing(text("s", o.Need()), text("t", o.Need()), text("o", 4*o.Documents), o)
	equal, missing := [2]int{}, 0
	for d, gold := range m.Gold {
		for field := range PairingFields {
			source, target := m.Metadata[0][d][field], m.Metadata[1][gold][field]
			switch {
			case source == "" || target == "":
				missing++
			case source == target:
				equal[field]++
			}
		}
	}
	if equal[0] < 130 || equal[0] > 210 || equal[1]+missing < 300 || missing < 60 || missing > 170 || len(m.Metadata[1]) != len(m.Target) {
		t.Errorf("of 300 documents %v have an equal date and source, %d values are missing", equal, missing)
	}
}

func TestRight(t *testing.T) {
	m := MakePairing(text("s", 8), text("t", 8), text("o", 8), PairingOptions{Documents: 2, Lines: 4, Near: 1, Seed: 1})
	wrong := 0
	for slices.Contains(m.Gold, wrong) {
		wrong++
	}
	pairs := []match.Pair{{Source: 0, Target: m.Gold[0]}, {Source: 1, Target: wrong}}
	r := NewPairingReport("x")
	AddPairingRow(r, "set", &m, pairs)
	if got := r.Rows[0].Cells; !reflect.DeepEqual(got, []any{50.0, 50.0, 2, 2}) {
		t.Errorf("%v", got)
	}
}
