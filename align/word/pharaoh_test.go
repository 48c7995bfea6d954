package word

import (
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"bitextmine/internal/badinput"
)

func TestParseLine(t *testing.T) {
	links, err := ParseLinks(nil, " 0-1  2p3 4?5\t6-7:0.25 ", 0)
	want := []Link{{0, 1, 1, false}, {2, 3, 1, true}, {4, 5, 1, true}, {6, 7, 0.25, false}}
	if err != nil || !slices.Equal(links, want) {
		t.Errorf("%v, %v; want %v", links, err, want)
	}
	links, err = ParseLinks(nil, "1-2", 1)
	if err != nil || !slices.Equal(links, []Link{{0, 1, 1, false}}) {
		t.Errorf("counted from 1: %v, %v", links, err)
	}
	for _, c := range []struct {
		line, says string
		base       int
	}{
		{"0", `"0" is not a link`, 0},
		{"a-1", `"a" is not the number of a word`, 0},
		{"1-", `"" is not the number of a word`, 0},
		{"1--2", `"-2" is not the number of a word`, 0},
		{"1-2-3", `"2-3" is not the number of a word`, 0},
		{"+1-2", `"+1" is not the number of a word`, 0},
		{"0-99999999", "is not the number of a word", 0},
		{"0-1:2", `the score "2" is not a number from 0 to 1`, 0},
		{"0-1:NaN", `the score "NaN" is not`, 0},
		{"0-1:", `the score "" is not`, 0},
		{"0-1", "word 0 does not exist where words count from 1", 1},
	} {
		if _, err := ParseLinks(nil, c.line, c.base); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%q: %v, want %q", c.line, err, c.says)
		}
	}
}

func TestReader(t *testing.T) {
	r := NewLinkReader(strings.NewReader("0-0 1-1\n\n2-x\n"), "x.pharaoh", 0)
	for line, want := range []int{2, 0} {
		links, err := r.Next()
		if err != nil || len(links) != want || r.Line() != line+1 {
			t.Errorf("line %d: %v, %v", r.Line(), links, err)
		}
	}
	_, err := r.Next()
	if !badinput.Is(err) || !strings.Contains(err.Error(), "x.pharaoh:3: ") {
		t.Errorf("a damaged line: %v", err)
	}
	if _, err := NewLinkReader(strings.NewReader(strings.Repeat("0-0 ", maxLine)), "long", 0).Next(); !badinput.Is(err) {
		t.Errorf("a line that is too long: %v", err)
	}
}

func TestInside(t *testing.T) {
	links := []Link{{Source: 1, Target: 2}}
	if err := CheckLinks(links, 2, 3, 0); err != nil {
		t.Error(err)
	}
	for _, size := range [][2]int{{1, 3}, {2, 2}} {
		if CheckLinks(links, size[0], size[1], 0) == nil {
			t.Errorf("%v is inside %v", links, size)
		}
	}
}

// FuzzReader: nothing makes the reader crash, and what it reads it writes and reads again.
func FuzzReader(f *testing.F) {
	for _, s := range []string{"0-0 1-1\n\n", "3p1 2?2:0.5\n", "0-1:1e-3", "1-2-3", "-\np\n?\n:"} {
		f.Add(s, false)
		f.Add(s, true)
	}
	f.Fuzz(func(t *testing.T, text string, fromOne bool) {
		base := 0
		if fromOne {
			base = 1
		}
		r := NewLinkReader(strings.NewReader(text), "fuzz", base)
		for {
			links, err := r.Next()
			if errors.Is(err, io.EOF) {
				return
			}
			if err != nil {
				if !badinput.Is(err) {
					t.Fatal(err)
				}
				return
			}
			again, err := ParseLinks(nil, string(AppendLinks(nil, links, true)), 0)
			if err != nil || len(again) != len(links) {
				t.Fatalf("%v are read again as %v, %v", links, again, err)
			}
			for i, l := range links {
				if l.Source < 0 || l.Target < 0 || again[i].Source != l.Source || again[i].Target != l.Target {
					t.Fatalf("%v is read again as %v", l, again[i])
				}
			}
		}
	})
}
