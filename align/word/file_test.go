package word

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"bitextmine/bitext/exchange"
	"bitextmine/internal/badinput"
)

func write(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestWriteKeepsLines: in every format a pair without words has an empty line, and the others' lines are the same.
func TestWriteKeepsLines(t *testing.T) {
	unit := func(de, en string) string {
		return `<tu><tuv xml:lang="de"><seg>` + de + `</seg></tuv><tuv xml:lang="en"><seg>` + en + `</seg></tuv></tu>`
	}
	opts := exchange.DefaultOptions()
	opts.SourceLanguage, opts.TargetLanguage = "de", "en"
	for name, in := range map[string]FileInput{
		"TSV":     {File: write(t, "a.tsv", "src_text\ttgt_text\nDas Haus.\tThe house.\nleer\t\nDas Buch.\tThe book.\n"), Exchange: opts},
		"JSONL":   {File: write(t, "a.jsonl", `{"src_text":"Das Haus.","tgt_text":"The house."}`+"\n"+`{"src_text":"leer","tgt_text":""}`+"\n"+`{"src_text":"Das Buch.","tgt_text":"The book."}`+"\n"), Exchange: opts},
		"TMX":     {File: write(t, "a.tmx", `<tmx version="1.4"><body>`+unit("Das Haus.", "The house.")+unit("leer", "")+unit("Das Buch.", "The book.")+`</body></tmx>`), Exchange: opts},
		"aligned": {Source: write(t, "a.de", "Das Haus.\nleer\nDas Buch.\n"), Target: write(t, "a.en", "The house.\n\nThe book.\n"), Exchange: opts},
	} {
		var links, tokens strings.Builder
		w := DefaultFileAligner()
		w.Symmetry = Union
		sum, err := w.Write(t.Context(), in, &links, &tokens, func(Progress) {})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if want := "0-0 1-1 2-2\n\n0-0 1-1 2-2\n"; links.String() != want {
			t.Errorf("%s: links %q, want %q", name, links.String(), want)
		}
		if want := "das haus . ||| the house .\n"; !strings.HasPrefix(tokens.String(), want) || strings.Count(tokens.String(), "\n") != 3 {
			t.Errorf("%s: tokens %q", name, tokens.String())
		}
		if sum != (FileSummary{Pairs: 3, Skipped: 1, Links: 6}) {
			t.Errorf("%s: %+v", name, sum)
		}
	}
}

// randomLinks are those of n pairs of 20 to 39 words, of which both directions have most.
func randomLinks(n int) *Alignments {
	rng := rand.New(rand.NewPCG(1, 2))
	found := &Alignments{pairs: &Pairs{}}
	words := strings.Fields(strings.Repeat("a ", 40))
	for range n {
		n, m := 20+rng.IntN(20), 20+rng.IntN(20)
		found.pairs.Add(words[:n], words[:m])
		for j := range m {
			found.forward = append(found.forward, choice{int32(min(j, n-1)), rng.Float32()})
		}
		for i := range n {
			found.backward = append(found.backward, choice{int32(min(i+max(0, rng.IntN(9)-7), m-1)), rng.Float32()})
		}
	}
	return found
}

// TestLinesAreInOrder: on any number of threads the lines are those of the pairs one after the other.
func TestLinesAreInOrder(t *testing.T) {
	found := randomLinks(2*linesAtOnce + 100)
	for _, how := range []Symmetry{Forward, Backward, Union, GrowDiagFinalAnd} {
		var want []byte
		for i := range found.pairs.Len() {
			want = AppendLinks(want, found.Of(i, how), true)
		}
		for _, threads := range []int{0, 1, 3} {
			w := FileAligner{Symmetry: how, Scores: true, Model: Options{Threads: threads}}
			var got bytes.Buffer
			var sum FileSummary
			if err := w.write(found, &got, &sum); err != nil || !bytes.Equal(got.Bytes(), want) || sum.Links != bytes.Count(want, []byte(":")) {
				t.Errorf("%s, %d threads: the lines are others, or counted as %+v, error %v", how, threads, sum, err)
			}
		}
	}
}

func BenchmarkWrite(b *testing.B) {
	found, w := randomLinks(20_000), DefaultFileAligner()
	for b.Loop() {
		var sum FileSummary
		if err := w.write(found, io.Discard, &sum); err != nil || sum.Links == 0 {
			b.Fatal(sum, err)
		}
	}
}

// TestScoresAreWritten: what Write writes with scores, the reader of links reads.
func TestScoresAreWritten(t *testing.T) {
	in := FileInput{File: write(t, "a.tsv", strings.Repeat("Das Haus.\tThe house.\nDas Buch.\tThe book.\n", 5)), Exchange: exchange.DefaultOptions()}
	var out strings.Builder
	w := DefaultFileAligner()
	w.Scores = true
	if _, err := w.Write(t.Context(), in, &out, nil, func(Progress) {}); err != nil {
		t.Fatal(err)
	}
	links, err := NewLinkReader(strings.NewReader(out.String()), "out", 0).Next()
	if err != nil || len(links) != 3 || links[1].Score < 0.8 || links[1].Score > 1 {
		t.Errorf("%v, %v", links, err)
	}
}

func TestWriteRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		in   FileInput
		says string
	}{
		"nothing on one side": {FileInput{File: write(t, "a.tsv", "a\t\nb\t\n"), Exchange: exchange.DefaultOptions()}, "none of the 2 pairs has words on both sides"},
		"no such file":        {FileInput{File: "nowhere.tsv", Exchange: exchange.DefaultOptions()}, "nowhere.tsv"},
		"no such Parquet":     {FileInput{File: "nowhere.parquet", Exchange: exchange.DefaultOptions()}, "nowhere.parquet"},
		"uneven files":        {FileInput{Source: write(t, "a.de", "a\nb\n"), Target: write(t, "a.en", "a\n")}, "has 2 lines but"},
	} {
		_, err := DefaultFileAligner().Write(t.Context(), c.in, &strings.Builder{}, nil, func(Progress) {})
		if !badinput.Is(err) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %q", name, err, c.says)
		}
	}
	in := FileInput{File: write(t, "a.tsv", "a\tb\n"), Exchange: exchange.DefaultOptions()}
	if _, err := DefaultFileAligner().Write(t.Context(), in, full{}, nil, func(Progress) {}); !errors.Is(err, errFull) {
		t.Errorf("a full disk: %v", err)
	}
}

var errFull = errors.New("full")

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errFull }
