package tokenizer

import (
	"slices"
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
		if err != nil {
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
