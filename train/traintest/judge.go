package traintest

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"bitextmine/encode/model"
	"bitextmine/train/export"
)

// Judge writes a judge whose logit is the sum of its pair's words' values, and of second for each token of the second
// sentence, and returns its directory. Other words are worth nothing; [CLS] and [SEP] may be valued too. With two
// logits the first one is 0. change, unless it is nil, changes the manifest.
func Judge(t testing.TB, logits int, values map[string]float32, second float32, change func(*model.Manifest)) string {
	t.Helper()
	words := []string{"[PAD]", "[UNK]", "[CLS]", "[SEP]"}
	for _, word := range slices.Sorted(maps.Keys(values)) {
		if !slices.Contains(words, word) {
			words = append(words, word)
		}
	}
	table, types := make([]float32, len(words)*logits), make([]float32, 2*logits)
	for i, word := range words {
		table[(i+1)*logits-1] = values[word]
	}
	types[2*logits-1] = second
	g := export.NewGraph("judge")
	for _, name := range []string{export.IDs, export.TokenTypes} {
		g.Input(name, export.Int64, "batch", "tokens")
	}
	g.Initializer("words", []int{len(words), logits}, table)
	g.Initializer("types", []int{2, logits}, types)
	g.Initializer("axes", []int{1}, []int64{1})
	axis := export.Attr{Name: "axis", Value: 0}
	g.Node("Gather", []string{"words", export.IDs}, []string{"word"}, axis)
	g.Node("Gather", []string{"types", export.TokenTypes}, []string{"type"}, axis)
	g.Node("Add", []string{"word", "type"}, []string{"each"})
	g.Node("ReduceSum", []string{"each", "axes"}, []string{"logits"}, export.Attr{Name: "keepdims", Value: 0})
	g.Output("logits", export.Float32, "batch", logits)
	m := model.Manifest{
		Name: "planted", ONNX: "model.onnx", MaxTokens: 64, Output: "logits", Pooling: model.None, Dim: logits,
		Inputs: model.Inputs{IDs: export.IDs, TokenTypes: export.TokenTypes},
		Tokenizer: model.Tokenizer{
			Kind: "wordpiece", File: "vocab.txt", Lowercase: true, BOS: &model.Token{Piece: "[CLS]"}, EOS: &model.Token{Piece: "[SEP]"},
		},
		Judge: &model.Judge{Between: []int32{3}, Segments: true, Translation: logits - 1, Merge: model.EvenMerge},
	}
	if change != nil {
		change(&m)
	}
	dir := t.TempDir()
	text, err := yaml.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := g.Write(dir, m.ONNX); err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{model.FileName: string(text), "vocab.txt": strings.Join(words, "\n") + "\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}
