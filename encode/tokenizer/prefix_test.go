package tokenizer

import (
	"slices"
	"testing"
	"testing/fstest"

	"bitextmine/encode/encodetest"
	"bitextmine/encode/model"
)

// prefixed is a model whose WordPiece tokenizer lower-cases, with more settings of the tokenizer, and German's prefix.
func prefixed(t *testing.T, tokenizer, prefix, maxTokens string) *model.Model {
	t.Helper()
	m, err := model.LoadFS(fstest.MapFS{
		"vocab.txt":  {Data: []byte("[PAD]\n[UNK]\n[CLS]\n[SEP]\nquery\n:\na\n")},
		"model.onnx": {},
		model.FileName: {Data: []byte(`name: prefixed
onnx: model.onnx
tokenizer: {kind: wordpiece, file: vocab.txt, lowercase: true, bos: "[CLS]", eos: "[SEP]"` + tokenizer + `}
max_tokens: ` + maxTokens + `
inputs: {ids: ids}
output: out
pooling: none
dim: 4
prefixes: {de: {text: "` + prefix + `"}}
`)},
	}, model.FileName)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// A prefix is lower-cased as the text is, so that a vocabulary without capitals knows its words.
func TestPrefixIsLowerCased(t *testing.T) {
	for _, c := range []struct {
		name, tokenizer, prefix string
		want                    []int32
	}{
		{"small letters", "", "query: ", []int32{2, 4, 5, 6, 3}},
		{"capitals", "", "Query: ", []int32{2, 4, 5, 6, 3}},
		{"Moses trims the text alone", ", punctuation: moses", "Query: A ", []int32{2, 4, 5, 6, 6, 3}},
	} {
		t.Run(c.name, func(t *testing.T) {
			v, err := Open(prefixed(t, c.tokenizer, c.prefix, "16"))
			if err != nil {
				t.Fatal(err)
			}
			defer v.Close()
			prefix, err := v.model.Prefix("de")
			if err != nil {
				t.Fatal(err)
			}
			var got Sequences
			if err := v.Tokenize(&got, prefix, []string{" A"}); err != nil || !slices.Equal(got.IDs, c.want) {
				t.Errorf("ids %v (%v), want %v", got.IDs, err, c.want)
			}
			cut, err := v.Own(prefix)
			if err != nil {
				t.Fatal(err)
			}
			if own, before := cut(got.IDs); !slices.Equal(own, []int32{6}) || before != len(c.want)-2 {
				t.Errorf("the text's own ids are %v after %d", own, before)
			}
			if before, _, err := v.Frame("de"); err != nil || !slices.Equal(before, c.want[:len(c.want)-2]) {
				t.Errorf("ids %v before a text (%v), want %v", before, err, c.want[:len(c.want)-2])
			}
		})
	}
}

// A text prefix must leave room for at least one token of a sentence.
func TestPrefixLeavesRoom(t *testing.T) {
	for maxTokens, says := range map[string]string{
		"5": "", // [CLS] query : a [SEP]
		"4": "max_tokens is 4, which leaves no room for text beside 4 special and prefix tokens of de",
		"3": "model.yaml of encoder prefixed: max_tokens is 3, which leaves no room for text beside 4 special and prefix tokens of de",
	} {
		v, err := Open(prefixed(t, "", "Query: ", maxTokens))
		if says != "" {
			encodetest.Refused(t, err, says)
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		v.Close()
	}
}
