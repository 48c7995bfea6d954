package rewrite

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"bitextmine/encode"
	"bitextmine/encode/embedding"
	"bitextmine/encode/encodetest"
	"bitextmine/encode/model"
	"bitextmine/fixtures"
	"bitextmine/train/export"
	"bitextmine/train/traintest"
)

// onDisk is a copy of a built-in encoder, with a comment in its manifest.
func onDisk(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "bag")
	if err := os.CopyFS(dir, os.DirFS(encodetest.Bag())); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, model.FileName)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, append([]byte("# mine\n"), text...), 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

// lines are n sentences of a language.
func lines(language, words string, n int) Text {
	return Text{Language: language, Sentences: func(yield func(string, error) bool) {
		for i := range n {
			if !yield(words+strings.Repeat(" "+words, i%7), nil) {
				return
			}
		}
	}}
}

func encoded(t *testing.T, dir string, texts ...string) []float32 {
	t.Helper()
	e := traintest.Open(t, dir)
	rows := make([]float32, len(texts)*e.Dim())
	if err := e.Encode(t.Context(), "de", texts, rows); err != nil {
		t.Fatal(err)
	}
	return rows
}

func TestSetTwice(t *testing.T) {
	dir := onDisk(t)
	before := encoded(t, dir, "Ein kleines Boot liegt am Steg.", "Zwei")
	texts := []Text{lines("de", "Haus", 100), lines("en", "boat", 300)}
	first, err := Centre(t.Context(), dir, texts, false, encode.Options{})
	if err != nil {
		t.Fatal(err)
	}
	after := encoded(t, dir, "Ein kleines Boot liegt am Steg.", "Zwei")
	dim := len(first.All.Vector)
	for i := range 2 {
		want := slices.Clone(before[i*dim:][:dim])
		for k := range want {
			mean := (first.Languages[0].Vector[k] + first.Languages[1].Vector[k]) / 2 // not by the number of sentences
			want[k] -= float32(mean)
		}
		if err := encode.Unit(want); err != nil {
			t.Fatal(err)
		}
		if c := embedding.Dot(want, after[i*dim:][:dim]); math.Abs(float64(c)-1) > 1e-6 {
			t.Errorf("sentence %d: the cosine to what is expected is %v", i, c)
		}
	}
	second, err := Centre(t.Context(), filepath.Join(dir, model.FileName), texts, false, encode.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(first.All.Vector, second.All.Vector) || first.File != second.File {
		t.Error("the second centre is not the first's: the first was subtracted from its sentences")
	}
	third, err := Centre(t.Context(), dir, texts[:1], false, encode.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(first.File); err == nil || third.File == first.File {
		t.Error("the centre that was replaced is still there")
	}
	text, err := os.ReadFile(third.Manifest)
	if err != nil || !strings.HasPrefix(string(text), "# mine\n") || strings.Count(string(text), "centre:") != 1 {
		t.Errorf("the manifest is, %v:\n%s", err, text)
	}
	if length := third.All.Length(); length < 0.3 || length > 1 {
		t.Errorf("the mean of one word's sentences has length %v", length)
	}
}

func TestEachLanguageItsOwn(t *testing.T) {
	dir := onDisk(t)
	before := encoded(t, dir, "Ein kleines Boot liegt am Steg.")
	texts := []Text{lines("de", "Haus", 60), lines("en", "boat", 300), lines("de", "Boot", 60)}
	r, err := Centre(t.Context(), dir, texts, true, encode.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Languages) != 2 || r.Languages[0].Sentences != 120 || r.All.Sentences != 420 {
		t.Errorf("the means are of %d languages, the first of %d sentences: want 2 and 120, of both its texts", len(r.Languages), r.Languages[0].Sentences)
	}
	m, err := model.Load(dir)
	if err != nil || !slices.Equal(m.Centre.Languages, []string{"de", "en"}) {
		t.Errorf("the manifest's centre is %+v (%v)", m.Centre, err)
	}
	want := slices.Clone(before)
	for k, x := range r.Languages[0].Vector {
		want[k] -= float32(x)
	}
	if err := encode.Unit(want); err != nil {
		t.Fatal(err)
	}
	if c := embedding.Dot(want, encoded(t, dir, "Ein kleines Boot liegt am Steg.")); math.Abs(float64(c)-1) > 1e-6 {
		t.Errorf("the cosine to the vector less the mean of German is %v", c)
	}
}

func TestRefusedCentres(t *testing.T) {
	_, err := Centre(t.Context(), fixtures.Encoder, []Text{lines("de", "Haus", 100)}, false, encode.Options{})
	encodetest.Refused(t, err, "is built into the program")
	dir := onDisk(t)
	_, err = Centre(t.Context(), dir, []Text{lines("de", "Haus", 99)}, false, encode.Options{})
	encodetest.Refused(t, err, "the text of de has 99 sentences")
	text, err := os.ReadFile(filepath.Join(dir, model.FileName))
	if err != nil || strings.Contains(string(text), "centre") {
		t.Errorf("the manifest was changed: %v", err)
	}
}

// TestPrefixesOfSomeLanguages: of the program's own sentences those are taken that the encoder has a prefix for.
func TestPrefixesOfSomeLanguages(t *testing.T) {
	dir := written(t, small(export.Opset), "prefixes: {de: {text: 'a '}, en: {text: 'b '}}\n")
	r, err := Quantise(t.Context(), QuantiseOptions{Model: dir, Out: filepath.Join(t.TempDir(), "int8")})
	if err != nil || r.Languages != 2 || r.Sentences != 40 {
		t.Errorf("vectors in 8 bits are compared by %+v (%v), want 40 sentences in 2 languages", r, err)
	}
	own := func(languages ...string) (texts []Text) {
		for _, language := range languages {
			text := lines(language, "a b", 100)
			text.Optional = true
			texts = append(texts, text)
		}
		return texts
	}
	c, err := Centre(t.Context(), dir, own("fr", "de"), false, encode.Options{})
	if err != nil || len(c.Languages) != 1 || c.Languages[0].Language != "de" {
		t.Errorf("the centre is that of %+v (%v), want German's", c, err)
	}
	_, err = Centre(t.Context(), dir, own("fr"), false, encode.Options{})
	encodetest.Refused(t, err, "name sentences of your own by --text")
	_, err = Centre(t.Context(), dir, []Text{lines("fr", "a b", 100)}, false, encode.Options{})
	encodetest.Refused(t, err, `no prefix for language "fr"`)
	dir = written(t, small(export.Opset), "prefixes: {xh: {text: 'a '}}\n")
	_, err = Quantise(t.Context(), QuantiseOptions{Model: dir, Out: filepath.Join(t.TempDir(), "int8")})
	encodetest.Refused(t, err, "no prefix for any of the languages")
}
