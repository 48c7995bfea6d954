package tokenizer

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

const small = `{"normalizer": {"type": "Sequence", "normalizers": [{"type": "Precompiled", "precompiled_charsmap": "BAAAAAAAAABh"}, {"type": "Lowercase"}]},
 "pre_tokenizer": {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always"},
 "post_processor": {"type": "TemplateProcessing", "single": [{"SpecialToken": {"id": "<s>"}}, {"Sequence": {"id": "A"}}, {"SpecialToken": {"id": "</s>"}}]},
 "model": {"type": "Unigram", "unk_id": 2, "vocab": [["<s>", 0], ["</s>", 0], ["<unk>", 0], ["▁a", -1], ["b", -2], ["ab", -1.5]]}}`

// FuzzNew: New and Encode fail only with an error, whatever the file, and ids are in the vocabulary.
func FuzzNew(f *testing.F) {
	f.Add([]byte(small), "a ab xx b")
	f.Add([]byte(`{"model": {"type": "BPE", "unk_token": "u", "fuse_unk": true, "vocab": {"u": 0, "a": 1, "b": 2, "ab": 3}, "merges": ["a b"]}}`), "abba x")
	for _, more := range []string{
		`{"pre_tokenizer": {"type": "Split", "pattern": {"Regex": "(?i:'s|'t)|[^\\p{L}]?\\p{L}+|\\s+(?!\\S)|.{1,3}"}, "behavior": "Isolated"}, "model": {"type": "BPE", "ignore_merges": true, "vocab": {"a": 0, "▁": 1, "<0x62>": 2, "a▁": 3}, "byte_fallback": true, "merges": [["a", "▁"]]}}`,
		`{"added_tokens": [{"id": 1, "content": "<s>", "lstrip": true}, {"id": 2, "content": "x", "single_word": true, "normalized": true, "rstrip": true}], "normalizer": {"type": "BertNormalizer"}, "pre_tokenizer": {"type": "Sequence", "pretokenizers": [{"type": "ByteLevel", "add_prefix_space": true}, {"type": "Digits"}]}, "model": {"type": "WordPiece", "unk_token": "u", "vocab": {"u": 0}}}`,
		`{"normalizer": {"type": "Replace", "pattern": {"Regex": "(a|b)*?c++"}, "content": ""}, "post_processor": {"type": "Sequence", "processors": [{"type": "ByteLevel"}, {"type": "BertProcessing", "cls": ["u", 0], "sep": ["u", 0]}]}, "model": {"type": "WordLevel", "unk_token": "u", "vocab": {"u": 0}}}`,
	} {
		f.Add([]byte(more), "it's a <s> ab  x 12\n")
	}
	f.Fuzz(func(t *testing.T, file []byte, text string) {
		m, err := NewHuggingFace(file)
		if err != nil {
			return
		}
		err = m.Encode([]string{text}, 100, func(_ int, ids []int32) {
			for _, id := range ids {
				if id < 0 || int(id) >= m.Size() {
					t.Errorf("the id %d of %d", id, m.Size())
				}
			}
		})
		if err != nil && !strings.Contains(err.Error(), "steps") {
			t.Error(err)
		}
	})
}

func TestSpecialTokensAround(t *testing.T) {
	m, err := NewHuggingFace([]byte(small))
	if err != nil {
		t.Fatal(err)
	}
	if m.First != "<s>" || m.Last != "</s>" {
		t.Errorf("%q before and %q after", m.First, m.Last)
	}
	err = m.Encode([]string{"ab</s>", ""}, 9, func(i int, ids []int32) {
		if want := [][]int32{{3, 4, 1}, nil}[i]; !slices.Equal(ids, want) {
			t.Errorf("text %d has the ids %v, not %v", i, ids, want)
		}
	})
	if err != nil {
		t.Error(err)
	}
}

// TestRefused: what a file has and is not computed is named.
func TestRefused(t *testing.T) {
	bpe := func(rest string) string {
		return `{"model": {"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2}, "merges": []` + rest
	}
	deep := strings.Repeat(`{"type": "Sequence", "pretokenizers": [`, 30) + strings.Repeat("]}", 30)
	for file, want := range map[string]string{
		`[]`:                                                   "not a tokenizer.json",
		`{}`:                                                   "no model",
		`{"model": {"type": "Neural"}}`:                        `"Neural"`,
		bpe(`, "dropout": 0.1}}`):                              "dropout 0.1",
		bpe(`, "unk_token": "<unk>"}}`):                        `"<unk>"`,
		bpe(`, "merges": [["a", "c"]]}}`):                      `"a" and "c"`,
		bpe(`, "merges": ["a b c"]}}`):                         "merge 0 is not a pair",
		bpe(`, "vocab": {"a": 4000000000}}}`):                  "cannot unmarshal",
		bpe(`, "vocab": {"a": 2000000000}}}`):                  "the id 2000000000",
		bpe(`, "vocab": {"a": -1}}}`):                          "the id -1",
		bpe(`}, "normalizer": {"type": "Shorten"}}`):           `"Shorten"`,
		bpe(`}, "pre_tokenizer": {"type": "UnicodeScripts"}}`): `"UnicodeScripts"`,
		bpe(`}, "pre_tokenizer": ` + deep + `}`):               "more than 16",
		bpe(`}, "pre_tokenizer": {"type": "Metaspace", "replacement": "_", "prepend_scheme": "last"}}`):                      `"last"`,
		bpe(`}, "pre_tokenizer": {"type": "Split", "pattern": {"String": " "}, "behavior": "Doubled"}}`):                     `"Doubled"`,
		bpe(`}, "pre_tokenizer": {"type": "Split", "pattern": {"Regex": "(?<=a)b"}, "behavior": "Isolated"}}`):               "(?<=",
		bpe(`}, "pre_tokenizer": {"type": "Split", "pattern": {"Regex": "a*"}, "behavior": "Isolated"}}`):                    "the empty text",
		bpe(`}, "pre_tokenizer": {"type": "Split", "pattern": {"Regex": "((a{999}){999}){999}"}, "behavior": "Isolated"}}`):  "too large",
		bpe(`}, "pre_tokenizer": {"type": "Split", "pattern": {"Regex": "[a-z&&[^b]]"}, "behavior": "Isolated"}}`):           "a set in a set",
		bpe(`}, "added_tokens": [{"id": 7, "content": "c"}]}`):                                                               `"c" has the id 7`,
		bpe(`}, "added_tokens": [{"id": 0, "content": "a", "normalized": true}], "normalizer": {"type": "StripAccents"}}`):   "",
		bpe(`}, "post_processor": {"type": "TemplateProcessing", "single": [{"SpecialToken": {"id": "c"}}]}}`):               `"c"`,
		bpe(`}, "post_processor": {"type": "TemplateProcessing", "single": [{"Sequence": {"id": "A"}}, {"Sequence": {}}]}}`): "template",
		bpe(`}, "post_processor": {"type": "Padding"}}`):                                                                     `"Padding"`,
	} {
		_, err := NewHuggingFace([]byte(file))
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, not %q", file, err, want)
		}
	}
}

// TestSteps: an expression that takes exponential time ends with an error.
func TestSteps(t *testing.T) {
	m, err := NewHuggingFace([]byte(`{"pre_tokenizer": {"type": "Split", "pattern": {"Regex": "(?:a|aa|(?:a|aa)a)+c"}, "behavior": "Isolated"}, "model": {"type": "BPE", "vocab": {"a": 0}, "merges": []}}`))
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Encode([]string{strings.Repeat("a", 60)}, 9, func(int, []int32) {}); err == nil {
		t.Error("no error")
	}
}

func TestRustFloat(t *testing.T) {
	for text, want := range map[string]float64{"-1.5": -1.5, "0": 0, "7": 7, "-0.1": -0.1, "1e3": 1000,
		"-9.87654321098765432109": -float64(9876543210987654321) / 1e18} {
		var exact float64
		if err := json.Unmarshal([]byte(text), &exact); err != nil {
			t.Fatal(err)
		}
		if got := rustFloat(text, exact); got != want {
			t.Errorf("%s is %v, not %v", text, got, want)
		}
	}
}
