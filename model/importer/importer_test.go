package importer

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"bitextmine/encode"
	"bitextmine/encode/encodetest"
	"bitextmine/encode/model"
	"bitextmine/train/export"

	"bitextmine/train/weights"
)

func TestMain(m *testing.M) { encodetest.Main(m) }

const samples = "../../train/encoder/testdata"

const modulesJSON = `[{"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"},
 {"idx": 1, "name": "1", "path": "1_Pooling", "type": "sentence_transformers.models.Pooling"}%s]`

const denseModule = `, {"idx": 2, "name": "2", "path": "2_Dense", "type": "sentence_transformers.models.Dense"}, {"idx": 3, "name": "3", "path": "3_Normalize", "type": "sentence_transformers.models.Normalize"}`

func TestSafetensorsOfBERT(t *testing.T) {
	dir, want := published(t, "bert", inST("mean", ""))
	r, err := Import(t.Context(), dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	agrees(t, dir, want.sentences(), want.Mean)
	says(t, r, "pooling", "mean", "1_Pooling/config.json")
	says(t, r, "max_tokens", "10", "sentence_bert_config.json")
	says(t, r, "licence", "apache-2.0", "README.md")
	m := r.Manifest
	if m.Name != "a-model" || m.Tokenizer.Kind != "wordpiece" || m.Tokenizer.Lowercase || m.Tokenizer.BOS.Piece != "[CLS]" || !slices.Equal(m.Languages, []string{"de", "en"}) || m.Tokens.Output == "" {
		t.Errorf("the manifest is %+v", m)
	}
}

func TestDenseLayerAfterSafetensors(t *testing.T) {
	dir, want := published(t, "bert", inST("cls", denseModule))
	weight, bias := dense(t, dir)
	out := filepath.Join(t.TempDir(), "out")
	if _, err := Import(t.Context(), dir, Options{Out: out, Name: "other"}); err != nil {
		t.Fatal(err)
	}
	agrees(t, out, want.sentences(), through(want.CLS, weight, bias))
}

func TestShardsOfXLMRoBERTa(t *testing.T) {
	dir, want := published(t, "xlm-roberta", map[string]string{"vocab.txt": vocabulary()})
	if _, err := Import(t.Context(), dir, Options{Pooling: "cls", Prefix: "w7 "}); err != nil {
		t.Fatal(err)
	}
	agrees(t, dir, want.sentences(), want.CLS)
}

// tableGraph is an ONNX graph as exporters write them: tokens' vectors are rows of a table.
func tableGraph(t *testing.T, dir, name string, table []float32, external bool) {
	t.Helper()
	if err := os.MkdirAll(filepath.Join(dir, "onnx"), 0o755); err != nil {
		t.Fatal(err)
	}
	g := export.NewGraph("table")
	for _, in := range []string{"input_ids", "attention_mask", "token_type_ids"} {
		g.Input(in, export.Int64, "batch", "tokens")
	}
	g.Initializer("table", []int{len(table) / 16, 16}, table)
	g.Node("Gather", []string{"table", "input_ids"}, []string{"rows"}, export.Attr{Name: "axis", Value: 0})
	g.Node("Mul", []string{"attention_mask", "token_type_ids"}, []string{"zero"}) // token types are all zero
	g.Node("Cast", []string{"zero"}, []string{"nothing"}, export.Attr{Name: "to", Value: int(export.Float32)})
	g.Initializer("last", []int{1}, []int64{2})
	g.Node("Unsqueeze", []string{"nothing", "last"}, []string{"column"})
	g.Node("Add", []string{"rows", "column"}, []string{"last_hidden_state"})
	g.Output("last_hidden_state", export.Float32, "batch", "tokens", 16)
	if external {
		g.Limit = 100
	}
	if _, err := g.Write(filepath.Join(dir, "onnx"), name); err != nil {
		t.Fatal(err)
	}
}

// tableOf is a table of 40 rows and its means of sentences.
func tableOf(sentences [][]int32) (table []float32, means [][]float32) {
	for i := range 40 * 16 {
		table = append(table, float32((i*37)%101)/50-1)
	}
	for _, ids := range sentences {
		mean := make([]float32, 16)
		for _, id := range ids {
			for k := range mean {
				mean[k] += table[int(id)*16+k] / float32(len(ids))
			}
		}
		means = append(means, mean)
	}
	return table, means
}

var ids = [][]int32{{2, 7, 9, 30, 3}, {2, 12, 3}, {2, 39, 38, 3}}

func TestONNXWithExternalData(t *testing.T) {
	for _, head := range []bool{false, true} {
		dir := filepath.Join(t.TempDir(), "a-model")
		table, want := tableOf(ids)
		tableGraph(t, dir, "model.onnx", table, true)
		tableGraph(t, dir, "model_O4.onnx", table, false) // another form, which is not asked for
		more := ""
		if head {
			more = denseModule
			weight, bias := dense(t, dir)
			want = through(want, weight, bias)
		}
		write(t, dir, inST("mean", more))
		out := filepath.Join(t.TempDir(), "out")
		r, err := Import(t.Context(), dir, Options{Out: out})
		if err != nil {
			t.Fatal(err)
		}
		agrees(t, out, ids, want)
		says(t, r, "weights", "model.onnx.data", "onnx/model.onnx")
		if !slices.Equal(r.Manifest.External, []string{"onnx/model.onnx.data"}) || r.Manifest.Inputs.TokenTypes == "" {
			t.Errorf("the manifest is %+v", r.Manifest)
		}
	}
}

func TestStaticTableWithTokenizerJSON(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a-model")
	table, want := tableOf(ids)
	vocab := map[string]int{}
	for id, piece := range strings.Fields(vocabulary()) {
		vocab[piece] = id
	}
	raw, err := json.Marshal(map[string]any{
		"model":         map[string]any{"type": "WordPiece", "vocab": vocab, "continuing_subword_prefix": "##", "unk_token": "[UNK]", "max_input_chars_per_word": 100},
		"pre_tokenizer": map[string]any{"type": "BertPreTokenizer"},
		"normalizer":    map[string]any{"type": "BertNormalizer", "lowercase": true, "clean_text": true, "handle_chinese_chars": true, "strip_accents": nil},
	})
	if err != nil {
		t.Fatal(err)
	}
	write(t, dir, map[string]string{
		"modules.json":                     `[{"idx": 0, "name": "0", "path": "0_StaticEmbedding", "type": "sentence_transformers.models.StaticEmbedding"}]`,
		"0_StaticEmbedding/tokenizer.json": string(raw),
	})
	if err := weights.WriteFile(filepath.Join(dir, "0_StaticEmbedding/model.safetensors"), []*weights.Tensor{{Name: "embedding.weight", Shape: []int{40, 16}, Data: table}}, nil); err != nil {
		t.Fatal(err)
	}
	r, err := Import(t.Context(), dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	agrees(t, dir, ids, want)
	tokenizer := r.Manifest.Tokenizer
	if tokenizer.Kind != "wordpiece" || !tokenizer.Lowercase || !tokenizer.StripAccents || tokenizer.BOS != nil || !r.Manifest.Tokens.Static {
		t.Errorf("the manifest is %+v", r.Manifest)
	}
}

// TestDenseLayerAfterATable: layers after a static table are computed, and the first numbers are those of the vector.
func TestDenseLayerAfterATable(t *testing.T) {
	table, means := tableOf(ids)
	for _, dim := range []int{0, 2} {
		dir := filepath.Join(t.TempDir(), "a-model")
		weight, bias := dense(t, dir)
		want := through(means, weight, bias)
		for i := range want {
			want[i] = want[i][:cmp.Or(dim, 3)]
		}
		write(t, dir, map[string]string{
			"modules.json": `[{"path": "", "type": "sentence_transformers.models.StaticEmbedding"}, {"path": "2_Dense", "type": "sentence_transformers.models.Dense"}]`,
			"vocab.txt":    vocabulary(),
		})
		if err := weights.WriteFile(filepath.Join(dir, "model.safetensors"), []*weights.Tensor{{Name: "embedding.weight", Shape: []int{40, 16}, Data: table}}, nil); err != nil {
			t.Fatal(err)
		}
		r, err := Import(t.Context(), dir, Options{Dim: dim})
		if err != nil {
			t.Fatal(err)
		}
		if m := r.Manifest; m.Tokens.Dim != 16 || !m.Tokens.Static {
			t.Errorf("the tokens are %+v", m.Tokens)
		}
		agrees(t, dir, ids, want)
		if m, err := model.Load(dir); err != nil {
			t.Fatal(err)
		} else if tokens, err := encode.OpenTokens(m, encode.Options{Threads: 1}); err != nil {
			t.Error(err)
		} else if err := tokens.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestUnigramTokenizerJSON(t *testing.T) {
	dir, want := published(t, "xlm-roberta", nil)
	pieces := [][2]any{{"<s>", 0}, {"<pad>", 0}, {"</s>", 0}, {"<unk>", 0}}
	for _, piece := range []string{"▁a", "▁b", "a", "b", "▁", "ab", "▁ab"} {
		pieces = append(pieces, [2]any{piece, -float64(len(pieces))})
	}
	for len(pieces) < 36 { // four rows of the table are spare
		pieces = append(pieces, [2]any{fmt.Sprint("x", len(pieces)), -99.0})
	}
	tokenizer := map[string]any{
		"model":         map[string]any{"type": "Unigram", "unk_id": 3, "vocab": pieces},
		"pre_tokenizer": map[string]any{"type": "Metaspace", "replacement": "▁", "add_prefix_space": true},
		"post_processor": map[string]any{"type": "TemplateProcessing", "single": []any{map[string]any{"SpecialToken": map[string]any{"id": "<s>"}},
			map[string]any{"Sequence": map[string]any{"id": "A"}}, map[string]any{"SpecialToken": map[string]any{"id": "</s>"}}}},
	}
	put := func() {
		raw, err := json.Marshal(tokenizer)
		if err != nil {
			t.Fatal(err)
		}
		write(t, dir, map[string]string{"tokenizer.json": string(raw)})
	}
	put()
	r, err := Import(t.Context(), dir, Options{Pooling: "mean"})
	if err != nil {
		t.Fatal(err)
	}
	agrees(t, dir, want.sentences(), want.Mean)
	if k := r.Manifest.Tokenizer; k.Kind != "huggingface" || k.BOS.Piece != "<s>" || k.EOS.Piece != "</s>" {
		t.Errorf("the tokenizer is %+v", k)
	}
	tokenizer["pre_tokenizer"] = map[string]any{"type": "UnicodeScripts"}
	put()
	_, err = Import(t.Context(), dir, Options{Pooling: "mean"})
	encodetest.Refused(t, err, `tokenizer.json: its pre_tokenizer has a step of type "UnicodeScripts", which cannot be computed`)
}

func TestBadFolders(t *testing.T) {
	remove := func(names ...string) func(t *testing.T, dir string) {
		return func(t *testing.T, dir string) {
			for _, name := range names {
				if err := os.Remove(filepath.Join(dir, name)); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	files := func(all map[string]string) func(t *testing.T, dir string) {
		return func(t *testing.T, dir string) { write(t, dir, all) }
	}
	table, _ := tableOf(nil)
	const pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:8f0d\nsize 471\n"
	for _, c := range []struct {
		name, says string
		o          Options
		spoil      func(t *testing.T, dir string)
	}{
		{"no weights", "has neither an ONNX graph nor safetensors", Options{}, remove("model.safetensors")},
		{"code", "asks to run code of the model's own (auto_map)", Options{}, func(t *testing.T, dir string) {
			remove("model.safetensors")(t, dir)
			write(t, dir, map[string]string{"config.json": `{"model_type": "new", "auto_map": {"AutoModel": "modeling.NewModel"}}`})
		}},
		{"code in a module", "code of the model's own, and this program never runs it", Options{}, files(map[string]string{"modules.json": `[{"path": "", "type": "custom_st.Transformer"}]`})},
		{"a module that is not computed", "names the module sentence_transformers.models.LSTM", Options{}, files(map[string]string{"modules.json": fmt.Sprintf(modulesJSON, `, {"path": "2", "type": "sentence_transformers.models.LSTM"}`)})},
		{"an unknown mode of pooling", "has the pooling attention, which cannot be computed", Options{}, files(map[string]string{"1_Pooling/config.json": `{"pooling_mode": ["mean", "attention"]}`})},
		{"an unknown switch of pooling", "has the pooling pooling_mode_attention, which cannot be computed", Options{}, files(map[string]string{"1_Pooling/config.json": `{"pooling_mode_attention": true}`})},
		{"a normalisation of tokens", "2_Normalize/config.json normalises something else than sentence_embedding", Options{}, files(map[string]string{
			"modules.json":            fmt.Sprintf(modulesJSON, `, {"path": "2_Normalize", "type": "sentence_transformers.models.Normalize"}`),
			"2_Normalize/config.json": `{"module_input_name": "token_embeddings", "module_output_name": "token_embeddings"}`})},
		{"no pooling", "give --pooling mean", Options{}, remove("modules.json")},
		{"an unknown pooling", `--pooling is "first"`, Options{Pooling: "first"}, remove("modules.json")},
		{"damaged JSON", "is not the JSON that a published model has", Options{}, files(map[string]string{"config.json": "{"})},
		{"no tokenizer", "has no tokenizer that can be read", Options{}, remove("vocab.txt")},
		{"a larger vocabulary", "gives ids up to 41, but the model has 40 words (config.json)", Options{}, files(map[string]string{"vocab.txt": vocabulary() + "one\ntwo\n"})},
		{"a smaller vocabulary", "gives ids up to 34, but the model has 40 words (config.json)", Options{}, files(map[string]string{"vocab.txt": strings.Join(strings.Fields(vocabulary())[:35], "\n")})},
		{"a pooling of other vectors", "the pooling is of vectors of 32 numbers, but the model's have 16", Options{}, files(map[string]string{"1_Pooling/config.json": `{"word_embedding_dimension": 32, "pooling_mode_mean_tokens": true}`})},
		{"a pooling of other vectors before a graph", "the pooling is of vectors of 32 numbers, but the model's have 16", Options{}, func(t *testing.T, dir string) {
			tableGraph(t, dir, "model.onnx", table, false)
			write(t, dir, map[string]string{"1_Pooling/config.json": `{"word_embedding_dimension": 32, "pooling_mode_mean_tokens": true}`})
		}},
		{"weights in a pickle", "has pytorch_model.bin, a pickle, which can run code and is never read: save the weights as safetensors", Options{}, func(t *testing.T, dir string) {
			remove("model.safetensors")(t, dir)
			write(t, dir, map[string]string{"pytorch_model.bin": "PK"})
		}},
		{"an adapter", "is an adapter (adapter_config.json) and not a model: merge it into its model first (merge_and_unload()", Options{}, func(t *testing.T, dir string) {
			remove("model.safetensors")(t, dir)
			write(t, dir, map[string]string{"adapter_config.json": `{"peft_type": "LORA"}`, "adapter_model.safetensors": "x"})
		}},
		{"a pointer to weights", "model.safetensors is a pointer of Git LFS", Options{}, files(map[string]string{"model.safetensors": pointer})},
		{"a pointer to a graph", "onnx/model.onnx is a pointer of Git LFS", Options{}, files(map[string]string{"onnx/model.onnx": pointer})},
		{"a pointer to a vocabulary", "vocab.txt is a pointer of Git LFS", Options{}, files(map[string]string{"vocab.txt": pointer})},
		{"another kind of model", `has the model_type "deberta-v2" (DebertaV2Model), which this program cannot build a graph of; it knows BERT, `, Options{}, files(map[string]string{"config.json": `{"model_type": "deberta-v2", "architectures": ["DebertaV2Model"], "vocab_size": 40}`})},
		{"a graph that is missing", "--onnx names other.onnx", Options{ONNX: "other.onnx"}, func(*testing.T, string) {}},
		{"external data that is missing", "model.onnx.data, which is missing", Options{}, func(t *testing.T, dir string) {
			tableGraph(t, dir, "model.onnx", table, true)
			remove("onnx/model.onnx.data")(t, dir)
		}},
		{"several graphs", "has several graphs (onnx/a.onnx, onnx/b.onnx)", Options{}, func(t *testing.T, dir string) {
			tableGraph(t, dir, "a.onnx", table, false)
			tableGraph(t, dir, "b.onnx", table, false)
		}},
		{"SentencePiece without settings", "has no tokenizer_config.json, whose tokenizer_class says how", Options{}, func(t *testing.T, dir string) {
			remove("tokenizer_config.json")(t, dir)
			write(t, dir, map[string]string{"spiece.model": "x"})
		}},
		{"SentencePiece of an unknown class", `tokenizer_config.json names the tokenizer_class "X"`, Options{}, files(map[string]string{"spiece.model": "x", "tokenizer_config.json": `{"tokenizer_class": "X"}`})},
		{"a damaged graph", "onnx/model.onnx: not an ONNX model", Options{}, files(map[string]string{"onnx/model.onnx": "no graph"})},
		{"a pickle for the dense layer", "a pickle can run code", Options{}, func(t *testing.T, dir string) {
			write(t, dir, inST("cls", denseModule))
			dense(t, dir)
			remove("2_Dense/model.safetensors")(t, dir)
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir, _ := published(t, "bert", inST("mean", ""))
			c.spoil(t, dir)
			_, err := Import(t.Context(), dir, c.o)
			encodetest.Refused(t, err, c.says)
			if _, err := os.Stat(filepath.Join(dir, model.FileName)); err == nil {
				t.Error("there is a manifest")
			}
			c.o.Out = filepath.Join(t.TempDir(), "out")
			_, err = Import(t.Context(), dir, c.o)
			encodetest.Refused(t, err, c.says)
			if _, err := os.Stat(c.o.Out); err == nil {
				t.Error("the failed import leaves its directory")
			}
		})
	}
}

// TestOwnEncoderIsNotImported: a folder that this program wrote is refused, and one that it was imported into is not.
func TestOwnEncoderIsNotImported(t *testing.T) {
	dir, _ := published(t, "bert", inST("mean", ""))
	for range 2 {
		if _, err := Import(t.Context(), dir, Options{}); err != nil {
			t.Fatal(err)
		}
	}
	out := filepath.Join(t.TempDir(), "out")
	if _, err := Import(t.Context(), dir, Options{Out: out}); err != nil {
		t.Fatal(err)
	}
	_, err := Import(t.Context(), out, Options{})
	encodetest.Refused(t, err, out+" has model.yaml, so it is a ready encoder of this program, and needs no import: use it with --encoder "+out)
}

// TestFailedImportOverAnEncoder: an encoder is whole after an import into its directory that fails before it writes,
// and after another has no manifest, which would name files of both.
func TestFailedImportOverAnEncoder(t *testing.T) {
	dir, want := published(t, "bert", inST("mean", ""))
	out := filepath.Join(t.TempDir(), "out")
	for _, o := range []Options{{}, {Out: out}} {
		to := cmp.Or(o.Out, dir)
		again := func(files map[string]string) error {
			write(t, dir, files)
			_, err := Import(t.Context(), dir, o)
			return err
		}
		if err := again(nil); err != nil {
			t.Fatal(err)
		}
		modules, err := os.ReadFile(filepath.Join(dir, "modules.json"))
		if err != nil {
			t.Fatal(err)
		}
		encodetest.Refused(t, again(map[string]string{"modules.json": "{"}), "modules.json")
		agrees(t, to, want.sentences(), want.Mean)
		encodetest.Refused(t, again(map[string]string{"modules.json": string(modules), "vocab.txt": vocabulary() + "one\ntwo\n"}),
			"in "+to+" are replaced, so it has no model.yaml now: import it again")
		if _, err := os.Stat(filepath.Join(to, model.FileName)); err == nil {
			t.Error("there is a manifest")
		}
		if err := again(map[string]string{"vocab.txt": vocabulary()}); err != nil {
			t.Fatal(err)
		}
		agrees(t, to, want.sentences(), want.Mean)
	}
}

func TestKnownEncodersLoad(t *testing.T) {
	all, err := Known()
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range all {
		if m.Source == (model.Source{}) {
			t.Errorf("%s does not say where it is published", m.Name)
		}
	}
	if len(all) < 20 {
		t.Errorf("there are %d", len(all))
	}
}

// TestHubCache: a folder of the cache of the hub's own programs is read, nothing is written into it, and a known
// encoder is known by the model's name.
func TestHubCache(t *testing.T) {
	const name = "paraphrase-multilingual-MiniLM-L12-v2"
	for _, at := range []string{"", "snapshots/0123abc"} {
		t.Run(at, func(t *testing.T) {
			dir, want := published(t, "bert", inST("mean", ""))
			cache := filepath.Join(t.TempDir(), "models--sentence-transformers--"+name)
			write(t, cache, map[string]string{"refs/main": "0123abc"})
			if err := os.MkdirAll(filepath.Join(cache, "snapshots"), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.Rename(dir, filepath.Join(cache, "snapshots/0123abc")); err != nil {
				t.Fatal(err)
			}
			t.Chdir(t.TempDir())
			r, err := Import(t.Context(), filepath.Join(cache, at), Options{})
			if err != nil {
				t.Fatal(err)
			}
			if r.Manifest.Name != name || filepath.Base(r.Dir) != name || !strings.HasSuffix(r.Manifest.Source.Hub, "/"+name) {
				t.Errorf("%s, of %q, is in %s", r.Manifest.Name, r.Manifest.Source.Hub, r.Dir)
			}
			agrees(t, r.Dir, want.sentences(), want.Mean)
			if _, err := os.Stat(filepath.Join(cache, "snapshots/0123abc", GraphFile)); err == nil {
				t.Error("the graph is in the cache")
			}
		})
	}
}

// TestTooLargeForTheMachine: a model that does not fit into memory is refused before its weights are read.
func TestTooLargeForTheMachine(t *testing.T) {
	memory := machineMemory
	defer func() { machineMemory = memory }()
	machineMemory = func() int64 { return 1 << 10 }
	dir, _ := published(t, "bert", inST("mean", ""))
	_, err := Import(t.Context(), dir, Options{})
	encodetest.Refused(t, err, "as float32, but this machine has 0.0 GB of memory: take a smaller model or a larger machine")
	if _, err := os.Stat(filepath.Join(dir, GraphFile)); err == nil {
		t.Error("there is a graph")
	}
}
