package word

import (
	"bufio"
	"bytes"
	_ "embed"
	"strings"
	"testing"
)

// atools.txt has random alignments of both directions and what fast_align's atools makes of them: forward, backward,
// intersect, union, grow-diag and grow-diag-final-and, a line each.
//
//go:embed testdata/atools.txt
var atools []byte

func TestSymmetriseAsAtools(t *testing.T) {
	lines := bufio.NewScanner(bytes.NewReader(atools))
	next := func() string {
		lines.Scan()
		return lines.Text()
	}
	cases := 0
	for ; ; cases++ {
		forward := next()
		if forward == "" {
			break
		}
		backward := next()
		want := map[Symmetry]string{Forward: forward, Backward: backward}
		for _, how := range []Symmetry{Intersect, Union, GrowDiag, GrowDiagFinalAnd} {
			want[how] = next()
		}
		for how, want := range want {
			var g grid
			g.reset(12, 12)
			for from, text := range map[uint8]string{inForward: forward, inBackward: backward} {
				links, err := ParseLinks(nil, text, 0)
				if err != nil {
					t.Fatal(err)
				}
				for _, l := range links {
					g.add(l.Source, l.Target, from, 1)
				}
			}
			got := strings.TrimSuffix(string(AppendLinks(nil, g.links(how), false)), "\n")
			if got != want {
				t.Errorf("%s of %q and %q is %q, want %q", how, forward, backward, got, want)
			}
		}
	}
	if cases != 40 {
		t.Errorf("%d cases", cases)
	}
}

// TestScores: a link's score is the mean of both directions, of which the absent one counts as 0.
func TestScores(t *testing.T) {
	var g grid
	g.reset(2, 2)
	g.add(0, 0, inForward, 0.75)
	g.add(0, 0, inBackward, 0.5)
	g.add(1, 1, inForward, 0.5)
	links := g.links(Union)
	if len(links) != 2 || links[0].Score != 0.625 || links[1].Score != 0.25 {
		t.Errorf("%v", links)
	}
}

func TestParseSymmetry(t *testing.T) {
	for _, s := range Symmetries {
		if got, err := ParseSymmetry(string(s), false); err != nil || got != s {
			t.Errorf("%s: %s, %v", s, got, err)
		}
	}
	if _, err := ParseSymmetry("grow", false); err == nil || !strings.Contains(err.Error(), "choose one of forward, backward, intersect") {
		t.Errorf("%v", err)
	}
}
