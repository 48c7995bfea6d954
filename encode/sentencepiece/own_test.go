package sentencepiece

import (
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"bitextmine/fixtures"
	"bitextmine/internal/protofield"
)

// variant changes a model: kinds are set piece by piece, scores too, and fields are appended to the specifications.
type variant struct {
	kind                func(id int, piece string) uint64 // 0: as it was
	more                []string                          // pieces, marked by the user
	bytes               bool
	trainer, normaliser []byte
}

func option(number protowire.Number, value uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(nil, number, protowire.VarintType), value)
}

func piece(spelling string, kind uint64) []byte {
	message := protowire.AppendString(protowire.AppendTag(nil, pieceSpelling, protowire.BytesType), spelling)
	return append(message, option(pieceType, kind)...)
}

// of makes the variant of a model.
func (v variant) of(t testing.TB, model []byte) []byte {
	t.Helper()
	fields, err := protofield.Split(model)
	if err != nil {
		t.Fatal(err)
	}
	var out []byte
	add := func(number protowire.Number, message []byte) {
		out = protowire.AppendBytes(protowire.AppendTag(out, number, protowire.BytesType), message)
	}
	id := 0
	for _, f := range fields {
		message := slices.Clone(f.Content)
		switch f.Number {
		case modelPieces:
			inner, err := protofield.Split(message)
			if err != nil {
				t.Fatal(err)
			}
			if v.kind != nil {
				if kind := v.kind(id, string(inner[0].Content)); kind != 0 {
					message = append(message, option(pieceType, kind)...)
				}
			}
			id++
		case modelTrainer:
			message = append(message, v.trainer...)
		case modelNormaliser:
			message = append(message, v.normaliser...)
		}
		add(f.Number, message)
	}
	for _, spelling := range v.more {
		add(modelPieces, piece(spelling, typeUserDefined))
	}
	for b := 0; v.bytes && b < 256; b++ {
		const digits = "0123456789ABCDEF"
		add(modelPieces, piece("<0x"+digits[b>>4:b>>4+1]+digits[b&15:b&15+1]+">", typeByte))
	}
	return out
}

// variants are models of every kind that is computed here.
func variants() map[string]variant {
	unused := func(id int, piece string) uint64 {
		if id%5 == 4 && len(piece) < 12 {
			return typeUnused
		}
		return 0
	}
	control := func(id int, _ string) uint64 {
		if id%7 == 6 && id > 20 {
			return typeControl
		}
		return 0
	}
	no, yes := uint64(0), uint64(1)
	return map[string]variant{
		"as it is":     {},
		"unused":       {kind: unused},
		"control":      {kind: control},
		"marked":       {more: []string{"Hausbau", "a b", "Größenwahn", "\u200b", "ﬁ", "é x", "  ", "abab", "ababa", "▁▁▁", "ｶﾞ", "e\u0301"}},
		"bytes":        {bytes: true, trainer: option(trainerFallback, yes), kind: unused},
		"suffix":       {trainer: option(trainerSuffix, yes)},
		"no prefix":    {normaliser: option(normaliserPrefix, no)},
		"all spaces":   {normaliser: option(normaliserExtra, no)},
		"unescaped":    {normaliser: option(normaliserEscape, no)},
		"no charsmap":  {normaliser: protowire.AppendBytes(protowire.AppendTag(nil, normaliserCharsmap, protowire.BytesType), nil)},
		"all of these": {kind: unused, more: []string{"x y", "enx"}, bytes: true, trainer: append(option(trainerFallback, yes), option(trainerSuffix, yes)...), normaliser: option(normaliserExtra, no)},
	}
}

// both opens a model here and in the library.
func both(t testing.TB, model []byte) (own *pieces, theirs *library) {
	t.Helper()
	theirs, err := openLibrary(model)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(theirs.close)
	if own = parse(string(model)); own == nil {
		t.Fatal("the model is left to the library")
	}
	return own, theirs
}

// same compares the ids of texts.
func same(t *testing.T, own *pieces, theirs *library, texts []string, maxIDs int) {
	t.Helper()
	want := make([][]int32, len(texts))
	if err := theirs.encode(texts, maxIDs, func(i int, ids []int32) { want[i] = slices.Clone(ids) }); err != nil {
		t.Fatal(err)
	}
	wrong := 0
	own.encode(texts, maxIDs, func(i int, ids []int32) {
		if !slices.Equal(ids, want[i]) {
			if wrong++; wrong < 5 {
				t.Errorf("%q: %v, want %v", texts[i], ids, want[i])
			}
		}
	})
	if wrong > 0 {
		t.Errorf("%d of %d texts differ", wrong, len(texts))
	}
}

// hostile are texts of letters, spaces, replaced characters, broken UTF-8 and zeros.
func hostile(n int) []string {
	rng := rand.New(rand.NewPCG(3, 5))
	parts := []string{"a", "e", "Haus", "Größe", " ", "  ", "\t", "\u3000", "\u00a0", "\u200b", "\u200d", "▁", "ﬁ", "½", "ﷺ", "e\u0301", "\u0301", "ｶﾞ", "각", "漢", "字", "ไทย", "𝒳", "🏳️‍🌈",
		"\xff", "\xc3", "\xe2\x96", "\xf0\x9f\x8f", "\xed\xa0\x80", "\x00", "\x01", "<s>", "</s>", "<unk>", "<0x41>", "I", "İ", "x y", "ababa", "\u2028", "\u0085", "\ufeff", "…", "12", "3.5"}
	texts := make([]string, n)
	for i := range texts {
		var b strings.Builder
		for range rng.IntN(40) {
			switch rng.IntN(4) {
			case 0:
				b.WriteRune(rng.Int32N(0x3000))
			case 1:
				b.WriteByte(byte(' ' + rng.IntN(95)))
			default:
				b.WriteString(parts[rng.IntN(len(parts))])
			}
		}
		texts[i] = b.String()
	}
	return texts
}

// TestOwnIsTheLibrarys compares models of every kind with the library on hostile text.
func TestOwnIsTheLibrarys(t *testing.T) {
	texts := append(hostile(3000), lines(t, sentences)...)
	texts = append(texts, "", " ", "▁", " ▁ ", strings.Repeat("x", 5000), strings.Repeat("\xff", 300))
	for _, file := range []string{modelFile, "../../fixtures/models/" + fixtures.Encoder + "/spm.model"} {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for name, v := range variants() {
			if name != "as it is" && file != modelFile {
				continue
			}
			t.Run(name, func(t *testing.T) {
				own, theirs := both(t, v.of(t, data))
				same(t, own, theirs, texts, 1<<14)
				same(t, own, theirs, texts[:500], 7)
				if len(own.spellings) != int(theirs.size) || own.unigram.Unknown != theirs.unknown {
					t.Errorf("%d pieces, unknown %d; the library has %d and %d", len(own.spellings), own.unigram.Unknown, theirs.size, theirs.unknown)
				}
				for id := int32(0); id < theirs.size; id += 1 + id/50 {
					spelling := theirs.piece(id)
					if got, ok := own.id(spelling); own.spellings[id] != spelling || got != id || !ok {
						t.Fatalf("piece %d is %q, whose id is %d, %v; the library has %q", id, own.spellings[id], got, ok, spelling)
					}
				}
			})
		}
	}
}

// TestLeftToTheLibrary: models that are out of the ordinary are the library's, with its messages.
func TestLeftToTheLibrary(t *testing.T) {
	data, err := os.ReadFile(modelFile)
	if err != nil {
		t.Fatal(err)
	}
	const bytePairs = 2
	for name, v := range map[string]variant{
		"byte pairs":          {trainer: option(trainerType, bytePairs)},
		"a piece twice":       {more: []string{"▁", "▁"}},
		"a piece of zero":     {more: []string{"a\x00b"}},
		"an empty piece":      {more: []string{""}},
		"no fallback":         {bytes: true},
		"no bytes":            {trainer: option(trainerFallback, 1)},
		"two unknown pieces":  {kind: func(id int, _ string) uint64 { return uint64(map[bool]int{true: typeUnknown}[id == 9]) }},
		"nothing to look for": {kind: func(id int, _ string) uint64 { return uint64(map[bool]int{true: typeControl}[id > 2]) }},
		"a damaged charsmap":  {normaliser: protowire.AppendString(protowire.AppendTag(nil, normaliserCharsmap, protowire.BytesType), "abc")},
	} {
		if parse(string(v.of(t, data))) != nil {
			t.Errorf("%s: it is computed here", name)
		}
	}
}

// FuzzOwn compares the ids of any text with the library's, in models of every kind.
func FuzzOwn(f *testing.F) {
	for _, text := range append(hostile(20), lines(f, sentences)...) {
		f.Add(text)
	}
	data, err := os.ReadFile(modelFile)
	if err != nil {
		f.Fatal(err)
	}
	type pair struct {
		own    *pieces
		theirs *library
	}
	all := map[string]pair{}
	for name, v := range variants() {
		own, theirs := both(f, v.of(f, data))
		all[name] = pair{own, theirs}
	}
	f.Fuzz(func(t *testing.T, text string) {
		for name, p := range all {
			var want []int32
			if err := p.theirs.encode([]string{text}, 4*len(text)+1, func(_ int, ids []int32) { want = slices.Clone(ids) }); err != nil {
				t.Skip(err)
			}
			p.own.encode([]string{text}, 4*len(text)+1, func(_ int, ids []int32) {
				if !slices.Equal(ids, want) {
					t.Errorf("%s: %q: %v, want %v", name, text, ids, want)
				}
			})
		}
	})
}

// FuzzParse: a damaged model is left to the library, or splits text into its own pieces.
func FuzzParse(f *testing.F) {
	data, err := os.ReadFile(modelFile)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data[:4000], "a text")
	f.Add([]byte("\n\x0c\n\x05<unk>\x18\x02\xd5\n\x05\n\x01a\x15\x00\x00\x80\xbf\x1a\x0a\x12\x08\x04\x00\x00\x00aaaa"), "aa b")
	f.Fuzz(func(t *testing.T, model []byte, text string) {
		p := parse(string(model))
		if p == nil {
			return
		}
		p.encode([]string{text}, 50, func(_ int, ids []int32) {
			for _, id := range ids {
				if id < 0 || int(id) >= len(p.spellings) {
					t.Errorf("id %d of %d", id, len(p.spellings))
				}
			}
		})
	})
}

// BenchmarkOwn is the default encoder's tokenizer here and in the library.
func BenchmarkOwn(b *testing.B) {
	data, err := os.ReadFile("../../fixtures/models/" + fixtures.Encoder + "/spm.model")
	if err != nil {
		b.Fatal(err)
	}
	raw, err := os.ReadFile("../../fixtures/text/de.txt")
	if err != nil {
		b.Fatal(err)
	}
	var texts []string
	for line := range strings.Lines(string(raw)) {
		_, text, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		texts = append(texts, text)
	}
	own, theirs := both(b, data)
	size := len(strings.Join(texts, ""))
	run := func(name string, encode func()) {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(size))
			for b.Loop() {
				encode()
			}
		})
	}
	nothing := func(int, []int32) {}
	run("own", func() { own.encode(texts, 128, nothing) })
	run("library", func() {
		if err := theirs.encode(texts, 128, nothing); err != nil {
			b.Fatal(err)
		}
	})
	run("open own", func() { parse(string(data)) })
	run("open library", func() {
		l, err := openLibrary(data)
		if err != nil {
			b.Fatal(err)
		}
		l.close()
	})
}
