package inject

import (
	"slices"
	"strings"
	"testing"

	"bitextmine/bitext/exchange"
)

// TestHazy: every fourth pair stays, of the others more and more words are of other pairs, on the sides that are asked
// for alone, and characters where there are no blanks.
func TestHazy(t *testing.T) {
	pairs, err := exchange.FixturePairs("ja", "en")
	if err != nil {
		t.Fatal(err)
	}
	hazy := Hazy(pairs, [2]bool{true, true})
	if !slices.Equal(hazy, Hazy(pairs, [2]bool{true, true})) {
		t.Error("other pairs each time")
	}
	var same, all [2][4]int
	for i, p := range hazy {
		for side, texts := range [2][2]string{{pairs[i].Source, p.Source}, {pairs[i].Target, p.Target}} {
			was, blank := parts(texts[0])
			is := strings.Split(texts[1], blank)
			if len(was) != len(is) {
				t.Fatalf("%q became %q", texts[0], texts[1])
			}
			for w := range was {
				all[side][i%4]++
				if was[w] == is[w] {
					same[side][i%4]++
				}
			}
		}
	}
	for side := range same {
		for level, part := range haze {
			if got := 1 - float64(same[side][level])/float64(all[side][level]); got > part || got < part-0.08 {
				t.Errorf("side %d: %.3f of the words are others where %g were asked for", side, got, part)
			}
		}
	}
	for i, p := range Hazy(pairs, [2]bool{false, true}) {
		if p.Source != pairs[i].Source {
			t.Fatalf("a side that is known became %q", p.Source)
		}
	}
}
