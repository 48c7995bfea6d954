package sentencepiece

import (
	"bitextmine/encode/encodetest"
	"bufio"
	"bytes"
	"compress/gzip"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

var update = flag.Bool("update", false, "write the golden ids anew with spm_encode")

var modelFile = encodetest.Pieces()

const (
	sentences = "testdata/sentences.txt" // written for this test
	golden    = "testdata/sentences.ids" // output of spm_encode 0.1.97
)

func load(t testing.TB) *Model {
	t.Helper()
	data, err := os.ReadFile(modelFile)
	if err != nil {
		t.Fatal(err)
	}
	m, err := New(data)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.Close)
	return m
}

func lines(t testing.TB, path string) []string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
}

// encode returns each text's ids as spm_encode prints them.
func encode(t testing.TB, m *Model, texts []string, maxIDs int) []string {
	t.Helper()
	out := make([]string, len(texts))
	err := m.Encode(texts, maxIDs, func(i int, ids []int32) {
		words := make([]string, len(ids))
		for j, id := range ids {
			words[j] = strconv.Itoa(int(id))
		}
		out[i] = strings.Join(words, " ")
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func spmEncode(t testing.TB, texts []string) []string {
	t.Helper()
	program, err := exec.LookPath("spm_encode")
	if err != nil {
		t.Skip("spm_encode is not installed (Debian package sentencepiece)")
	}
	c := exec.Command(program, "--model="+modelFile, "--output_format=id")
	c.Stdin = strings.NewReader(strings.Join(texts, "\n") + "\n")
	out, err := c.Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
}

func TestIDsAreSpmEncodes(t *testing.T) {
	texts := lines(t, sentences)
	if *update {
		if err := os.WriteFile(golden, []byte(strings.Join(spmEncode(t, texts), "\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want := lines(t, golden)
	got := encode(t, load(t), texts, 1000)
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("%q gives %s, want %s", texts[i], got[i], want[i])
		}
	}
}

func TestIDsAreSpmEncodesOnRealText(t *testing.T) {
	files, _ := filepath.Glob("../../../shared/data/train/tatoeba.en-*.gz")
	if len(files) == 0 {
		t.Skip("needs the development data beside the checkout")
	}
	var texts []string
	for _, path := range files {
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		text, err := gzip.NewReader(f)
		if err != nil {
			t.Fatal(err)
		}
		s := bufio.NewScanner(text)
		for range 4000 {
			if !s.Scan() {
				break
			}
			texts = append(texts, strings.Split(strings.ReplaceAll(s.Text(), "\r", " "), "\t")...)
		}
		f.Close()
	}
	if len(texts) < 10000 {
		t.Fatalf("only %d sentences in %d files", len(texts), len(files))
	}
	want, got, bad := spmEncode(t, texts), encode(t, load(t), texts, 4000), 0
	if len(want) != len(got) {
		t.Fatalf("spm_encode gave %d lines for %d", len(want), len(got))
	}
	for i := range want {
		if got[i] != want[i] {
			bad++
		}
	}
	if bad > 0 {
		t.Errorf("%d of %d sentences differ", bad, len(texts))
	}
	t.Logf("%d sentences are the same", len(texts)-bad)
}

func TestEncodeCutsAndCrossesCalls(t *testing.T) {
	m := load(t)
	text := lines(t, sentences)[0]
	whole := strings.Fields(encode(t, m, []string{text}, 1000)[0])
	texts := slices.Repeat([]string{text, "", "a"}, Call) // three calls into C
	for _, maxIDs := range []int{1, 3, len(whole), 200} {
		got := encode(t, m, texts, maxIDs)
		for i := range texts {
			want := strings.Join(whole[:min(maxIDs, len(whole))], " ")
			switch i % 3 {
			case 1:
				want = ""
			case 2:
				want = encode(t, m, []string{"a"}, 9)[0]
			}
			if got[i] != want {
				t.Fatalf("at most %d: text %d gives %q, want %q", maxIDs, i, got[i], want)
			}
		}
	}
	if err := m.Encode([]string{"a"}, 0, func(int, []int32) {}); err == nil {
		t.Error("room for no ids was accepted")
	}
	if err := m.Encode(nil, 5, func(int, []int32) { t.Error("a call for no text") }); err != nil {
		t.Error(err)
	}
}

func TestManyGoroutines(t *testing.T) {
	m := load(t)
	texts := slices.Repeat(lines(t, sentences), 40)
	want := encode(t, m, texts, 50)
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			if !slices.Equal(encode(t, m, texts, 50), want) {
				t.Error("another goroutine's ids")
			}
		})
	}
	group.Wait()
}

func TestIDs(t *testing.T) {
	m := load(t)
	if id, ok := m.ID("<unk>"); !ok || id != m.Unknown() {
		t.Errorf("<unk> is %d, %v; unknown is %d", id, ok, m.Unknown())
	}
	if id, ok := m.ID("no such piece"); ok {
		t.Errorf("a piece that is not there has the id %d", id)
	}
	if m.Size() != 45000 {
		t.Errorf("%d pieces", m.Size())
	}
}

// TestShared: who has the same model open shares it, and the last one frees it.
func TestShared(t *testing.T) {
	data, err := os.ReadFile(modelFile)
	if err != nil {
		t.Fatal(err)
	}
	var all []*Model
	for range 3 {
		m, err := New(slices.Clone(data))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, m)
	}
	if all[0].loaded != all[1].loaded || all[0].loaded != all[2].loaded {
		t.Error("the same model is loaded several times")
	}
	all[0].Close()
	if _, _, err := all[2].Places("Haus"); err != nil || encode(t, all[1], []string{"Haus"}, 9)[0] == "" {
		t.Errorf("one closed it, and the others cannot use it: %v", err)
	}
	all[1].Close()
	all[2].Close()
	if len(opened.models) > 0 {
		t.Errorf("%d models are open", len(opened.models))
	}
}

func TestNewRefuses(t *testing.T) {
	for _, data := range [][]byte{nil, []byte("not a model"), bytes.Repeat([]byte{0xff}, 1000)} {
		if m, err := New(data); err == nil {
			m.Close()
			t.Errorf("%.20q was taken for a model", data)
		}
	}
}

func FuzzEncode(f *testing.F) {
	for _, text := range lines(f, sentences) {
		f.Add(text)
	}
	f.Add("\xff\xfe\x00 broken")
	m := load(f)
	f.Fuzz(func(t *testing.T, text string) {
		check := func(_ int, ids []int32) {
			if len(ids) > 64 {
				t.Fatalf("%d ids", len(ids))
			}
			for _, id := range ids {
				if id < 0 || int(id) >= m.Size() {
					t.Fatalf("id %d of %d", id, m.Size())
				}
			}
		}
		if err := m.Encode([]string{text, "after"}, 64, check); err != nil {
			t.Fatal(err)
		}
	})
}

func BenchmarkEncode(b *testing.B) {
	m := load(b)
	texts := slices.Repeat(lines(b, sentences), 100)
	n := 0
	b.ReportAllocs()
	for b.Loop() {
		if err := m.Encode(texts, 128, func(_ int, ids []int32) { n += len(ids) }); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(len(texts)*b.N)/b.Elapsed().Seconds(), "sentences/s")
}

// TestPlaces: Places returns the ids of Encode, pieces end in order, and the last one ends after the last character
// that is not white space.
func TestPlaces(t *testing.T) {
	m := load(t)
	for _, text := range append(lines(t, sentences), "", "  a  Größe ") {
		ids, ends, err := m.Places(text)
		if err != nil || len(ends) != len(ids) || !slices.IsSorted(ends) {
			t.Fatalf("%q: %v %v %v", text, ids, ends, err)
		}
		if err := m.Encode([]string{text}, max(1, len(ids)+1), func(_ int, want []int32) {
			if !slices.Equal(ids, want) {
				t.Errorf("%q: %v, want %v", text, ids, want)
			}
		}); err != nil {
			t.Fatal(err)
		}
		if n := len(ends); n > 0 && strings.TrimSpace(text[ends[n-1]:]) != "" {
			t.Errorf("%q: the last piece ends at %d", text, ends[n-1])
		}
	}
	_, ends, err := m.Places("Größe. Haus")
	if err != nil || !slices.Contains(ends, len("Größe.")) {
		t.Errorf("%v %v", ends, err)
	}
}
