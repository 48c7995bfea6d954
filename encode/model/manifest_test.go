package model

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"bitextmine/encode/encodetest"
	"bitextmine/fixtures"
	"bitextmine/internal/badinput"
)

const whole = `name: x
onnx: model.onnx
tokenizer: {kind: sentencepiece, file: spm.model}
max_tokens: 128
inputs: {ids: input_ids}
output: out
pooling: none
dim: 4
`

func TestDecode(t *testing.T) {
	for _, c := range []struct {
		name, text string
		says       string // empty: accepted
	}{
		{"a minimal manifest", whole, ""},
		{"everything", whole + `sha256: ` + strings.Repeat("0a", 32) + `
external_data: [model.onnx_data]
normalise: false
prefixes: {de: {tokens: [7, 8]}, "*": {text: "query: "}}
licence: MIT
languages: [de, en]
`, ""},
		{"an unknown field", whole + "pool: mean\n", "line 9: field pool not found"},
		{"an unknown field inside", strings.Replace(whole, "file: spm.model", "file: spm.model, lower: true", 1), "field lower not found"},
		{"a word for a number", strings.Replace(whole, "128", "many", 1), "line 4: cannot unmarshal !!str `many`"},
		{"empty", "", "the file is empty"},
		{"not YAML", "name: [", "line 1"},
		{"no name", strings.Replace(whole, "name: x", "", 1), "name is missing"},
		{"no file", strings.Replace(whole, "onnx: model.onnx", "", 1), `onnx is "" but must be a file below`},
		{"a file elsewhere", strings.Replace(whole, "spm.model", "../spm.model", 1), `tokenizer.file is "../spm.model"`},
		{"a pooling that is none", strings.Replace(whole, "pooling: none", "pooling: sum", 1), `pooling is "sum" but must be none, cls, mean or max`},
		{"a tokenizer that is none", strings.Replace(whole, "sentencepiece", "bpe", 1), `tokenizer.kind is "bpe"`},
		{"accents of SentencePiece", strings.Replace(whole, "spm.model}", "spm.model, strip_accents: true}", 1), "strip_accents is for kind wordpiece"},
		{"a negative token", strings.Replace(whole, "spm.model}", "spm.model, bos: -1}", 1), "tokenizer.bos is -1"},
		{"a token that is a list", strings.Replace(whole, "spm.model}", "spm.model, bos: [1]}", 1), "a special token is an id or a piece"},
		{"two numberings", strings.Replace(whole, "spm.model}", "spm.model, offset: 1, dictionary: d}", 1), "give one"},
		{"a centre", whole + "centre: {file: centre.npy}\n", ""},
		{"a centre elsewhere", whole + "centre: {file: /centre.npy}\n", `centre.file is "/centre.npy"`},
		{"a centre without a file", whole + "centre: {sha256: " + strings.Repeat("0a", 32) + "}\n", `centre.file is ""`},
		{"centres of languages", whole + "centre: {file: c.npy, languages: [de, zh-Hant]}\n", ""},
		{"a language's centre twice", whole + "centre: {file: c.npy, languages: [de, de]}\n", `centre.languages has "de" twice`},
		{"languages without a file", whole + "centre: {languages: [de]}\n", `centre.file is ""`},
		{"a bad sum of the centre", whole + "centre: {file: c.npy, sha256: x}\n", "centre.sha256 is not 64 hexadecimal digits"},
		{"a bad sum", whole + "sha256: abc\n", "sha256 is not 64 hexadecimal digits"},
		{"no room", strings.Replace(strings.Replace(whole, "spm.model}", "spm.model, bos: 0, eos: 2}", 1), "128", "2", 1), "max_tokens is 2"},
		{"the most tokens", strings.Replace(whole, "128", "65536", 1), ""},
		{"too many tokens", strings.Replace(whole, "128", "2000000000", 1), "max_tokens is 2000000000 but must be at most 65536"},
		{"no room with a prefix", strings.Replace(whole, "128", "2", 1) + "prefixes: {de: {tokens: [1, 2]}}\n", "no room for text beside 2 special and prefix tokens of de"},
		{"a prefix twice", whole + "prefixes: {de: {tokens: [1], text: a}}\n", "prefixes.de has both"},
		{"an intercept that is no number", whole + "judge: {between: [1], merge: {scorer: 0.5, judge: 0.5, intercept: .nan}}\n", "judge.merge has the weights 0.5 of the scorer and 0.5 of the judge and the intercept NaN"},
		{"an infinite weight", whole + "judge: {between: [1], merge: {scorer: 0.5, judge: .inf}}\n", "judge.merge has the weights 0.5 of the scorer and +Inf of the judge and the intercept 0"},
		{"an infinite weight of the scorer", whole + "judge: {between: [1], merge: {scorer: .inf, judge: 0.5}}\n", "judge.merge has the weights +Inf of the scorer"},
		{"another arithmetic", strings.Replace(whole, "dim: 4", "dim: 4\nquantised: 99", 1), "quantised is 99 but this program computes version 1"},
		{"everything that is wrong at once", strings.Replace(strings.Replace(whole, "dim: 4", "dim: 0", 1), "name: x", "", 1), "name is missing; dim is 0"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Decode(strings.NewReader(c.text), "m/model.yaml")
			if c.says == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if err == nil || !badinput.Is(err) || !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), "m/model.yaml") ||
				strings.Contains(err.Error(), "\n") || strings.Contains(err.Error(), "model.Manifest") {
				t.Errorf("got %v, want a badinput error with %q", err, c.says)
			}
		})
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(whole)
	f.Add("name: &a [*a]")
	f.Fuzz(func(t *testing.T, text string) {
		m, err := Decode(strings.NewReader(text), "m")
		if err == nil && (m.Dim < 1 || m.MaxTokens < 1 || !fs.ValidPath(m.ONNX)) {
			t.Errorf("accepted %+v", m)
		}
	})
}

// The published encoders' manifests are valid, name their licence and say where the weights come from.
func TestPublishedManifests(t *testing.T) {
	files, err := filepath.Glob("../../configs/models/*/" + FileName)
	if err != nil || len(files) < 6 {
		t.Fatalf("found %d manifests: %v", len(files), err)
	}
	for _, path := range files {
		t.Run(filepath.Base(filepath.Dir(path)), func(t *testing.T) {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			m, err := Decode(strings.NewReader(string(text)), path)
			if err != nil {
				t.Fatal(err)
			}
			if m.Licence == "" || m.Name != filepath.Base(filepath.Dir(path)) || !strings.HasPrefix(string(text), "# ") {
				t.Errorf("licence %q, name %q: the manifest must name both and begin with a comment", m.Licence, m.Name)
			}
		})
	}
}

func digest(t testing.TB, files fs.FS) string {
	t.Helper()
	m, err := LoadFS(files, FileName)
	if err != nil {
		t.Fatal(err)
	}
	return m.Digest
}

func TestDigest(t *testing.T) {
	want := digest(t, encodetest.Changed(t))
	other := encodetest.Changed(t)
	other["spm.model"] = &fstest.MapFile{Data: append([]byte{}, other["spm.model"].Data[1:]...)}
	renamed := encodetest.Changed(t, "onnx: model.onnx", "onnx: other.onnx")
	renamed["other.onnx"] = renamed["model.onnx"]
	centred := encodetest.Changed(t, "pooling: none", "pooling: none\ncentre: {file: c.npy}")
	centred["c.npy"] = &fstest.MapFile{Data: []byte("one")}
	again := encodetest.Changed(t, "pooling: none", "pooling: none\ncentre: {file: d.npy}")
	again["d.npy"] = centred["c.npy"]
	elsewhere := encodetest.Changed(t, "pooling: none", "pooling: none\ncentre: {file: c.npy}")
	elsewhere["c.npy"] = &fstest.MapFile{Data: []byte("two")}
	if digest(t, centred) != digest(t, again) || digest(t, centred) == digest(t, elsewhere) {
		t.Error("the digest depends on the name of the centre's file, or not on its content")
	}
	for _, c := range []struct {
		name  string
		files fs.FS
		same  bool
	}{
		{"a centre", centred, false},
		{"another name", encodetest.Changed(t, "name: "+encodetest.BagName, "name: bag"), true},
		{"other languages and a licence", encodetest.Changed(t, "    - ru\n", "", "licence: CC-BY", "licence: MIT, CC-BY"), true},
		{"a file of another name", renamed, true},
		{"another cut", encodetest.Changed(t, "max_tokens: 128", "max_tokens: 127"), false},
		{"no lower-casing", encodetest.Changed(t, "lowercase: true", "lowercase: false"), false},
		{"a prefix", encodetest.Changed(t, "pooling: none", "pooling: none\nprefixes: {de: {text: a}}"), false},
		{"an arithmetic", encodetest.Changed(t, "pooling: none", "pooling: none\nquantised: 1"), false},
		{"a norm", encodetest.Changed(t, "normalise: false", "normalise: true"), false},
		{"a beginning", encodetest.Changed(t, "lowercase: true", "lowercase: true\n    bos: 1"), false},
		{"another tokenizer file", other, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := digest(t, c.files); (got == want) != c.same {
				t.Errorf("the digest is the same: %v, want %v", got == want, c.same)
			}
		})
	}
}

// Only of encoders that lower-case, and of prefixes with capitals, the digest is another than before prefixes were
// lower-cased.
func TestDigestOfLoweredPrefixes(t *testing.T) {
	for _, c := range []struct{ name, lower, text, want string }{
		{"small letters", "true", "query: ", "34cf900572848cb9"},
		{"capitals that are kept", "false", "Query: ", "8dd33eed41eddf00"},
		{"capitals", "true", "Query: ", "fd06fb41bdd53782"},
	} {
		manifest := strings.Replace(whole, "spm.model", "spm.model, lowercase: "+c.lower, 1) + "prefixes: {de: {text: '" + c.text + "'}}"
		files := fstest.MapFS{FileName: {Data: []byte(manifest)}, "model.onnx": {}, "spm.model": {}}
		if got := digest(t, files)[:16]; got != c.want {
			t.Errorf("%s: the digest is %s, want %s", c.name, got, c.want)
		}
	}
}

func TestLoad(t *testing.T) {
	builtin, err := Load(encodetest.Bag())
	if err != nil {
		t.Fatal(err)
	}
	dir := encodetest.Bag()
	for _, ref := range []string{dir, dir + "/" + FileName} {
		if m, err := Load(ref); err != nil || m.Digest != builtin.Digest {
			t.Errorf("Load(%s): %v; another digest than the built-in encoder's", ref, err)
		}
	}
	t.Run("a directory with the name of a built-in encoder", func(t *testing.T) {
		t.Chdir(t.TempDir())
		if err := os.CopyFS(fixtures.Encoder, os.DirFS(dir)); err != nil {
			t.Fatal(err)
		}
		for ref, name := range map[string]string{"./" + fixtures.Encoder: encodetest.BagName, fixtures.Encoder + "/": encodetest.BagName, fixtures.Encoder: fixtures.Encoder} {
			if m, err := LoadAny(ref); err != nil || m.Name != name {
				t.Errorf("LoadAny(%s) is %v (%v), want encoder %s", ref, m, err, name)
			}
		}
	})
	sums := encodetest.Changed(t, "onnx: model.onnx", "onnx: model.onnx\nsha256: "+strings.Repeat("0", 64))
	centre := encodetest.Changed(t, "pooling: none", "pooling: none\ncentre: {file: spm.model, sha256: "+strings.Repeat("0", 64)+"}")
	missing := encodetest.Changed(t, "file: spm.model", "file: other.model")
	others := t.TempDir()
	if err := os.WriteFile(filepath.Join(others, "config.json"), []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		load func() (*Model, error)
		says string
	}{
		{"a name that is nothing", func() (*Model, error) { return Load("labse") }, "neither built in (" + fixtures.Encoder + ") nor a model.yaml"},
		{"the directory of a training", func() (*Model, error) {
			out := t.TempDir()
			if err := os.MkdirAll(filepath.Join(out, "model"), 0o755); err != nil {
				return nil, err
			}
			if err := os.WriteFile(filepath.Join(out, "model", FileName), nil, 0o600); err != nil {
				return nil, err
			}
			return Load(out)
		}, "/model has, as the directory of a training: name that one"},
		{"a directory without a manifest", func() (*Model, error) { return Load(t.TempDir()) }, "has no model.yaml: name that of an encoder"},
		{"a judge that is nothing", func() (*Model, error) { return LoadJudge("judge") }, "no judge \"judge\" (stat judge: no such file or directory): name the directory of one"},
		{"a published model", func() (*Model, error) { return Load(others) }, "`mine model import " + others + "`"},
		{"a wrong sum", func() (*Model, error) { return LoadFS(sums, FileName) }, "but the manifest of encoder " + encodetest.BagName + " says 000"},
		{"a wrong sum of the centre", func() (*Model, error) { return LoadFS(centre, FileName) }, "says 000"},
		{"a missing file", func() (*Model, error) { return LoadFS(missing, FileName) }, "open other.model of encoder " + encodetest.BagName},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := c.load(); err == nil || !badinput.Is(err) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("got %v, want a badinput error with %q", err, c.says)
			}
		})
	}
}
