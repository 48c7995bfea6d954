package distil

import (
	"os"
	"strings"
	"testing"

	"bitextmine/encode/model"
	"bitextmine/internal/badinput"
)

// TestPiecesLeaveSentencesOut: sentences with a piece that the student lacks are counted, and told of; a text of which
// too few are left is refused.
func TestPiecesLeaveSentencesOut(t *testing.T) {
	const rare = "an unquestionably extraordinary constitutional controversy"
	common := writeSentences(t, minSentences+100)
	raw, err := os.ReadFile(common)
	if err != nil {
		t.Fatal(err)
	}
	text := write(t, t.TempDir(), "text.en", rare+"\n"+string(raw))
	read := func(text string, size int) (*pieces, []string, error) {
		var told []string
		o := besideOptions(t, text)
		o.Pieces, o.Report = size, func(what string) { told = append(told, what) }
		m, err := model.Load(o.Teacher)
		if err != nil {
			t.Fatal(err)
		}
		source, err := openTeacher(o, m)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = source.cached.Close() }()
		p, err := readPieces(t.Context(), o, source)
		return p, told, err
	}
	fixed := fewestPieces(t)
	p, told, err := read(text, fixed+len(nouns))
	if err != nil {
		t.Fatal(err)
	}
	if all := strings.Join(told, "\n"); p.lacking != 1 || !strings.Contains(all, "1 sentences of the text are left out: the student's vocabulary (--pieces") {
		t.Errorf("%d sentences are left out, and it says %q", p.lacking, all)
	}
	_, _, err = read(text, fixed)
	if !badinput.Is(err) || !strings.Contains(err.Error(), "fewer than the 10000") || !strings.Contains(err.Error(), "give more --pieces") {
		t.Errorf("got %v, want bad input about --pieces", err)
	}
	if p, _, err = read(text, 0); err != nil || p.lacking != 0 {
		t.Errorf("with all pieces: %v, error %v", p, err)
	}
}

// fewestPieces is the smallest vocabulary that use-static's can be cut to.
func fewestPieces(t *testing.T) int {
	t.Helper()
	m, err := model.Load("use-static")
	if err != nil {
		t.Fatal(err)
	}
	file, err := m.ReadFile(m.Tokenizer.File)
	if err != nil {
		t.Fatal(err)
	}
	p, err := ParsePieces(file)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, fixed := range p.fixed {
		if fixed {
			n++
		}
	}
	return n
}
