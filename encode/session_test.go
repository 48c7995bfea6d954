package encode

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"bitextmine/internal/badinput"
)

func refused(t *testing.T, err error, says string) {
	t.Helper()
	if err == nil || !badinput.Is(err) || !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), "\n") {
		t.Errorf("got %v, want a badinput error with %q", err, says)
	}
}

func TestOpenVerifiesGraph(t *testing.T) {
	broken := changed(t)
	broken["model.onnx"] = &fstest.MapFile{Data: []byte("not a graph")}
	notSPM := changed(t)
	notSPM["spm.model"] = &fstest.MapFile{Data: []byte("not a model")}
	for _, c := range []struct {
		name  string
		files fstest.MapFS
		says  string
	}{
		{"no such input", changed(t, "ids: input_ids", "ids: tokens"), `inputs.ids is "tokens", but model.onnx has only the inputs "input_ids", "attention_mask"`},
		{"no such mask", changed(t, "mask: attention_mask", "mask: mask"), `inputs.mask is "mask", but model.onnx has only`},
		{"an input without a field", changed(t, ", mask: attention_mask", ""), `also needs an input "attention_mask", which no field names`},
		{"an input too many", changed(t, "mask: attention_mask", "mask: attention_mask, token_types: types"), `inputs.token_types is "types"`},
		{"no such output", changed(t, "output: sentence_embedding", "output: last_hidden_state"), `output is "last_hidden_state", but model.onnx has only the outputs "sentence_embedding"`},
		{"pooling of pooled vectors", changed(t, "pooling: none", "pooling: mean"), `has it as float32 [-1, 256], where pooling: mean needs float32 [batch, tokens, dim]`},
		{"another dim", changed(t, "dim: 256", "dim: 512"), `dim is "512", but model.onnx gives vectors of 256 values`},
		{"not a graph", broken, "model.onnx of encoder bag-multi is not a graph"},
		{"not a tokenizer", notSPM, "spm.model of encoder bag-multi (tokenizer.file in its manifest)"},
		{"not a piece", changed(t, "lowercase: true", `lowercase: true, eos: "[SEP]"`), `tokenizer.eos is "[SEP]", which is not a piece of spm.model`},
		{"a negative id", changed(t, "lowercase: true", "lowercase: true, offset: -5"), "with tokenizer.offset -5, id 0 of spm.model becomes negative"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, err := LoadFS(c.files, ManifestName)
			if err != nil {
				t.Fatal(err)
			}
			e, err := Open(m, Options{})
			if err == nil {
				e.Close()
			}
			refused(t, err, c.says)
		})
	}
}

func TestLibrary(t *testing.T) {
	model, err := Load("bag-multi")
	if err != nil {
		t.Fatal(err)
	}
	text := filepath.Join(t.TempDir(), libraryName)
	if err := os.WriteFile(text, []byte("not a library"), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Run("the setting names no file", func(t *testing.T) {
		_, err := Open(model, Options{Library: "/nowhere/lib.so"})
		refused(t, err, "the ONNX Runtime library setting names /nowhere/lib.so")
	})
	t.Run("not a library", func(t *testing.T) {
		_, err := Open(model, Options{Library: text})
		refused(t, err, text+" could not be loaded as ONNX Runtime")
	})
	t.Run("a second library", func(t *testing.T) {
		open(t, Options{})
		_, err := Open(model, Options{Library: text})
		refused(t, err, "ONNX Runtime is already loaded from ")
	})
	t.Run("the environment names no file", func(t *testing.T) {
		t.Setenv(LibraryEnv, "/nowhere/else.so")
		_, err := Open(model, Options{})
		refused(t, err, LibraryEnv+" names /nowhere/else.so")
	})
	t.Run("nowhere", func(t *testing.T) {
		t.Setenv(LibraryEnv, "")
		t.Setenv("XDG_CACHE_HOME", t.TempDir())
		_, err := Open(model, Options{})
		refused(t, err, "ONNX Runtime was not found: looked for ")
	})
	t.Run("in the cache", func(t *testing.T) {
		library := os.Getenv(LibraryEnv)
		cache := t.TempDir()
		t.Setenv(LibraryEnv, "")
		t.Setenv("XDG_CACHE_HOME", cache)
		if err := os.Mkdir(filepath.Join(cache, "mine"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(library, filepath.Join(cache, "mine", libraryName)); err != nil {
			t.Fatal(err)
		}
		e, err := Open(model, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	t.Run("negative options", func(t *testing.T) {
		_, err := Open(model, Options{Threads: -1})
		refused(t, err, "must not be negative")
	})
}

func TestPrefixOfUnknownLanguage(t *testing.T) {
	m, err := LoadFS(changed(t, "dim: 256", "dim: 256\nprefixes: {de: {text: a}}"), ManifestName)
	if err != nil {
		t.Fatal(err)
	}
	e, err := Open(m, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	if err := e.Encode(t.Context(), "de", []string{"b"}, make([]float32, 256)); err != nil {
		t.Error(err)
	}
	refused(t, e.Encode(t.Context(), "fr", []string{"b"}, make([]float32, 256)), `has no prefix for language "fr"`)
	if err := e.Encode(t.Context(), "de", []string{"b"}, make([]float32, 255)); err == nil {
		t.Error("a destination that is too short was accepted")
	}
}
