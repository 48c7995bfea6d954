package score

import "testing"

// TestDropVariants: where numbers say nothing, a sentence with another time is a variant.
func TestDropVariants(t *testing.T) {
	texts := Texts{{"12:03 closed", "12:47 closed", "12:03 opened"}, nil}
	for _, numberless := range []bool{false, true} {
		free := [2][]freeSentence{{{}, {p: 0.5, winner: 0}, {p: 0.5, winner: 0}}, nil}
		if err := TextsOf(texts.Of).dropVariants(free, numberless); err != nil {
			t.Fatal(err)
		}
		if dropped := free[0][1].p == 0; dropped != numberless || free[0][2].p == 0 {
			t.Errorf("numbers say nothing %v: %v", numberless, free[0])
		}
	}
}

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
