package bitext

import (
	"bufio"
	"bytes"
	"testing"

	"bitextmine/bitext/concordance"
	"bitextmine/cmd/mine/program"
)

// TestBold: what matched is bold on a terminal that shows it, unless colours are not wanted.
func TestBold(t *testing.T) {
	for _, c := range []struct{ name, value, want string }{
		{"TERM", "xterm", "ein " + program.Bold + "Haus" + program.Plain}, {"TERM", "dumb", "ein Haus"}, {"NO_COLOR", "1", "ein Haus"},
	} {
		t.Run(c.value, func(t *testing.T) {
			t.Setenv("NO_COLOR", "")
			t.Setenv("TERM", "xterm")
			t.Setenv(c.name, c.value)
			terminal := &program.Terminal{Columns: func() (int, error) { return 80, nil }}
			p := newPrinter(bufio.NewWriter(&bytes.Buffer{}), terminal)
			if got := p.marked("ein Haus", []concordance.Span{{Start: 4, End: 8}}); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

// TestSides: the language that is asked for need not stand in a bitext without pairs, which says none.
func TestSides(t *testing.T) {
	for _, languages := range [][2]string{{}, {"de", "en"}} {
		of, err := sides("deu", languages)
		if want := [2]bool{true, languages[0] == ""}; err != nil || of != want {
			t.Errorf("of %q: %v, %v", languages, of, err)
		}
	}
	if _, err := sides("fr", [2]string{"de", "en"}); err == nil {
		t.Error("a language of no side was taken")
	}
}
