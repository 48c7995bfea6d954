package tokenizer_test

import (
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"bitextmine/encode/encodetest"
	"bitextmine/encode/sentencepiece"
	"bitextmine/encode/tokenizer"

	"bitextmine/internal/protofield"
	"bitextmine/train/words"
)

// TestReferences compares the ids of all kinds of tokenizers with those of spm_encode and of Hugging Face's library on
// natural and on hostile lines. With REFERENCES=DIR it also writes what testdata/references/make.py needs to DIR.
func TestReferences(t *testing.T) {
	lines := map[string][]string{"fixtures": fixtureLines(t), "natural": naturalLines(t), "hostile": hostileLines(5000)}
	files := tokenizerFiles(t, lines["fixtures"])
	if dir := os.Getenv("REFERENCES"); dir != "" {
		writeReferences(t, dir, lines, files)
	}
	raw, err := os.ReadFile("testdata/references/golden.json")
	if err != nil {
		t.Fatal(err)
	}
	var golden map[string]map[string]reference
	if err := json.Unmarshal(raw, &golden); err != nil {
		t.Fatal(err)
	}
	for name, split := range splitters(t, files) {
		for kind, all := range lines {
			t.Run(name+", "+kind, func(t *testing.T) {
				if all == nil {
					t.Skip("the development data is not beside the checkout: " + kind)
				}
				golden[name][kind].compare(t, all, split, filepath.Join(os.Getenv("REFERENCES"), name+"."+kind+".ids"))
			})
		}
	}
}

// reference is the ids of lines: digests of 100 lines each, and the first lines' own.
type reference struct {
	Lines   int       `json:"lines"`
	Digests []string  `json:"digests"`
	First   [][]int32 `json:"first"`
}

const together = 100

func (r reference) compare(t *testing.T, lines []string, split func([]string) [][]int32, whole string) {
	t.Helper()
	if r.Lines != len(lines) {
		t.Fatalf("there are %d lines, but the golden file has %d: make it again", len(lines), r.Lines)
	}
	rows := split(lines)
	for i, want := range r.First {
		if !slices.Equal(rows[i], want) {
			t.Errorf("line %d, %q, has the ids %v, not %v", i, lines[i], rows[i], want)
		}
	}
	wrong := 0
	for i, want := range r.Digests {
		var text strings.Builder
		for _, row := range rows[i*together : min((i+1)*together, len(rows))] {
			text.WriteString(format(row))
		}
		if sum := sha256.Sum256([]byte(text.String())); hex.EncodeToString(sum[:])[:12] != want {
			wrong++
		}
	}
	if wrong > 0 {
		t.Errorf("%d of %d digests differ%s", wrong, len(r.Digests), difference(lines, rows, whole))
	}
}

func format(ids []int32) string { return strings.Trim(fmt.Sprint(ids), "[]") + "\n" }

// difference shows lines that differ, if the reference program's output is there.
func difference(lines []string, rows [][]int32, whole string) string {
	raw, err := os.ReadFile(whole)
	if err != nil {
		return ""
	}
	var out strings.Builder
	n := 0
	for i, want := range strings.SplitAfter(string(raw), "\n") {
		if i < len(rows) && format(rows[i]) != want {
			if n++; n <= 8 {
				fmt.Fprintf(&out, "\n%q\n  got  %s  want %s", lines[i], format(rows[i]), want)
			}
		}
	}
	return fmt.Sprintf(": %d lines%s", n, out.String())
}

// tokenizerFiles are the files of the tokenizers, made of what the program has.
func tokenizerFiles(t *testing.T, text []string) map[string][]byte {
	t.Helper()
	unigram, err := os.ReadFile(encodetest.Pieces())
	if err != nil {
		t.Fatal(err)
	}
	o := words.DefaultVocabularyOptions()
	o.Kind, o.Size, o.Threads = "bpe", 3000, 1
	path := filepath.Join(t.TempDir(), "bpe.model")
	sentences := func(yield func(string, error) bool) {
		for _, line := range text {
			if !yield(line, nil) {
				return
			}
		}
	}
	if err := words.TrainVocabulary(path, o, sentences); err != nil {
		t.Fatal(err)
	}
	bpe, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return map[string][]byte{"unigram.model": unigram, "bpe.model": bpe, "unigram.json": fastOf(t, unigram, false), "bpe.json": fastOf(t, bpe, true),
		"vocab.txt": []byte(wordPieces(text))}
}

// fastOf is the tokenizer.json of a SentencePiece model, as Hugging Face converts XLM-RoBERTa's and NLLB's.
func fastOf(t *testing.T, model []byte, bpe bool) []byte {
	t.Helper()
	var vocabulary [][2]any
	ids := map[string]int{}
	charsmap := ""
	for _, f := range split(t, model) {
		switch f.Number {
		case 1:
			piece, score := "", float32(0)
			for _, part := range split(t, f.Content) {
				switch part.Number {
				case 1:
					piece = string(part.Content)
				case 2:
					score = math.Float32frombits(uint32(part.Value))
				}
			}
			ids[piece] = len(vocabulary)
			vocabulary = append(vocabulary, [2]any{piece, score})
		case 3:
			for _, part := range split(t, f.Content) {
				if part.Number == 2 {
					charsmap = base64.StdEncoding.EncodeToString(part.Content)
				}
			}
		}
	}
	kind := map[string]any{"type": "Unigram", "unk_id": 0, "vocab": vocabulary, "byte_fallback": false}
	pre := map[string]any{"type": "Sequence", "pretokenizers": []any{map[string]any{"type": "WhitespaceSplit"},
		map[string]any{"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": true}}}
	if bpe {
		kind = map[string]any{"type": "BPE", "unk_token": "<unk>", "fuse_unk": true, "byte_fallback": false, "vocab": ids, "merges": merges(vocabulary, ids)}
		pre = map[string]any{"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": true}
	}
	raw, err := json.Marshal(map[string]any{"version": "1.0", "added_tokens": []any{}, "model": kind, "pre_tokenizer": pre,
		"normalizer": map[string]any{"type": "Sequence", "normalizers": []any{map[string]any{"type": "Precompiled", "precompiled_charsmap": charsmap},
			map[string]any{"type": "Strip", "strip_left": false, "strip_right": true},
			map[string]any{"type": "Replace", "pattern": map[string]any{"Regex": " {2,}"}, "content": "▁"}}}})
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// merges are all ways to put pieces together of two others, by the id of what they become.
func merges(vocabulary [][2]any, ids map[string]int) [][2]string {
	var all [][2]string
	for _, entry := range vocabulary {
		piece := entry[0].(string)
		first := len(all)
		for i := range piece {
			if i > 0 {
				_, left := ids[piece[:i]]
				if _, right := ids[piece[i:]]; left && right {
					all = append(all, [2]string{piece[:i], piece[i:]})
				}
			}
		}
		slices.SortFunc(all[first:], func(a, b [2]string) int {
			return cmp.Or(cmp.Compare(ids[a[0]], ids[b[0]]), cmp.Compare(ids[a[1]], ids[b[1]]))
		})
	}
	return all
}

func split(t *testing.T, message []byte) []protofield.Field {
	t.Helper()
	all, err := protofield.Split(message)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// wordPieces is a vocab.txt: letters of many scripts, at the beginning of words and inside, and frequent words.
func wordPieces(text []string) string {
	pieces := []string{"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"}
	for _, block := range [][2]rune{{0x21, 0x7e}, {0xa1, 0x24f}, {0x300, 0x36f}, {0x370, 0x3ff}, {0x400, 0x4ff}, {0x531, 0x587}, {0x5d0, 0x5ea}, {0x620, 0x6ff},
		{0x900, 0x9ff}, {0xb80, 0xbff}, {0xe01, 0xe5b}, {0x10a0, 0x10ff}, {0x1200, 0x137f}, {0x1e00, 0x1eff}, {0x3041, 0x30ff}, {0x4e00, 0x4fff}, {0xac00, 0xadff}, {0x1f600, 0x1f64f}} {
		for r := block[0]; r <= block[1]; r++ {
			pieces = append(pieces, string(r), "##"+string(r))
		}
	}
	counts := map[string]int{}
	for _, line := range text {
		for _, word := range strings.Fields(line) {
			counts[word]++
			counts[strings.ToLower(word)]++
		}
	}
	var words []string
	for word, n := range counts {
		if n > 1 && utf8.RuneCountInString(word) > 1 && !slices.Contains(pieces, word) {
			words = append(words, word)
		}
	}
	slices.Sort(words)
	for _, word := range words {
		pieces = append(pieces, word, "##"+word)
	}
	return strings.Join(pieces, "\n") + "\n"
}

// splitters are the tokenizers by their names in the golden file.
func splitters(t *testing.T, files map[string][]byte) map[string]func([]string) [][]int32 {
	t.Helper()
	type encoder interface {
		Encode(texts []string, maxIDs int, yield func(i int, ids []int32)) error
	}
	all := map[string]func([]string) [][]int32{}
	add := func(name string, e encoder, err error, lower bool) {
		if err != nil {
			t.Fatal(err)
		}
		all[name] = func(lines []string) [][]int32 {
			var rows [][]int32
			for start := 0; start < len(lines); start += 256 { // ids of one call stand in one buffer
				part := slices.Clone(lines[start:min(start+256, len(lines))])
				for i := range part {
					if lower {
						part[i] = tokenizer.LowercaseLetters(part[i])
					}
				}
				if err := e.Encode(part, 1<<14, func(_ int, ids []int32) { rows = append(rows, slices.Clone(ids)) }); err != nil {
					t.Error(err)
				}
			}
			return rows
		}
	}
	for _, name := range []string{"unigram.model", "bpe.model"} {
		m, err := sentencepiece.New(files[name])
		add(name, m, err, false)
		t.Cleanup(m.Close)
	}
	for _, name := range []string{"unigram.json", "bpe.json"} {
		m, err := tokenizer.NewHuggingFace(files[name])
		add(name, m, err, false)
	}
	cased, err := tokenizer.NewWordPiece(files["vocab.txt"], tokenizer.WordPieceOptions{})
	add("wordpiece cased", cased, err, false)
	uncased, err := tokenizer.NewWordPiece(files["vocab.txt"], tokenizer.WordPieceOptions{StripAccents: true})
	add("wordpiece uncased", uncased, err, true)
	return all
}

// writeReferences writes lines and tokenizers for make.py.
func writeReferences(t *testing.T, dir string, lines map[string][]string, files map[string][]byte) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for kind, all := range lines {
		raw, err := json.Marshal(all)
		if err != nil {
			t.Fatal(err)
		}
		files[kind+".json"] = raw
	}
	for name, raw := range files {
		if err := os.WriteFile(filepath.Join(dir, name), raw, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
