package documents

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"bitextmine/internal/badinput"
)

// TestCounts: vecalign's score.py gives the same figures for these ladders.
func TestCounts(t *testing.T) {
	gold := Ladder{{[]int{0}, []int{0}}, {[]int{1}, []int{1, 2}}, {[]int{2, 3}, []int{3}}, {nil, []int{4}}, {[]int{4}, []int{5}}}
	found := Ladder{{[]int{0}, []int{0}}, {[]int{1}, []int{1}}, {nil, []int{2}}, {[]int{2, 3}, []int{3}}, {[]int{4}, []int{4}}, {nil, []int{5}}}
	var c BeadCounts
	c.Add(gold, found)
	// Of 6 beads 2 are equal and 1 overlaps; of 4 gold beads that are no deletions 2 are equal and 1 overlaps.
	if want := (BeadCounts{Hits{2, 3, 6}, Hits{2, 3, 4}}); c != want {
		t.Errorf("%+v, want %+v", c, want)
	}
	p, r, f := c.Figures()
	for _, pair := range [][2]float64{{p.Strict, 100. / 3}, {p.Lax, 50}, {r.Strict, 50}, {r.Lax, 75}, {f.Strict, 40}, {f.Lax, 60}} {
		if math.Abs(pair[0]-pair[1]) > 1e-9 {
			t.Errorf("%v, want %v", pair[0], pair[1])
		}
	}
	var none BeadCounts
	if _, _, f := none.Figures(); f.Strict != 0 {
		t.Errorf("F1 of nothing is %v", f)
	}
}

func TestReadAndSets(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "one.defr")
	if err := os.WriteFile(path, []byte("[0]:[0, 1]\n[]:[2]:0.5\n[1,2]:[3]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := ReadLadder(path)
	want := Ladder{{[]int{0}, []int{0, 1}}, {nil, []int{2}}, {[]int{1, 2}, []int{3}}}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v %v", got, err)
	}
	sets, err := Sets(dir, "de", "fr")
	if err != nil || len(sets) != 1 || sets[0].Source != filepath.Join(dir, "one.de") {
		t.Errorf("%v %v", sets, err)
	}
	if _, err := Sets(dir, "de", "en"); !badinput.Is(err) {
		t.Errorf("no set: %v", err)
	}
	for _, line := range []string{"[0]", "[0]:[x]", "[0]:[-1]", "0:1", "[0:[1]"} {
		if err := os.WriteFile(path, []byte("[0]:[0]\n"+line+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadLadder(path); !badinput.Is(err) || !strings.Contains(err.Error(), path+":2") {
			t.Errorf("%q: %v", line, err)
		}
	}
}

// TestMake checks the gold standard against the changes made: both sides of a bead come from the same original
// sentences, and every sentence of either document is in one bead.
func TestMake(t *testing.T) {
	const n = 300
	a, b := make([]string, n), make([]string, n)
	for i := range n {
		a[i] = strings.Repeat(fmt.Sprintf("a%d, ", i), 9)
		b[i] = strings.Repeat(fmt.Sprintf("b%d, ", i), 9)
	}
	m := Make(a, b, 1)
	if again := Make(a, b, 1); !reflect.DeepEqual(m, again) {
		t.Error("the same seed makes other documents")
	}
	if other := Make(a, b, 2); reflect.DeepEqual(m, other) {
		t.Error("another seed makes the same documents")
	}
	originals := func(texts []string, of []int) map[string]bool {
		out := map[string]bool{}
		for _, i := range of {
			for word := range strings.FieldsSeq(texts[i]) {
				out[strings.Trim(word, "ab,")] = true
			}
		}
		return out
	}
	sizes := map[[2]int]int{}
	var covered [2]int
	for _, r := range m.Gold {
		sizes[[2]int{len(r.Source), len(r.Target)}]++
		covered[0] += len(r.Source)
		covered[1] += len(r.Target)
		s, u := originals(m.Source, r.Source), originals(m.Target, r.Target)
		if len(r.Source) == 1 && len(r.Target) == 1 && !reflect.DeepEqual(s, u) && len(s) == 1 && len(u) == 1 {
			t.Errorf("bead %v has %v and %v", r, s, u)
		}
		both := false
		for k := range s {
			both = both || u[k]
		}
		if len(s) > 0 && len(u) > 0 && !both {
			t.Errorf("bead %v has %v and %v", r, s, u)
		}
	}
	if covered != [2]int{len(m.Source), len(m.Target)} {
		t.Errorf("%v sentences are in beads, of %d and %d", covered, len(m.Source), len(m.Target))
	}
	for _, size := range [][2]int{{1, 1}, {1, 2}, {2, 1}, {0, 1}, {1, 0}} {
		if sizes[size] == 0 {
			t.Errorf("no bead is %v: %v", size, sizes)
		}
	}
	if part := float64(sizes[[2]int{1, 1}]) / float64(len(m.Gold)); part < 0.6 || part > 0.9 {
		t.Errorf("%.2f of the beads are 1:1", part)
	}
}
