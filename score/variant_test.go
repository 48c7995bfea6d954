package score

import "testing"

func TestIsVariant(t *testing.T) {
	for _, c := range []struct {
		a, b string
		is   bool
	}{
		{"He won.", "\"He won\" ...", true},
		{"He won the race", "12. HE WON THE RACE", true},
		{"UPDATE: He won the race", "He won the race.", true},
		{"He won the race", "He lost the race", false},
		{"He won", "He won the race on Sunday and left", false},
		{"Chapter 1", "Chapter 12", false},
		{"It works", "It works not at all, they say", false},
		{"他赢了。", "“他赢了”", true},
		{"...", "!", true},
		{"", "a", false},
	} {
		if IsVariant(c.a, c.b) != c.is || IsVariant(c.b, c.a) != c.is {
			t.Errorf("%q and %q: variant %v", c.a, c.b, !c.is)
		}
	}
}
