package inject

import (
	"testing"

	"bitextmine/bitext/exchange"
)

func TestNearMisses(t *testing.T) {
	pairs := []exchange.Pair{
		{Source: "Das Haus hat 25 Zimmer.", Target: "The house has 25 rooms."},
		{Source: "Gestern kam Anna an.", Target: "Yesterday Anna arrived."},
		{Source: "Morgen kommt Bruno.", Target: "Tomorrow Bruno comes, for Bruno likes Brunos."},
		{Source: "Kein Name, keine Zahl.", Target: "No name, no number."},
		{Source: "Der Hund von Peter.", Target: "The dog is 7 years old."},
	}
	misses := NewNearMisses([2]string{"de", "en"}, pairs)
	for i, want := range []string{"The house has 35 rooms.", "Yesterday Bruno arrived.", "Tomorrow Anna comes, for Anna likes Brunos.", "", ""} {
		got, ok := misses.Of(i, 1)
		if ok != (want != "") {
			t.Errorf("pair %d: a near miss is there: %v", i, ok)
		}
		if ok && (got.Source != pairs[i].Source || got.Target != want) {
			t.Errorf("pair %d became %q, want the target %q", i, got, want)
		}
	}
	if got, ok := misses.Of(1, 0); !ok || got.Source != "Gestern kam Bruno an." || got.Target != pairs[1].Target {
		t.Errorf("the source became %q", got)
	}
}

func TestOtherDigits(t *testing.T) {
	for _, digits := range []string{"0", "7", "9", "10", "1999", "2012"} {
		for i := range 40 {
			got := otherDigits(digits, i)
			if got == digits || len(got) != len(digits) || len(got) > 1 && got[0] == '0' {
				t.Errorf("%s became %s", digits, got)
			}
		}
	}
}

// TestNearMissIsNotWhole: both sentences are there, but they are no translation.
func TestNearMissIsNotWhole(t *testing.T) {
	h := newHost(t, byKey([]string{"a b c", "b c d", "c d e", "d e f", "e f g"}), byKey([]string{"a b b", "b c c", "c d d", "d e e", "e f f"}))
	pairs := []exchange.Pair{{Source: "a c e", Target: "a c g"}, {Source: "b d f", Target: "b d g"}}
	in, err := h.Inject(t.Context(), pairs, ByKey, func(i int) Sides { return []Sides{NearMiss, Both}[i] })
	if err != nil {
		t.Fatal(err)
	}
	candidates, _, err := in.Problem().Candidates(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	near, whole := 0, 0
	for _, c := range candidates {
		if in.NearMiss(&c) {
			near++
		}
		if in.Whole(&c) {
			whole++
		}
	}
	if near != 1 || whole != 1 || !in.Unpaired(0) || in.Unpaired(1) {
		t.Errorf("%d near misses and %d whole pairs among the candidates; unpaired: %v, %v", near, whole, in.Unpaired(0), in.Unpaired(1))
	}
}
