package check

import (
	"io/fs"
	"slices"
	"strings"
	"testing"

	"bitextmine/encode"
	"bitextmine/encode/encodetest"
	"bitextmine/encode/model"
	"bitextmine/fixtures"
	"bitextmine/internal/badinput"
)

func TestMain(m *testing.M) { encodetest.Main(m) }

func builtin(t *testing.T, name string) *model.Model {
	t.Helper()
	m, err := model.Load(name)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func run(t *testing.T, m *model.Model, golden ...Golden) *Report {
	t.Helper()
	r, err := Run(t.Context(), m, Options{Encode: encode.Options{Threads: 1}, Golden: golden, MinCosine: 0.999})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// goldens are vectors of the encoder itself; where they are wrong, two numbers are exchanged.
func goldens(t *testing.T, m *model.Model, wrong bool) []Golden {
	t.Helper()
	e, err := encode.Open(m, encode.Options{Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	}()
	text := Probes[1].Sentences[0]
	vector := make([]float32, e.Dim())
	if err := e.Encode(t.Context(), "de", []string{text}, vector); err != nil {
		t.Fatal(err)
	}
	if wrong {
		slices.Reverse(vector)
	}
	for i := range vector {
		vector[i] *= 3 // golden vectors need not have length 1
	}
	return []Golden{{Language: "de", Text: text, Vector: vector}}
}

func TestDefaultEncoderPasses(t *testing.T) {
	m := builtin(t, fixtures.Encoder)
	r := run(t, m, goldens(t, m, false)...)
	var table strings.Builder
	if err := r.Print(&table); err != nil {
		t.Fatal(err)
	}
	if err := r.Err(); err != nil || r.Golden != 1 || r.Agreement < 0.99999 || len(r.Languages) != len(Probes) || !strings.Contains(table.String(), "Devanagari") {
		t.Errorf("%v\n%s", err, table.String())
	}
	for _, row := range r.Languages {
		if row.Listed && row.Language != "en" && row.Translation <= row.Other {
			t.Errorf("%s: translations have %.3f, other sentences %.3f", row.Language, row.Translation, row.Other)
		}
	}
}

func TestWrongGoldenVectorsFail(t *testing.T) {
	m := builtin(t, encodetest.Bag())
	encodetest.Refused(t, run(t, m, goldens(t, m, true)...).Err(), "golden sentence 1, \"Der Zug")
	_, err := Run(t.Context(), m, Options{Golden: []Golden{{Language: "de", Text: "x", Vector: []float32{1}}}})
	if !badinput.Is(err) || !strings.Contains(err.Error(), "has 1 numbers") {
		t.Errorf("a golden vector of another width gave %v", err)
	}
}

// TestWrongPiecesFail: an encoder whose ids are off by some pieces finds no translations.
func TestWrongPiecesFail(t *testing.T) {
	files := encodetest.Changed(t, "lowercase: true", "lowercase: true\n    dictionary: shuffled")
	e, err := model.LoadFS(encodetest.Changed(t), model.FileName)
	if err != nil {
		t.Fatal(err)
	}
	lines := shuffledPieces(t, e)
	files["shuffled"] = files[model.FileName]
	copied := *files["shuffled"]
	copied.Data = []byte(lines)
	files["shuffled"] = &copied
	m, err := model.LoadFS(fs.FS(files), model.FileName)
	if err != nil {
		t.Fatal(err)
	}
	encodetest.Refused(t, run(t, m).Err(), "this encoder, or its tokenizer, pooling or prefix, does not fit these languages")
}

// shuffledPieces is a fairseq dictionary of the pieces in another order.
func shuffledPieces(t *testing.T, m *model.Model) string {
	t.Helper()
	e, err := encode.Open(m, encode.Options{Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	}()
	pieces := e.Vocabulary().Pieces()
	var lines strings.Builder
	const step = 7919 // a prime, so that every piece comes once
	for i := range len(pieces) - 4 {
		lines.WriteString(pieces[i*step%len(pieces)] + " 1\n")
	}
	return lines.String()
}

// TestWithoutEnglish: an encoder without a prefix for English is compared with its first language, which does not count
// itself. The prefix of French makes all its sentences alike.
func TestWithoutEnglish(t *testing.T) {
	m := *builtin(t, fixtures.Encoder)
	m.Prefixes = map[string]model.Prefix{"de": {}, "fr": {Text: strings.Repeat(Probes[1].Sentences[0]+" ", 8)}}
	r := run(t, &m)
	var table strings.Builder
	if err := r.Print(&table); err != nil {
		t.Fatal(err)
	}
	if err := r.Err(); err == nil || !strings.Contains(err.Error(), "1 of 3") || r.Base != "de" ||
		!strings.Contains(table.String(), "translation in de;") || strings.Contains(table.String(), "English") {
		t.Errorf("%v\n%s", err, table.String())
	}
}
