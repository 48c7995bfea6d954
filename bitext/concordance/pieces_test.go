package concordance

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"bitextmine/internal/badinput"
)

func TestPieces(t *testing.T) {
	for _, c := range []struct {
		text string
		mode Mode
		want string
	}{
		{"mein Haus", Words, "[{mein false} {Haus false}]"},
		{`+Haus -Tom`, Words, "[{Haus false} {Tom true}]"},
		{`"mein  Haus" -"der Tom" -Ort`, Words, "[{mein Haus false} {der Tom true} {Ort true}]"},
		{`„mein Haus“ «ton toit»`, Fuzzy, "[{mein Haus false} {ton toit false}]"},
		{`E-Mail -5 C++ - -- --help +5 24"`, Words, `[{E-Mail false} {-5 false} {C++ false} {- false} {-- false} {--help false} {5 false} {24" false}]`},
		{`"rm -rf" ""`, Words, "[{rm -rf false}]"},
		{`5 "`, Words, `[{5 false} {" false}]`},
		{`er sagte: "mein Haus" -Tom laut "`, Phrase, `[{Tom true} {er sagte: mein Haus laut " false}]`},
	} {
		got, err := Query{Text: c.text, Mode: c.mode}.Pieces()
		if err != nil || fmt.Sprint(got) != c.want {
			t.Errorf("%s: %v, error %v, want %s", c.text, got, err, c.want)
		}
	}
	if _, err := (Query{Text: `"mein Haus`, Mode: Words}).Pieces(); !badinput.Is(err) {
		t.Errorf("an open quotation: error %v", err)
	}
}

// TestQuotesAndMinus: a phrase in quotation marks stands together, and what follows a minus is in no hit, in a
// translation either.
func TestQuotesAndMinus(t *testing.T) {
	pairs := []pair{
		{"Mein Haus ist alt.", "My house is old.", 1.2},
		{"Das Haus ist mein.", "The building is mine.", 1.2},
		{"Tom sieht mein Haus.", "Tom sees my house.", 1.2},
		{"Das alte Haus von O'Brien.", "The old building of O'Brien.", 1.2},
		{"Brien, o Haus!", "Brien, oh house!", 1.2},
	}
	dir := t.TempDir()
	x := open(t, filepath.Join(dir, "index"), write(t, filepath.Join(dir, "b.parquet"), [2]string{"de", "en"}, pairs))
	source := [2]bool{true, false}
	for _, c := range []struct {
		q    Query
		want []int
	}{
		{Query{Text: "mein Haus"}, []int{0, 1, 2}},
		{Query{Text: `"mein Haus"`}, []int{0, 2}},
		{Query{Text: `"haus mein"`}, nil},
		{Query{Text: "+Haus -Tom"}, []int{0, 1, 3, 4}},
		{Query{Text: "Haus -house"}, []int{1, 3}},
		{Query{Text: "Haus -house", Sides: source}, []int{0, 1, 2, 3, 4}},
		{Query{Text: `Haus -"mein Haus"`}, []int{1, 3, 4}},
		{Query{Text: `"mein Haus" -Tom`}, []int{0}},
		{Query{Text: "mein Haus -Tom", Mode: Phrase}, []int{0}},
		{Query{Text: `Haus -O'Brien`}, []int{0, 1, 2, 4}},
		{Query{Text: `Hauz -Ton`, Mode: Fuzzy}, []int{0, 1, 2, 3, 4}},
		{Query{Text: `Hauz -Tom`, Mode: Fuzzy}, []int{0, 1, 3, 4}},
	} {
		if c.q.Mode == "" {
			c.q.Mode = Words
		}
		if got := found(t, x, c.q, pairs); !slices.Equal(got, c.want) {
			t.Errorf("%+v finds %v, want %v", c.q, got, c.want)
		}
		c.q.Limit = 0 // counted, not shown
		if c.q.Sides == [2]bool{} {
			c.q.Sides = [2]bool{true, true}
		}
		if r, err := x.Search(t.Context(), c.q); err != nil || r.Total != len(c.want) {
			t.Errorf("%+v counts %+v, error %v, want %d", c.q, r, err, len(c.want))
		}
	}
	for _, text := range []string{"-Tom", `"mein`, `""`} {
		if _, err := x.Search(t.Context(), Query{Text: text, Mode: Words, Sides: source}); !badinput.Is(err) {
			t.Errorf("%s: error %v", text, err)
		}
	}
}
