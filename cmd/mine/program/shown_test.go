package program

import (
	"bytes"
	"testing"
)

// TestTerminal: nothing that a terminal obeys gets through, however the text is divided into writes.
func TestTerminal(t *testing.T) {
	text := "a\x1b]0;title\a\tb\r\n" + Bold + "word" + Plain + " \x1b[2J \u009b2J \x9b2J \u202eevil\u2066 ü 語 \x7f\x1b[1\u00fc end\n"
	want := `a\x1b]0;title\a` + "\tb" + `\r` + "\n" + Bold + "word" + Plain + ` \x1b[2J \u009b2J \x9b2J \u202eevil\u2066 ü 語 \x7f\x1b[1ü end` + "\n"
	for size := 1; size <= len(text); size++ {
		var out bytes.Buffer
		terminal := &Terminal{out: &out}
		for rest := []byte(text); len(rest) > 0; {
			n := min(size, len(rest))
			if wrote, err := terminal.Write(rest[:n]); wrote != n || err != nil {
				t.Fatal(wrote, err)
			}
			rest = rest[n:]
		}
		if out.String() != want {
			t.Fatalf("by %d bytes: %q, want %q", size, out.String(), want)
		}
	}
}
