package bead

import "testing"

func TestMarks(t *testing.T) {
	for text, want := range map[string]mark{
		"Er kam.": fullStop, "« Viens ! »": exclamation, "他来了吗？」": question, "جاء؛": semicolon, "Denn:": colon, "und ,": comma,
		"(1957)": noMark, "Kapitel 2": noMark, "": noMark, "»": noMark, "वह आया।": fullStop,
	} {
		if got := markOf(text); got != want {
			t.Errorf("%s: mark %d, want %d", text, got, want)
		}
	}
}

// TestEndings: marks count only if half of the sentences of both documents end with a final one.
func TestEndings(t *testing.T) {
	marked, bare := []string{"A.", "B?", "C,"}, []string{"A", "B", "C."}
	e := newEndings(marked, marked)
	for _, test := range []struct {
		i, j        int
		same, final float32
	}{{0, 0, 1, 1}, {0, 1, 0, 1}, {2, 2, 1, 0}, {0, 2, 0, 0}} {
		if same, final := e.compare(test.i, test.j); same != test.same || final != test.final {
			t.Errorf("sentences %d and %d: same %v, final %v", test.i, test.j, same, final)
		}
	}
	if e := newEndings(marked, bare); e != nil {
		t.Error("marks count in documents of which one has few")
	}
	if same, final := (*endings)(nil).compare(0, 2); same != 0 || final != 0 {
		t.Errorf("marks that do not count: same %v, final %v", same, final)
	}
}
