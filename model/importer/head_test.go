package importer

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"bitextmine/encode/encodetest"
	"bitextmine/train/export"

	"bitextmine/train/weights"
)

// states are the vectors of a table's tokens.
func states(table []float32, ids []int32) [][]float32 {
	var all [][]float32
	for _, id := range ids {
		all = append(all, table[int(id)*16:][:16])
	}
	return all
}

// TestPoolings: those that manifests do not have become part of the graph, several stand side by side, and only the
// first numbers are kept if so asked.
func TestPoolings(t *testing.T) {
	table, means := tableOf(ids)
	last := func(ids []int32) []float32 { all := states(table, ids); return all[len(all)-1] }
	weighted := func(ids []int32) []float32 {
		sum := make([]float32, 16)
		for i, row := range states(table, ids) {
			for k, x := range row {
				sum[k] += float32(i+1) * x
			}
		}
		return sum
	}
	for _, c := range []struct {
		name, config string
		o            Options
		want         func(i int) []float32
	}{
		{"last", `{"pooling_mode": "lasttoken"}`, Options{}, func(i int) []float32 { return last(ids[i]) }},
		{"weighted", `{"pooling_mode_weightedmean_tokens": true, "pooling_mode_mean_tokens": false}`, Options{}, func(i int) []float32 { return weighted(ids[i]) }},
		{"the sum over the root", `{"pooling_mode_mean_sqrt_len_tokens": true}`, Options{}, func(i int) []float32 { return means[i] }},
		{"two", `{"pooling_mode_mean_tokens": true, "pooling_mode_cls_token": true}`, Options{}, func(i int) []float32 { return slices.Concat(states(table, ids[i])[0], means[i]) }},
		{"the caller's", `{}`, Options{Pooling: "last", Dim: 5}, func(i int) []float32 { return last(ids[i])[:5] }},
		{"the first numbers", `{}`, Options{Dim: 3}, func(i int) []float32 { return means[i][:3] }},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "a-model")
			tableGraph(t, dir, "model.onnx", table, false)
			write(t, dir, inST("mean", ""))
			write(t, dir, map[string]string{"1_Pooling/config.json": c.config})
			if _, err := Import(t.Context(), dir, c.o); err != nil {
				t.Fatal(err)
			}
			var want [][]float32
			for i := range ids {
				want = append(want, c.want(i))
			}
			agrees(t, dir, ids, want)
		})
	}
}

// TestPositions: a graph that takes the places of tokens is given them, and one that writes text is refused.
func TestPositions(t *testing.T) {
	table, _ := tableOf(ids)
	dir := filepath.Join(t.TempDir(), "a-model")
	graph := func(second string) {
		g := export.NewGraph("table")
		g.Input("input_ids", export.Int64, "batch", "tokens")
		g.Input(second, export.Int64, "batch", "tokens")
		g.Initializer("table", []int{40, 16}, table)
		g.Node("Gather", []string{"table", "input_ids"}, []string{"rows"}, export.Attr{Name: "axis", Value: 0})
		g.Node("Gather", []string{"table", second}, []string{"places"}, export.Attr{Name: "axis", Value: 0})
		g.Node("Add", []string{"rows", "places"}, []string{"token_embeddings"})
		g.Output("token_embeddings", export.Float32, "batch", "tokens", 16)
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if _, err := g.Write(dir, "model.onnx"); err != nil {
			t.Fatal(err)
		}
	}
	graph("position_ids")
	write(t, dir, inST("mean", ""))
	if _, err := Import(t.Context(), dir, Options{}); err != nil {
		t.Fatal(err)
	}
	var want [][]float32
	for _, sentence := range ids {
		var places []int32
		for i := range sentence {
			places = append(places, int32(i))
		}
		sum := make([]float32, 16)
		for _, row := range slices.Concat(states(table, sentence), states(table, places)) {
			for k, x := range row {
				sum[k] += x
			}
		}
		want = append(want, sum)
	}
	agrees(t, dir, ids, want)
	graph("past_key_values.0.key")
	_, err := Import(t.Context(), dir, Options{})
	encodetest.Refused(t, err, "has the input past_key_values.0.key: it is a graph that writes text token by token")
}

// TestPrompts: the caller's prompts, by name and language; else the model's default, else the one for bitext.
func TestPrompts(t *testing.T) {
	const named = `{"prompts": {"query": "w5 ", "document": "w6 ", "BitextMining": "w7 "}%s}`
	for _, c := range []struct {
		name, more, says string
		prompts          []string
		want             map[string]string
	}{
		{"none is said", "", "", nil, map[string]string{"*": "w7 "}},
		{"the default", `, "default_prompt_name": "query"`, "", nil, map[string]string{"*": "w5 "}},
		{"by name", "", "", []string{"document"}, map[string]string{"*": "w6 "}},
		{"by language", "", "", []string{"de=query", "*=document"}, map[string]string{"de": "w5 ", "*": "w6 "}},
		{"by another code of a language", "", "", []string{"deu=query", "EN=document"}, map[string]string{"de": "w5 ", "en": "w6 "}},
		{"none", "", "", []string{"none"}, map[string]string{}},
		{"no language", "", `--prompt xx1=query: `, []string{"xx1=query"}, nil},
		{"a language twice", "", `--prompt names two prompts for the language "de"`, []string{"de=query", "deu=document"}, nil},
		{"an unknown one", "", `--prompt names "title", but`, []string{"title"}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir, _ := published(t, "bert", inST("mean", ""))
			write(t, dir, map[string]string{"config_sentence_transformers.json": fmt.Sprintf(named, c.more)})
			r, err := Import(t.Context(), dir, Options{Prompts: c.prompts})
			if c.says != "" {
				encodetest.Refused(t, err, c.says)
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			got := map[string]string{}
			for language, p := range r.Manifest.Prefixes {
				got[language] = p.Text
			}
			if !maps.Equal(got, c.want) {
				t.Errorf("the prefixes are %v, want %v", got, c.want)
			}
		})
	}
	dir, _ := published(t, "bert", inST("mean", ""))
	write(t, dir, map[string]string{"1_Pooling/config.json": `{"pooling_mode_mean_tokens": true, "include_prompt": false}`})
	_, err := Import(t.Context(), dir, Options{Prefix: "w5 "})
	encodetest.Refused(t, err, "leaves the tokens of a prefix out of the pooling")
}

// TestTableOfModel2Vec: words share rows, have weights, and unknown ones count for nothing.
func TestTableOfModel2Vec(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a-model")
	table, _ := tableOf(nil)
	vocab := map[string]int{}
	for id, piece := range strings.Fields(vocabulary()) {
		vocab[piece] = id
	}
	raw, err := json.Marshal(map[string]any{
		"model":      map[string]any{"type": "WordPiece", "vocab": vocab, "unk_token": "[UNK]", "continuing_subword_prefix": "##"},
		"normalizer": map[string]any{"type": "BertNormalizer", "lowercase": true, "clean_text": true, "handle_chinese_chars": true},
	})
	if err != nil {
		t.Fatal(err)
	}
	write(t, dir, map[string]string{"config.json": `{"model_type": "model2vec"}`, "tokenizer.json": string(raw)})
	factors := make([]float32, 40)
	for i := range factors {
		factors[i] = 1 + float32(i)/7
	}
	tensors := []*weights.Tensor{{Name: "embeddings", Shape: []int{40, 16}, Data: table}, {Name: "weights", Shape: []int{40}, Data: factors}}
	put := func() {
		if err := weights.WriteFile(filepath.Join(dir, weights.ModelName), tensors, nil); err != nil {
			t.Fatal(err)
		}
	}
	put()
	if _, err := Import(t.Context(), dir, Options{Dim: 9}); err != nil {
		t.Fatal(err)
	}
	sentences := [][]int32{{7, 1, 9, 30}, {12, 1}, {39, 38}}
	var want [][]float32
	for _, sentence := range sentences {
		sum := make([]float32, 9)
		for _, id := range sentence {
			for k := range sum {
				if id != 1 {
					sum[k] += table[int(id)*16+k] * factors[id]
				}
			}
		}
		want = append(want, sum)
	}
	agrees(t, dir, sentences, want)
	tensors[1].Shape, tensors[1].Data = []int{39}, factors[:39]
	put()
	_, err = Import(t.Context(), dir, Options{})
	encodetest.Refused(t, err, "weights has the shape [39], but there are 40 words")
}

// TestPoolerOfGraph: the model's dense layers and --dim come after the output pooler_output of a graph, too, and tokens
// keep their width. After sentence_embedding only --dim does, because that output has the dense layers in it.
func TestPoolerOfGraph(t *testing.T) {
	table, means := tableOf(ids)
	for _, c := range []struct {
		name, output string
		dense        bool
		o            Options
		dim, tokens  int
	}{
		{"as it is", "pooler_output", false, Options{Pooling: pooler}, 16, 0},
		{"the first numbers", "pooler_output", false, Options{Pooling: pooler, Dim: 8}, 8, 16},
		{"a dense layer", "pooler_output", true, Options{Pooling: pooler}, 3, 16},
		{"the first numbers of a dense layer", "pooler_output", true, Options{Pooling: pooler, Dim: 2}, 2, 16},
		{"the first numbers of sentences", "sentence_embedding", false, Options{Dim: 8}, 8, 16},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "a-model")
			g := export.NewGraph("table")
			g.Input("input_ids", export.Int64, "batch", "tokens")
			g.Initializer("table", []int{40, 16}, table)
			g.Node("Gather", []string{"table", "input_ids"}, []string{"last_hidden_state"}, export.Attr{Name: "axis", Value: 0})
			g.Node("ReduceMean", []string{"last_hidden_state"}, []string{c.output}, export.Attr{Name: "keepdims", Value: 0}, export.Attr{Name: "axes", Value: []int64{1}})
			g.Output("last_hidden_state", export.Float32, "batch", "tokens", 16)
			g.Output(c.output, export.Float32, "batch", 16)
			write(t, dir, inST("mean", ""))
			want := slices.Clone(means)
			if c.dense {
				write(t, dir, inST("mean", denseModule))
				weight, bias := dense(t, dir)
				want = through(want, weight, bias)
			}
			for i := range want {
				want[i] = want[i][:c.dim]
			}
			if _, err := g.Write(dir, "model.onnx"); err != nil {
				t.Fatal(err)
			}
			r, err := Import(t.Context(), dir, c.o)
			if err != nil {
				t.Fatal(err)
			}
			agrees(t, dir, ids, want)
			if m := r.Manifest; m.Dim != c.dim || m.Tokens.Output != "last_hidden_state" || m.Tokens.Dim != c.tokens {
				t.Errorf("dim is %d, want %d; tokens are %+v, want %d numbers", m.Dim, c.dim, m.Tokens, c.tokens)
			}
		})
	}
}
