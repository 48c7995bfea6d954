package distil

import (
	"os"
	"slices"
	"strings"
	"testing"

	"bitextmine/encode/encodetest"
	"bitextmine/encode/sentencepiece"
	"bitextmine/internal/badinput"
)

func testPieces(t testing.TB) []byte {
	t.Helper()
	data, err := os.ReadFile(encodetest.Pieces())
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// cutText gives the spellings of a text's pieces.
func cutText(t *testing.T, model []byte, text string) []string {
	t.Helper()
	m, err := sentencepiece.New(model)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	var pieces []string
	if err := m.Encode([]string{text}, 1000, func(_ int, ids []int32) {
		for _, id := range ids {
			pieces = append(pieces, m.Piece(id))
		}
	}); err != nil {
		t.Fatal(err)
	}
	return pieces
}

func TestPrunedVocabularyCutsTextOfItsPiecesAsBefore(t *testing.T) {
	data := testPieces(t)
	p, err := ParsePieces(data)
	if err != nil {
		t.Fatal(err)
	}
	text := "The old bridge over the river was closed on Monday because of the heavy rain."
	before := cutText(t, data, text)
	counts := make([]int, len(p.raw))
	for i, spelling := range p.spelling {
		if slices.Contains(before, spelling) {
			counts[i] = 1
		}
	}
	const n = 20_000
	keep, err := p.Choose(n, counts)
	if err != nil {
		t.Fatal(err)
	}
	kept := 0
	for i := range keep {
		if keep[i] {
			kept++
		}
		if (p.fixed[i] || counts[i] > 0) && !keep[i] {
			t.Errorf("the piece %q is left out", p.spelling[i])
		}
	}
	if kept != n {
		t.Errorf("%d pieces are kept, want %d", kept, n)
	}
	if after := cutText(t, p.Model(keep), text); !slices.Equal(after, before) {
		t.Errorf("the text is cut into %q, before into %q", after, before)
	}
	if _, err := p.Choose(10, counts); err == nil || !badinput.Is(err) || !strings.Contains(err.Error(), "ask for more pieces") {
		t.Errorf("a vocabulary of 10 pieces: %v", err)
	}
}

func FuzzParsePieces(f *testing.F) {
	data := testPieces(f)
	f.Add(data[:200])
	f.Add([]byte{0x0a, 0x02, 0x0a, 0x05})
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := ParsePieces(data)
		if err != nil {
			if !badinput.Is(err) {
				t.Errorf("%v is not marked as bad input", err)
			}
			return
		}
		keep, err := p.Choose(0, make([]int, len(p.raw)))
		if err != nil {
			t.Fatal(err)
		}
		if again, err := ParsePieces(p.Model(keep)); err != nil || len(again.raw) != len(p.raw) {
			t.Errorf("a model of all pieces cannot be read again: %v", err)
		}
	})
}
