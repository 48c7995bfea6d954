package document

import (
	"bytes"
	"context"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"bitextmine/align/bead"
	"bitextmine/encode/embedding"
	"bitextmine/internal/badinput"
)

// letters encodes a text as its counts of letters.
type letters struct{ texts int }

func (e *letters) Dim() int { return 32 }

func (e *letters) Encode(_ context.Context, _ string, texts []string, dst []float32) error {
	e.texts += len(texts)
	clear(dst)
	for i, text := range texts {
		var square float64
		v := dst[i*32:][:32]
		for _, c := range []byte(strings.ToLower(text)) {
			v[c%32]++
		}
		for _, x := range v {
			square += float64(x * x)
		}
		for c := range v {
			v[c] /= float32(math.Sqrt(square))
		}
	}
	return nil
}

func file(t *testing.T, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "text")
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestRead(t *testing.T) {
	d, err := Read(file(t, "First  one.\n\n \nSecond.\r\n"), "en", 100)
	if err != nil || !slices.Equal(d.Sentences, []string{"First one.", "Second."}) || !slices.Equal(d.Lines, []uint64{1, 4}) {
		t.Errorf("%+v %v", d, err)
	}
	for name, content := range map[string]string{
		"empty": "\n \n", "no line": "", "HTML": "<!DOCTYPE html>\n<p>Text\n", "is HTML": "<div>\n<p>Text</p>\n</div>", ":2: ": "good\n\xff\n", ":1: ": strings.Repeat("x", 101),
	} {
		if _, err := Read(file(t, content), "en", 100); !badinput.Is(err) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestReadSubtitles: of subtitles the texts are read, with their lines, and a damaged cue is refused.
func TestReadSubtitles(t *testing.T) {
	const cues = "1\n00:00:01,000 --> 00:00:02,000\nFirst\none.\n\n2\n00:00:03,000 --> 00:00:04,000\n<i>Second.</i>\n\n"
	d, err := Read(file(t, cues), "en", 100)
	if err != nil || strings.Join(d.Sentences, "|") != "First one.|Second." || d.Lines[0] != 3 || d.Lines[1] != 8 {
		t.Errorf("%+v %v", d, err)
	}
	if _, err := Read(file(t, cues+"3\nThird.\n"), "en", 100); !badinput.Is(err) || !strings.Contains(err.Error(), ":10: malformed (a cue without times)") {
		t.Errorf("error %v", err)
	}
}

// TestCollectionsWithoutAddresses: url is read where there is one.
func TestCollectionsWithoutAddresses(t *testing.T) {
	read := func(name, content string) (*Collection, error) {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return ReadCollection(t.Context(), path, "en", "", 100)
	}
	for name, content := range map[string]string{
		"a.jsonl": `{"text":"One.","doc":"a"}` + "\n" + `{"text":"Two.","doc":"b","url":"u"}` + "\n",
		"a.tsv":   "doc\ttext\na\tOne.\nb\tTwo.\n",
		"a.csv":   "doc,text\na,One.\nb,Two.\n",
	} {
		c, err := read(name, content)
		if err != nil || len(c.Documents) != 2 || c.Documents[1].URL != map[string]string{"a.jsonl": "u"}[name] {
			t.Errorf("%s: %+v %v", name, c, err)
		}
	}
	if _, err := read("a.tsv", "text\turl\nOne.\tu\n"); !badinput.Is(err) {
		t.Errorf("without documents: %v", err)
	}
}

// TestGivenVectors: a row is of a line below the header, in TSV and CSV alike.
func TestGivenVectors(t *testing.T) {
	vectors := embedding.Matrix{N: 3, Dim: 2, F32: []float32{1, 0, 0, 1, 0.6, 0.8}}
	for name, content := range map[string]string{
		"a.tsv":   "doc\ttext\na\tOne.\na\tTwo.\nb\tThree.\n",
		"a.csv":   "doc,text\na,\"One.\nMore.\"\na,Two.\nb,Three.\n",
		"a.jsonl": `{"text":"One.","doc":"a"}` + "\n" + `{"text":"Two.","doc":"a"}` + "\n" + `{"text":"Three.","doc":"b"}` + "\n",
	} {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		c, err := ReadCollection(t.Context(), path, "en", "", 100)
		if err != nil {
			t.Fatal(err)
		}
		if s, err := c.SideOf(vectors, "a.npy", ""); err != nil || !slices.Equal(s.Vectors, vectors.F32) {
			t.Errorf("%s: %+v %v", name, s, err)
		}
	}
}

func TestReadPairs(t *testing.T) {
	got, _, err := ReadPairs(file(t, "a\tb\n\nc\td\n"), 100)
	if err != nil || !slices.Equal(got, []Pair{{"a", "b"}, {"c", "d"}}) {
		t.Errorf("%v %v", got, err)
	}
	for _, content := range []string{"src_doc\ttgt_doc\na\tb\n", "src_doc\ttgt_doc\tscore\na\tb\t1\n"} {
		if got, ids, err := ReadPairs(file(t, content), 100); err != nil || !ids || !slices.Equal(got, []Pair{{"a", "b"}}) {
			t.Errorf("%q: %v, ids %v, %v", content, got, ids, err)
		}
	}
	for name, content := range map[string]string{":1:": "a b\n", ":2:": "a\tb\na\tb\n", "tab": "a\tb\tc\n", "empty": "\n\n"} {
		if _, _, err := ReadPairs(file(t, content), 100); !badinput.Is(err) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestRows aligns two documents and checks what is written of them. A sentence that repeats is encoded once.
func TestRows(t *testing.T) {
	source := New("a.txt", "de", []string{"alpha beta", "gamma delta", "mu nu xi", "alpha beta"})
	target := New("b.txt", "en", []string{"ALPHA BETA", "GAMMA", "DELTA", "alpha beta"})
	target.Lines[3] = 9
	e := &letters{}
	aligned, err := Align(t.Context(), e, source, target, bead.DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	if want := 3 + 6 + 4 + 6; e.texts != want {
		t.Errorf("%d texts are encoded, want %d", e.texts, want)
	}
	var beads bytes.Buffer
	if err := aligned.WriteLadder(&beads); err != nil {
		t.Fatal(err)
	}
	var spans []string
	for line := range strings.Lines(beads.String()) {
		spans = append(spans, line[:strings.LastIndex(line, ":")])
	}
	if want := []string{"[0]:[0]", "[1]:[1, 2]", "[2]:[]", "[3]:[3]"}; !slices.Equal(spans, want) {
		t.Fatalf("beads %v, want %v", spans, want)
	}
	for _, deletions := range []bool{false, true} {
		rows := NewRows(Choice{Deletions: deletions, MinScore: -1})
		rows.Add(aligned)
		want := 3
		if deletions {
			want = 4
		}
		b, err := rows.Batch(0)
		if err != nil || b.Len() != want {
			t.Fatalf("%v rows, want %d: %v", rows.Len(), want, err)
		}
		texts, err := b.Texts("tgt_text")
		if err != nil {
			t.Fatal(err)
		}
		if got, _ := texts(1); got != "GAMMA DELTA" {
			t.Errorf("text of a span: %q", got)
		}
		for name, want := range map[string]float64{"n_tgt": 1, "tgt_line": 9, "tgt_first": 3, "src_first": 3, "src_line": 4} {
			numbers, err := b.Numbers(name)
			if err != nil {
				t.Fatal(err)
			}
			if got := numbers(b.Len() - 1); got != want {
				t.Errorf("%s of the last row is %v, want %v", name, got, want)
			}
		}
	}
	var c Counts
	c.Add(aligned)
	if want := (Counts{Documents: 1, OneToOne: 2, Other: 1, Deleted: 1}); c != want {
		t.Errorf("%+v, want %+v", c, want)
	}
	none, err := NewRows(Choice{}).Batch(0)
	if err != nil || none.Len() != 0 || !none.Has("found_by") {
		t.Errorf("a batch without rows: %v", err)
	}
}

// caseful tells capitals from small letters.
type caseful struct{ letters }

func (*caseful) Encode(_ context.Context, _ string, texts []string, dst []float32) error {
	for i, text := range texts {
		dst[i*32] = float32(strings.Count(text, "E"))
	}
	return nil
}

// TestSideIsCalm: documents are encoded as a run encodes them, sentences in capitals in lower case.
func TestSideIsCalm(t *testing.T) {
	c := &Collection{Documents: []*Document{New("", "de", []string{"EINE ZEILE", "ÜBER DEN ERSTEN ZEILEN"})}}
	side, err := c.Side(t.Context(), &caseful{})
	if err != nil {
		t.Fatal(err)
	}
	if side.Vectors[32] != 0 {
		t.Errorf("the second sentence is encoded with %v capitals E", side.Vectors[32])
	}
}

// TestForgedIDs: an id with tabs and line ends is one column of one row, and a row with other columns is refused.
func TestForgedIDs(t *testing.T) {
	const header = "src_doc\ttgt_doc\tscore\n"
	for _, id := range []string{"a\tb", "a\n/etc/passwd\tb\t1", `C:\texts\new`, "\r", `\\t`, "plain"} {
		got, ids, err := ReadPairs(file(t, header+Escape(id)+"\t"+Escape(id+"!")+"\t0.5\n"), 100)
		if err != nil || !ids || !slices.Equal(got, []Pair{{id, id + "!"}}) {
			t.Errorf("%q is read as %q, %v", id, got, err)
		}
	}
	if _, _, err := ReadPairs(file(t, header+"a\tb\tc\t0.5\n"), 100); !badinput.Is(err) || !strings.Contains(err.Error(), ":2:") {
		t.Errorf("a row of four columns: %v", err)
	}
}
