package label

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"bitextmine/bitext"
	"bitextmine/bitext/table"
	"bitextmine/corpus"
	"bitextmine/internal/badinput"
)

func labelOf(n int, accepted bool) Label {
	return Label{Source: fmt.Sprintf("%032x", n), Target: fmt.Sprintf("%032x", n+1), Accepted: accepted}
}

func TestLastLabelCounts(t *testing.T) {
	dir := t.TempDir()
	if labels, err := Latest(dir); labels != nil || err != nil {
		t.Errorf("without a file: %v %v", labels, err)
	}
	for _, l := range []Label{labelOf(5, false), labelOf(2, false), labelOf(5, true)} {
		if err := Append(dir, []Label{l}); err != nil {
			t.Fatal(err)
		}
	}
	labels, err := Latest(dir)
	if err != nil || !slices.Equal(labels, []Label{labelOf(2, false), labelOf(5, true)}) {
		t.Errorf("%v, %v", labels, err)
	}
	if err := Append(dir, []Label{labelOf(2, false)}); err != nil {
		t.Fatal(err)
	}
	if again, _ := Latest(dir); !slices.Equal(again, labels) {
		t.Errorf("the labels are %v, then %v", labels, again)
	}
}

// TestLabelsOfNights: a label that is given to a night is the output directory's.
func TestLabelsOfNights(t *testing.T) {
	out := t.TempDir()
	night := filepath.Join(out, RunsName, "000001-2026-01-02")
	if err := os.MkdirAll(night, 0o755); err != nil {
		t.Fatal(err)
	}
	latest := filepath.Join(out, LatestName)
	if err := os.Symlink(filepath.Join(RunsName, "000001-2026-01-02"), latest); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(Append(latest, []Label{labelOf(2, false)}), Append(night, []Label{labelOf(5, true)})); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{out, latest, night} {
		if labels, err := Latest(dir); err != nil || !slices.Equal(labels, []Label{labelOf(2, false), labelOf(5, true)}) {
			t.Errorf("%s has %v, %v", dir, labels, err)
		}
	}
}

// TestKilledWriter: wherever the last write was cut off, the labels before it are there, and so is the next one.
func TestKilledWriter(t *testing.T) {
	whole := t.TempDir()
	if err := Append(whole, []Label{labelOf(1, false), labelOf(2, true)}); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(whole, Name))
	if err != nil {
		t.Fatal(err)
	}
	line := strings.IndexByte(string(data), '\n') + 1
	for n := line; n < len(data); n++ {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, Name), data[:n], 0o600); err != nil {
			t.Fatal(err)
		}
		want := []Label{labelOf(1, false)}
		if n == len(data)-1 { // the line was complete apart from its end
			want = append(want, labelOf(2, true))
		}
		if labels, err := Latest(dir); err != nil || !slices.Equal(labels, want) {
			t.Fatalf("cut after %d bytes: %v, %v", n, labels, err)
		}
		if err := Append(dir, []Label{labelOf(3, false)}); err != nil {
			t.Fatal(err)
		}
		want = append(want, labelOf(3, false))
		if labels, err := Latest(dir); err != nil || !slices.Equal(labels, want) {
			t.Fatalf("cut after %d bytes and labelled again: %v, %v", n, labels, err)
		}
	}
}

func TestWritersAtOnce(t *testing.T) {
	dir := t.TempDir()
	var group sync.WaitGroup
	for n := range 8 {
		group.Go(func() {
			for i := range 20 {
				if err := Append(dir, []Label{labelOf(100*n+i, false)}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	if labels, err := Latest(dir); err != nil || len(labels) != 160 {
		t.Errorf("%d labels of 160, %v", len(labels), err)
	}
}

func TestBadLabels(t *testing.T) {
	keys := `"src_key":"` + strings.Repeat("AF", 16) + `","tgt_key":"` + strings.Repeat("0", 32) + `"`
	for name, content := range map[string]string{
		"another line":   "x\n",
		"a short key":    `{"src_key":"12","tgt_key":"13","accepted":true}` + "\n",
		"a long line":    strings.Repeat("x", 2*maxLine) + "\n",
		"another object": `{"a":1}` + "\n",
		"no decision":    "{" + keys + `,"accept":true}` + "\n",
		"a null":         "{" + keys + `,"accepted":null}`,
		"a misspelt key": "{" + keys + `,"accepted":true,"src_txt":"a"}`,
		"lines of DOS":   "{" + keys + `,"acepted":true}` + "\r\n",
		"a blank text":   "{" + keys + `,"accepted":true,"src_text":" ","tgt_text":"b"}`,
		"not UTF-8":      "{" + keys + `,"accepted":true,"by":"` + "\xff" + `"}`,
		"one text":       "{" + keys + `,"accepted":true,"src_text":"a"}`,
		"texts rejected": "{" + keys + `,"accepted":false,"src_text":"a","tgt_text":"b"}`,
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, Name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Latest(dir); err == nil || !badinput.Is(err) || !strings.Contains(err.Error(), Name+":1") {
			t.Errorf("%s: error %v", name, err)
		}
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, Name), []byte("\xef\xbb\xbf{"+keys+`,"accepted":true}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if labels, err := Latest(dir); err != nil || len(labels) != 1 || labels[0].Source != strings.Repeat("af", 16) {
		t.Errorf("keys in capitals: %v, %v", labels, err)
	}
	for _, text := range []string{"", "12:13", strings.Repeat("0", 32), strings.Repeat("g", 32) + ":" + strings.Repeat("0", 32)} {
		if _, err := Key(text); err == nil || !badinput.Is(err) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// TestRows: rows of a bitext and of a file of texts name the same pair.
func TestRows(t *testing.T) {
	source, target := corpus.KeyOf("Haus"), corpus.KeyOf("house")
	parquet := filepath.Join(t.TempDir(), "x.parquet")
	f, err := os.Create(parquet)
	if err != nil {
		t.Fatal(err)
	}
	w, err := bitext.NewWriter(f, bitext.Metadata{})
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range []bitext.Row{{}, {Source: bitext.Sentence{Text: "Haus", Key: source}, Target: bitext.Sentence{Text: "house", Key: target}}} {
		if err := w.Append(row); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	tsv := filepath.Join(t.TempDir(), "x.tsv")
	if err := os.WriteFile(tsv, []byte(" Haus \thouse\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	byRow, err := Rows(t.Context(), parquet, []uint64{1}, [2]string{})
	if err != nil {
		t.Fatal(err)
	}
	byText, err := Rows(t.Context(), tsv, nil, [2]string{})
	if err != nil || !slices.Equal(byRow, byText) || byRow[0].Source != fmt.Sprintf("%x", source[:]) {
		t.Errorf("%v and %v, %v", byRow, byText, err)
	}
	// A row that was added by hand goes by its texts, and what is no key is refused before it is in the labels.
	keyed := "src_key\ttgt_key\tsrc_text\ttgt_text\n%s\t%s\tHaus\thouse\n"
	if err := os.WriteFile(tsv, fmt.Appendf(nil, keyed, "", ""), 0o600); err != nil {
		t.Fatal(err)
	}
	if added, err := Rows(t.Context(), tsv, nil, [2]string{}); err != nil || !slices.Equal(added, byRow) {
		t.Errorf("a row without keys: %v, %v", added, err)
	}
	if err := os.WriteFile(tsv, fmt.Appendf(nil, keyed, strings.ToUpper(byRow[0].Source), byRow[0].Target), 0o600); err != nil {
		t.Fatal(err)
	}
	if upper, err := Rows(t.Context(), tsv, nil, [2]string{}); err != nil || !slices.Equal(upper, byRow) {
		t.Errorf("capital letters: %v, %v", upper, err)
	}
	if err := os.WriteFile(tsv, fmt.Appendf(nil, keyed, "abc", byRow[0].Target), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Rows(t.Context(), tsv, nil, [2]string{}); !badinput.Is(err) || !strings.Contains(err.Error(), "row 0") {
		t.Errorf("what is no key: %v", err)
	}
	half, err := table.NewBatch(1, 0, table.Values{Name: "src_key", Text: []string{"abc"}}, table.Values{Name: "tgt_text", Text: []string{"house"}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Keys(half); err == nil {
		t.Error("one key and the other's text are taken")
	}
	if _, err := Rows(t.Context(), parquet, []uint64{2}, [2]string{}); err == nil || !badinput.Is(err) {
		t.Errorf("a row that is not there: %v", err)
	}
}

// TestLabelsOfAPipe: a named pipe in the place of the file is refused at once.
func TestLabelsOfAPipe(t *testing.T) {
	dir := t.TempDir()
	if err := unix.Mkfifo(filepath.Join(dir, Name), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Latest(dir); !badinput.Is(err) {
		t.Errorf("reading: %v", err)
	}
	if err := Append(dir, []Label{labelOf(1, true)}); !badinput.Is(err) {
		t.Errorf("writing: %v", err)
	}
}
