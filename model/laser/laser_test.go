package laser

import (
	"bytes"
	"encoding/json"
	"maps"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"bitextmine/encode"
	"bitextmine/encode/encodetest"
	"bitextmine/encode/model"
	"bitextmine/encode/tokenizer"
	"bitextmine/model/importer"
)

func TestMain(m *testing.M) { encodetest.Main(m) }

// golden is what LASER's own program computes; bench/models/laser.py and laser3.py make it.
type golden struct {
	Normal    map[string]string `json:"normal"`
	Sentences []string          `json:"sentences"`
	Vectors   [][]float64       `json:"vectors"`

	LASER3 map[string][][]float64 `json:"laser3"`
}

func readGolden(t *testing.T) golden {
	t.Helper()
	raw, err := os.ReadFile("testdata/golden.json")
	if err != nil {
		t.Fatal(err)
	}
	var g golden
	if err := json.Unmarshal(raw, &g); err != nil {
		t.Fatal(err)
	}
	return g
}

// TestVectors: checkpoints of LASER2 in both formats, and of LASER3 with several settings, give the vectors of LASER's
// program, which pads sentences to a batch.
func TestVectors(t *testing.T) {
	g := readGolden(t)
	all := map[string][][]float64{"laser2": g.Vectors, "legacy": g.Vectors}
	maps.Copy(all, g.LASER3)
	for name, vectors := range all {
		t.Run(name, func(t *testing.T) {
			out := filepath.Join(t.TempDir(), "encoder")
			r, err := Import(t.Context(), "testdata/"+name+".pt", "", importer.Options{Out: out, Name: "mine"})
			if err != nil {
				t.Fatal(err)
			}
			if m := r.Manifest; (name == "laser2") != (len(m.Languages) == 93 && m.Licence != "" && m.Source.Homepage != "") {
				t.Errorf("its languages are %v, its licence %q and its source %+v", m.Languages, m.Licence, m.Source)
			}
			compare(t, out, g.Sentences, vectors)
		})
	}
}

// compare encodes sentences.
func compare(t *testing.T, dir string, sentences []string, vectors [][]float64) {
	t.Helper()
	m, err := model.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	e, err := encode.Open(m, encode.Options{Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	}()
	got := make([]float32, len(sentences)*e.Dim())
	if err := e.Encode(t.Context(), "en", sentences, got); err != nil {
		t.Fatal(err)
	}
	for i, want := range vectors {
		if len(want) != e.Dim() {
			t.Fatalf("%d values, not %d", e.Dim(), len(want))
		}
		var dot, length float64
		for j, x := range want {
			dot += x * float64(got[i*len(want)+j])
			length += x * x
		}
		if cosine := dot / math.Sqrt(length); cosine < 0.99999 {
			t.Errorf("%q has the cosine %v", sentences[i], cosine)
		}
	}
}

// TestPunctuation: a text is what LASER's program gives to SentencePiece.
func TestPunctuation(t *testing.T) {
	for text, want := range readGolden(t).Normal {
		if got := tokenizer.Lowercase(tokenizer.Moses(text)); got != want {
			t.Errorf("%q becomes %q, not %q", text, got, want)
		}
	}
}

// TestRefused: a pickle that could run code is refused by what it names, and a damaged one by what is wrong.
func TestRefused(t *testing.T) {
	weights, err := os.ReadFile("testdata/legacy.pt")
	if err != nil {
		t.Fatal(err)
	}
	magic := weights[:bytes.IndexByte(weights, '.')+1]
	for program, want := range map[string]string{
		"cos\nsystem\n(S'true'\ntR.":                    "os.system",
		"cposix\nsystem\n(X\x04\x00\x00\x00truetR.":     "posix.system",
		"\x8c\x08builtins\x8c\x04eval\x93.":             "builtins.eval",
		"ctorch.hub\nload\n.":                           "torch.hub.load",
		"ccollections\nOrderedDict\n)R(i__main__\nX\n.": "instruction 'i'",
		"\x82\x01.":             `'\u0082'`,
		"]K\x01K\x02R.":         "no class",
		"h\x07.":                "never kept",
		"X\xff\xff\xff\x7fabc.": "longer than the file",
		"}.":                    "neither the params",
		"K\x01":                 "ends too early",
		"ctorch._utils\n_rebuild_tensor_v2\n(K\x01K\x00tR.": "damaged",
		"(K\x01K\x02tQ.": "no storage",
	} {
		path := filepath.Join(t.TempDir(), "x.pt")
		file := append(append(bytes.Clone(magic), "K\x01.}."...), program...)
		if err := os.WriteFile(path, append(file, "]."...), 0o644); err != nil {
			t.Fatal(err)
		}
		_, err := Import(t.Context(), path, "testdata/laser2.spm", importer.Options{Out: filepath.Join(t.TempDir(), "out")})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, not %q", program, err, want)
		}
	}
	for name, change := range map[string]func([]byte) []byte{
		"cut":       func(b []byte) []byte { return b[:len(b)-9] },
		"no number": func(b []byte) []byte { copy(b[len(b)-8:], "\x00\x00\xc0\x7f\x00\x00\xc0\x7f"); return b },
	} {
		path := filepath.Join(t.TempDir(), "x.pt")
		if err := os.WriteFile(path, change(bytes.Clone(weights)), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := Import(t.Context(), path, "testdata/laser2.spm", importer.Options{Out: filepath.Join(t.TempDir(), "out")}); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// TestFlagsWithoutEffect: what the checkpoint fixes is refused by its flag.
func TestFlagsWithoutEffect(t *testing.T) {
	for flag, o := range map[string]importer.Options{"--dim": {Dim: 4}, "--pooling": {Pooling: "mean"}, "--prompt": {Prompts: []string{"query"}},
		"--onnx": {ONNX: "x.onnx"}, "--weights": {Weights: true}} {
		o.Out = filepath.Join(t.TempDir(), "out")
		_, err := Import(t.Context(), "testdata/laser2.pt", "", o)
		encodetest.Refused(t, err, flag+" has no effect on testdata/laser2.pt, a checkpoint of LASER")
	}
}

// FuzzCheckpoint: reading fails only with an error.
func FuzzCheckpoint(f *testing.F) {
	for _, file := range []string{"testdata/laser2.pt", "testdata/legacy.pt"} {
		raw, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		root, err := readCheckpoint(data)
		if err != nil {
			return
		}
		s, err := newState(field(root, "model"), "")
		if err != nil {
			return
		}
		for name, tensor := range s.tensors {
			if numbers, err := tensor.floats(); err == nil && len(numbers) != tensor.count {
				t.Errorf("%s has %d numbers", name, len(numbers))
			}
		}
	})
}
