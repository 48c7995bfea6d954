package encode

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"

	"bitextmine/encode/encodetest"
	"bitextmine/encode/model"
	"bitextmine/encode/session"
)

func TestOpenVerifiesGraph(t *testing.T) {
	dim := fmt.Sprint(open(t, Options{}).Dim())
	broken := encodetest.Changed(t)
	broken["model.onnx"] = &fstest.MapFile{Data: []byte("not a graph")}
	tooNew := encodetest.Changed(t)
	graph := bytes.Clone(tooNew["model.onnx"].Data)
	graph[len(graph)-1] = 99 // the version of opset_import, which ends the file
	tooNew["model.onnx"] = &fstest.MapFile{Data: graph}
	notSPM := encodetest.Changed(t)
	notSPM["spm.model"] = &fstest.MapFile{Data: []byte("not a model")}
	for _, c := range []struct {
		name  string
		files fstest.MapFS
		says  string
	}{
		{"no such input", encodetest.Changed(t, "ids: ids", "ids: words"), `inputs.ids is "words", but model.onnx has only the inputs "ids", "mask"`},
		{"no such mask", encodetest.Changed(t, "mask: mask", "mask: attention"), `inputs.mask is "attention", but model.onnx has only`},
		{"an input without a field", encodetest.Changed(t, "    mask: mask\n", ""), `also needs an input "mask", which no field names`},
		{"an input too many", encodetest.Changed(t, "mask: mask", "mask: mask\n    token_types: types"), `inputs.token_types is "types"`},
		{"no such output", encodetest.Changed(t, "\noutput: vectors", "\noutput: last_hidden_state"), `output is "last_hidden_state", but model.onnx has only the outputs "vectors"`},
		{"pooling of pooled vectors", encodetest.Changed(t, "pooling: none", "pooling: mean"), "has it as float32 [-1, " + dim + "], where pooling: mean needs float32 [batch, tokens, dim]"},
		{"another dim", encodetest.Changed(t, "dim: "+dim, "dim: 300"), `dim is "300", but model.onnx gives vectors of ` + dim + " values"},
		{"not a graph", broken, "model.onnx of encoder " + encodetest.BagName + " is not a graph"},
		{"an opset to come", tooNew, "export it with an older opset"},
		{"not a tokenizer", notSPM, "spm.model of encoder " + encodetest.BagName + " (tokenizer.file in its manifest)"},
		{"not a piece", encodetest.Changed(t, "lowercase: true", "lowercase: true\n    eos: '[SEP]'"), `tokenizer.eos is "[SEP]", which is not a piece of spm.model`},
		{"a negative id", encodetest.Changed(t, "lowercase: true", "lowercase: true\n    offset: -5"), "with tokenizer.offset -5, id 0 of spm.model becomes negative"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, err := model.LoadFS(c.files, model.FileName)
			if err != nil {
				t.Fatal(err)
			}
			e, err := Open(m, Options{})
			if err == nil {
				e.Close()
			}
			encodetest.Refused(t, err, c.says)
		})
	}
}

func TestLibrary(t *testing.T) {
	model, err := model.Load(encodetest.Bag())
	if err != nil {
		t.Fatal(err)
	}
	text := filepath.Join(t.TempDir(), session.LibraryName)
	if err := os.WriteFile(text, []byte("not a library"), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Run("the setting names no file", func(t *testing.T) {
		_, err := Open(model, Options{Library: "/nowhere/lib.so"})
		encodetest.Refused(t, err, "the ONNX Runtime library setting names /nowhere/lib.so")
	})
	t.Run("not a library", func(t *testing.T) {
		_, err := Open(model, Options{Library: text})
		encodetest.Refused(t, err, text+" could not be loaded as ONNX Runtime")
	})
	t.Run("a second library", func(t *testing.T) {
		open(t, Options{})
		_, err := Open(model, Options{Library: text})
		encodetest.Refused(t, err, "ONNX Runtime is already loaded from ")
	})
	t.Run("the environment names no file", func(t *testing.T) {
		t.Setenv(session.LibraryEnv, "/nowhere/else.so")
		_, err := Open(model, Options{})
		encodetest.Refused(t, err, session.LibraryEnv+" names /nowhere/else.so")
	})
	t.Run("nowhere", func(t *testing.T) {
		t.Setenv(session.LibraryEnv, "")
		t.Setenv("XDG_CACHE_HOME", t.TempDir())
		_, err := Open(model, Options{})
		encodetest.Refused(t, err, "ONNX Runtime was not found: looked for ")
	})
	t.Run("in the cache", func(t *testing.T) {
		library := os.Getenv(session.LibraryEnv)
		cache := t.TempDir()
		t.Setenv(session.LibraryEnv, "")
		t.Setenv("XDG_CACHE_HOME", cache)
		if err := os.Mkdir(filepath.Join(cache, "mine"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(library, filepath.Join(cache, "mine", session.LibraryName)); err != nil {
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
		encodetest.Refused(t, err, "must not be negative")
	})
}

func TestPrefixOfUnknownLanguage(t *testing.T) {
	m, err := model.LoadFS(encodetest.Changed(t, "pooling: none", "pooling: none\nprefixes: {de: {text: a}}"), model.FileName)
	if err != nil {
		t.Fatal(err)
	}
	e, err := Open(m, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	if err := e.Encode(t.Context(), "de", []string{"b"}, make([]float32, e.Dim())); err != nil {
		t.Error(err)
	}
	encodetest.Refused(t, e.Encode(t.Context(), "fr", []string{"b"}, make([]float32, e.Dim())), `has no prefix for language "fr"`)
	if err := e.Encode(t.Context(), "de", []string{"b"}, make([]float32, e.Dim()-1)); err == nil {
		t.Error("a destination that is too short was accepted")
	}
}
