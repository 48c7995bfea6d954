package laser

import (
	"bytes"
	"encoding/json"
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

// golden is what LASER's own program computes; bench/models/laser.py makes it.
type golden struct {
	Normal    map[string]string `json:"normal"`
	Sentences []string          `json:"sentences"`
	Vectors   [][]float64       `json:"vectors"`
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

// TestLASER2: checkpoints of both formats give the vectors of LASER's program, which pads sentences to a batch.
func TestLASER2(t *testing.T) {
	g := readGolden(t)
	for _, file := range []string{"laser2.pt", "legacy.pt"} {
		t.Run(file, func(t *testing.T) {
			out := filepath.Join(t.TempDir(), "encoder")
			if _, err := Import(t.Context(), "testdata/"+file, "", importer.Options{Out: out}); err != nil {
				t.Fatal(err)
			}
			m, err := model.Load(out)
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
			got := make([]float32, len(g.Sentences)*e.Dim())
			if err := e.Encode(t.Context(), "en", g.Sentences, got); err != nil {
				t.Fatal(err)
			}
			for i, want := range g.Vectors {
				if len(want) != e.Dim() {
					t.Fatalf("%d values, not %d", e.Dim(), len(want))
				}
				var dot, length float64
				for j, x := range want {
					dot += x * float64(got[i*len(want)+j])
					length += x * x
				}
				if cosine := dot / math.Sqrt(length); cosine < 0.99999 {
					t.Errorf("%q has the cosine %v", g.Sentences[i], cosine)
				}
			}
		})
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
