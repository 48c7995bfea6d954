package concordance

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"bitextmine/bitext"
	"bitextmine/internal/badinput"
)

// pair is a source, a target and a margin.
type pair struct {
	source, target string
	margin         float32
}

// write makes a bitext file of pairs that were all kept.
func write(t testing.TB, path string, languages [2]string, pairs []pair) string {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	w, err := bitext.NewWriter(f, bitext.Metadata{Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	for i, p := range pairs {
		side := func(text, language string) bitext.Sentence {
			key := sha256.Sum256([]byte(text))
			return bitext.Sentence{Text: text, Lang: language, Key: [16]byte(key[:16]), Doc: fmt.Sprintf("%s-%d", language, i),
				Shard: language + "#1.txt#0", Line: uint64(i + 1)}
		}
		row := bitext.Row{Source: side(p.source, languages[0]), Target: side(p.target, languages[1]), Score: p.margin, Keep: p.margin > 1}
		if !row.Keep {
			row.Reasons = []string{"below_threshold"}
		}
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
	return path
}

func open(t testing.TB, dir, path string) *Index {
	t.Helper()
	x, err := Open(t.Context(), dir, path, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := x.Close(); err != nil {
			t.Error(err)
		}
	})
	return x
}

var german = []pair{
	{"Das alte Haus steht am See.", "The old house stands by the lake.", 1.3},
	{"Viele Häuser sind alt.", "Many houses are old.", 1.2},
	{"Der Strompreis ist gestiegen.", "The price of electricity rose.", 1.4},
	{"Er liest ein Buch über den See.", "He is reading a book about the lake.", 1.1},
	{"Der Preis ist das alte Haus nicht wert.", "The house is not worth its price, old as it is.", 1.5},
	{"Verworfen ist dieses Haus.", "This house is thrown out.", 0.9},
}

// found lists the source sentences of the hits by their place in the pairs.
func found(t *testing.T, x *Index, q Query, pairs []pair) []int {
	t.Helper()
	if q.Limit == 0 {
		q.Limit = 100
	}
	if q.Sides == [2]bool{} {
		q.Sides = [2]bool{true, true}
	}
	result, err := x.Search(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	if result.Total != len(result.Hits) {
		t.Errorf("%+v: %d hits of %d", q, len(result.Hits), result.Total)
	}
	var at []int
	for _, hit := range result.Hits {
		i := slices.IndexFunc(pairs, func(p pair) bool { return p.source == hit.Texts[0] && p.target == hit.Texts[1] })
		if i < 0 {
			t.Fatalf("%+v: %q is no pair of the bitext", q, hit.Texts)
		}
		if hit.Score != pairs[i].margin || hit.Line[0] == 0 || hit.Doc[1] == "" || hit.File[1] != x.Languages[1]+"#1.txt" {
			t.Errorf("pair %d is said to be %+v", i, hit.About)
		}
		at = append(at, i)
	}
	slices.Sort(at)
	return at
}

func TestSearch(t *testing.T) {
	dir := t.TempDir()
	x := open(t, filepath.Join(dir, "index"), write(t, filepath.Join(dir, "de-en.parquet"), [2]string{"de", "en"}, german))
	if x.Languages != [2]string{"de", "en"} || x.Pairs != 5 || x.Changed != 5 {
		t.Errorf("index %+v", x)
	}
	source, target := [2]bool{true, false}, [2]bool{false, true}
	for _, c := range []struct {
		q    Query
		want []int
	}{
		{Query{Text: "Haus", Mode: Words}, []int{0, 1, 4}}, // forms; a pair that was thrown out is not there
		{Query{Text: "haus alt", Mode: Words, Sides: source}, []int{0, 1, 4}},
		{Query{Text: "das", Mode: Words, Sides: source}, []int{0, 4}}, // function words, too
		{Query{Text: "alte Haus", Mode: Phrase, Sides: source}, []int{0, 4}},
		{Query{Text: "house old", Mode: Phrase, Sides: target}, nil},
		{Query{Text: "old house", Mode: Phrase}, []int{0}},
		{Query{Text: "lake", Mode: Words, Sides: source}, nil},
		{Query{Text: "lake", Mode: Words, Sides: target}, []int{0, 3}},
		{Query{Text: "electrcity", Mode: Words}, nil},
		{Query{Text: "electrcity", Mode: Fuzzy}, []int{2}},
		{Query{Text: "Bukh", Mode: Fuzzy, Sides: source}, []int{3}},
		{Query{Text: `^The\b.*\.$`, Mode: Regexp, Sides: target}, []int{0, 2, 4}},
		{Query{Text: `S[et]e|Strom`, Mode: Regexp}, []int{0, 2, 3}},
	} {
		if got := found(t, x, c.q, german); !slices.Equal(got, c.want) {
			t.Errorf("%+v finds %v, want %v", c.q, got, c.want)
		}
	}
}

// marksOf are the places of a query in a source text.
func marksOf(t *testing.T, x *Index, text string, mode Mode, in string) []Span {
	t.Helper()
	m, err := x.matcher(Query{Text: text, Mode: mode, Sides: [2]bool{true, false}})
	if err != nil {
		t.Fatal(err)
	}
	marks, _, _ := m.look(0, in)
	return marks
}

func TestMarks(t *testing.T) {
	dir := t.TempDir()
	x := open(t, filepath.Join(dir, "index"), write(t, filepath.Join(dir, "de-en.parquet"), [2]string{"de", "en"}, german))
	for _, c := range []struct {
		text, query string
		mode        Mode
		want        []string
	}{
		{"Das alte Haus, viele Häuser.", "Häuser", Words, []string{"Haus", "Häuser"}},
		{"Das alte Haus, das alte Haus.", "alte Haus", Phrase, []string{"alte Haus", "alte Haus"}},
		{"Das alte Haus.", "haus alte", Phrase, nil},
		{"Stromnetz und Strompreise", "Strompreiss", Fuzzy, []string{"Strompreise"}},
		{"Это новый поезд", "повый поесзд", Fuzzy, []string{"новый", "поезд"}}, // letters of two bytes
		{"Das neue Buch", `"neue Bcuh"`, Fuzzy, []string{"neue Buch"}},
	} {
		var got []string
		for _, s := range marksOf(t, x, c.query, c.mode, c.text) {
			got = append(got, c.text[s.Start:s.End])
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s of %q marks %q, want %q", c.query, c.text, got, c.want)
		}
	}
}

// TestScriptsWithoutSpaces: words are found inside of sentences that have no spaces.
func TestScriptsWithoutSpaces(t *testing.T) {
	for _, c := range []struct {
		languages [2]string
		pairs     []pair
		finds     map[string][]int
	}{
		{
			[2]string{"zh", "th"},
			[]pair{{"我喜欢喝绿茶。", "ฉันชอบดื่มชาเขียว", 1.2}, {"他的房子很旧。", "บ้านของเขาเก่ามาก", 1.3}, {"绿色的房子", "บ้านสีเขียว", 1.1}},
			map[string][]int{"绿茶": {0}, "房子": {1, 2}, "绿": {0, 2}, "บ้าน": {1, 2}, "ชาเขียว": {0}, "เขียว": {0, 2}, "绿房": nil},
		},
		{
			[2]string{"ja", "ko"},
			[]pair{{"電車が遅れています。", "기차가 늦고 있습니다.", 1.2}, {"彼は電話をかけた。", "그는 전화를 걸었다.", 1.3}},
			map[string][]int{"電車": {0}, "電": {0, 1}, "電話": {1}, "기차": {0}, "전화": {1}},
		},
		{
			[2]string{"ar", "ru"},
			[]pair{{"الكتاب على الطاولة.", "Книга лежит на столе.", 1.2}, {"قرأت كتابا جديدا.", "Я прочитал новую книгу.", 1.3}},
			map[string][]int{"книги": {0, 1}, "طاولة": {0}, "стол": {0}},
		},
	} {
		dir := t.TempDir()
		x := open(t, filepath.Join(dir, "index"), write(t, filepath.Join(dir, "b.parquet"), c.languages, c.pairs))
		for text, want := range c.finds {
			if got := found(t, x, Query{Text: text, Mode: Words}, c.pairs); !slices.Equal(got, want) {
				t.Errorf("%v: %s finds %v, want %v", c.languages, text, got, want)
			}
		}
	}
}

func TestOpenAndSearchRefuse(t *testing.T) {
	dir := t.TempDir()
	path := write(t, filepath.Join(dir, "de-en.parquet"), [2]string{"de", "en"}, german)
	text := filepath.Join(dir, "text.parquet")
	if err := os.WriteFile(text, []byte("no Parquet"), 0o600); err != nil {
		t.Fatal(err)
	}
	older := filepath.Join(dir, "older")
	if err := os.MkdirAll(older, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(older, metaName), []byte(`{"format": 0, "bitext_sha256": "x"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if x := open(t, older, path); x.Pairs != 5 {
		t.Errorf("an index of before was not made again: %+v", x)
	}
	noLock := filepath.Join(dir, "no lock")
	if err := os.MkdirAll(filepath.Join(noLock, lockName), 0o755); err != nil { // as one that may not be written
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ dir, path, says string }{
		"another's":      {noLock, path, "--index"},
		"no bitext":      {filepath.Join(dir, "a"), filepath.Join(dir, "none.parquet"), "none.parquet"},
		"no Parquet":     {filepath.Join(dir, "b"), text, "text.parquet"},
		"somebody's dir": {dir, path, "--index"},
		"a file":         {path, path, "de-en.parquet"},
	} {
		if _, err := Open(t.Context(), c.dir, c.path, nil); !badinput.Is(err) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: error %v does not say %s", name, err, c.says)
		}
	}
	for _, name := range []string{"a", "b"} {
		if _, err := os.Stat(filepath.Join(dir, name)); !os.IsNotExist(err) {
			t.Errorf("an index without a bitext has left %s: %v", name, err)
		}
	}
	x := open(t, filepath.Join(dir, "index"), path)
	both := [2]bool{true, true}
	for _, q := range []Query{
		{Text: "!?", Mode: Words, Sides: both, Limit: 1},
		{Text: " ", Mode: Words, Sides: both}, {Text: strings.Repeat("x", 2000), Mode: Words, Sides: both}, {Text: "(", Mode: Regexp, Sides: both},
		{Text: "x", Mode: "loud", Sides: both}, {Text: "x", Mode: Words, Sides: both, Skip: -1},
	} {
		if _, err := x.Search(t.Context(), q); !badinput.Is(err) {
			t.Errorf("%+v: error %v", q, err)
		}
	}
	if _, _, err := x.Collocates(t.Context(), Query{Text: "x", Mode: Regexp, Sides: both}, 5); !badinput.Is(err) {
		t.Errorf("error %v", err)
	}
}

// TestUnindexed: a regular expression is found in a bitext whose index cannot be made.
func TestUnindexed(t *testing.T) {
	dir := t.TempDir()
	x, err := Unindexed(t.Context(), write(t, filepath.Join(dir, "de-en.parquet"), [2]string{"de", "en"}, german))
	if err != nil || x.Languages != [2]string{"de", "en"} {
		t.Fatalf("%+v, %v", x, err)
	}
	if got := found(t, x, Query{Text: `S[et]e|Strom`, Mode: Regexp}, german); !slices.Equal(got, []int{0, 2, 3}) {
		t.Errorf("finds %v", got)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("it leaves %v, %v", entries, err)
	}
	if err := x.Close(); err != nil {
		t.Error(err)
	}
	if _, err := Unindexed(t.Context(), dir); !badinput.Is(err) {
		t.Errorf("a directory: %v", err)
	}
}

func TestCollocates(t *testing.T) {
	var pairs []pair
	for i := range 40 {
		p := pair{fmt.Sprintf("Der Zug Nummer %d kommt.", i), fmt.Sprintf("Train number %d is coming.", i), 1.2}
		if i%4 == 0 {
			p = pair{fmt.Sprintf("Das Kraftwerk Nummer %d liefert Strom.", i), fmt.Sprintf("Power plant number %d delivers electricity.", i), 1.2}
		}
		pairs = append(pairs, p)
	}
	dir := t.TempDir()
	x := open(t, filepath.Join(dir, "index"), write(t, filepath.Join(dir, "de-en.parquet"), [2]string{"de", "en"}, pairs))
	of, from, err := x.Collocates(t.Context(), Query{Text: "Kraftwerk", Mode: Words, Sides: [2]bool{true, false}}, 3)
	if err != nil || from != 10 {
		t.Fatalf("from %d pairs, error %v", from, err)
	}
	words := func(list []Collocate) (w []string) {
		for _, c := range list {
			w = append(w, c.Word)
		}
		slices.Sort(w)
		return w
	}
	if got := words(of[0]); !slices.Equal(got, []string{"das", "liefert", "strom"}) {
		t.Errorf("beside it stand %q", got)
	}
	if got := words(of[1]); !slices.Equal(got, []string{"delivers", "electricity", "plant"}) {
		t.Errorf("in translations stand %q", got)
	}
	// 10 of 10 pairs with the word and 0 of 30 without: 2 * 40 * H(1/4)
	if c := of[0][0]; c.Pairs != 10 || c.All != 10 || c.Score < 44.98 || c.Score > 44.99 {
		t.Errorf("%+v", c)
	}
}

// TestReaders: eight readers at once find what one finds.
func TestReaders(t *testing.T) {
	dir := t.TempDir()
	x := open(t, filepath.Join(dir, "index"), write(t, filepath.Join(dir, "de-en.parquet"), [2]string{"de", "en"}, german))
	var readers sync.WaitGroup
	for range 8 {
		readers.Go(func() {
			for range 20 {
				result, err := x.Search(t.Context(), Query{Text: "Haus", Mode: Words, Sides: [2]bool{true, false}, Limit: 2})
				if err != nil || result.Total != 3 || len(result.Hits) != 2 {
					t.Errorf("%+v, error %v", result, err)
				}
			}
		})
	}
	readers.Wait()
}

// FuzzQuery: no query makes a search fail in any way but with a sentence.
func FuzzQuery(f *testing.F) {
	dir := f.TempDir()
	path := write(f, filepath.Join(dir, "zh-de.parquet"), [2]string{"zh", "de"}, []pair{{"我喜欢喝绿茶。", "Ich trinke gern grünen Tee.", 1.2}})
	x := open(f, filepath.Join(dir, "index"), path)
	for _, seed := range []string{"绿茶", "Tee", "\xff", "a\x00b", "(((((", "*?", `.{1000}`, "~~~", "ก็", "🙂", `"grünen Tee" -x -"`, "a\u00adﬁ₂.O'Brien"} {
		for mode := range uint8(4) {
			f.Add(seed, mode)
		}
	}
	f.Fuzz(func(t *testing.T, text string, mode uint8) {
		q := Query{Text: text, Mode: []Mode{Words, Phrase, Fuzzy, Regexp}[mode%4], Sides: [2]bool{true, true}, Limit: 10}
		result, err := x.Search(t.Context(), q)
		if err != nil {
			if !badinput.Is(err) {
				t.Fatalf("%q: %v", text, err)
			}
			return
		}
		for _, hit := range result.Hits {
			for side, spans := range hit.Marks {
				for _, s := range spans {
					if s.Start < 0 || s.End > len(hit.Texts[side]) || s.Start > s.End {
						t.Fatalf("%q marks %v of %q", text, s, hit.Texts[side])
					}
				}
			}
		}
	})
}

func BenchmarkSearch(b *testing.B) {
	var pairs []pair
	for i := range 20000 {
		pairs = append(pairs, pair{fmt.Sprintf("Satz %d von %d Häusern.", i, i%100), fmt.Sprintf("Sentence %d about %d houses.", i, i%100), 1.2})
	}
	dir := b.TempDir()
	x := open(b, filepath.Join(dir, "index"), write(b, filepath.Join(dir, "de-en.parquet"), [2]string{"de", "en"}, pairs))
	i := 0
	for b.Loop() {
		i++
		if _, err := x.Search(b.Context(), Query{Text: fmt.Sprintf("Haus %d", i%100), Mode: Words, Sides: [2]bool{true, true}, Limit: 20}); err != nil {
			b.Fatal(err)
		}
	}
}
