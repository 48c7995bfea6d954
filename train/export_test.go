package train

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"bitextmine/encode"
	"bitextmine/encode/model"
	"bitextmine/train/export"
)

// TestPrefixesAreExported: what precedes a sentence in training precedes it in mining, and changes its vector.
func TestPrefixesAreExported(t *testing.T) {
	for name, prefixes := range map[string]map[string]model.Prefix{
		"text":   {model.AnyLanguage: {Text: "query: "}},
		"tokens": {"en": {Tokens: []int32{7}}, "eo": {Tokens: []int32{8, 9}}},
	} {
		t.Run(name, func(t *testing.T) {
			ctx := limited(t)
			config, o := tiny(t, all(transformer, evaluated, func(c *Config) { c.Prefixes = prefixes }))
			summary, err := Run(ctx, config, o)
			if err != nil {
				t.Fatal(err)
			}
			compare(ctx, t, config, o, summary.Model)
			m, err := model.Load(summary.Model)
			if err != nil {
				t.Fatal(err)
			}
			with := vectorsOf(t, m)
			m.Prefixes = nil
			if slices.Equal(with, vectorsOf(t, m)) {
				t.Error("the prefix does not change the exported vector")
			}
			again, err := ReadConfig(filepath.Join(o.Out, configFile))
			if err != nil || len(again.Prefixes) != len(prefixes) {
				t.Errorf("the training's preset has the prefixes %v, %v", again.Prefixes, err)
			}
		})
	}
	config, o := tiny(t, all(transformer, func(c *Config) { c.Prefixes = map[string]model.Prefix{"en": {Text: "query: "}} }))
	_, err := Run(limited(t), config, o)
	refused(t, err, "language eo of the bitext has no prefix")
	config, o = tiny(t, all(transformer, func(c *Config) { c.Prefixes = map[string]model.Prefix{"*": {Tokens: []int32{900}}} }))
	_, err = Run(limited(t), config, o)
	refused(t, err, "prefixes.* has the token 900, but the vocabulary's last is 899")
}

func vectorsOf(t *testing.T, m *model.Model) []float32 {
	t.Helper()
	e, err := encode.Open(m, encode.Options{Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = e.Close() }()
	out := make([]float32, e.Dim())
	if err := e.Encode(t.Context(), "en", []string{"A sentence."}, out); err != nil {
		t.Fatal(err)
	}
	return out
}

// TestWeightsAboveOneFile: they go into a second file, which the manifest names, and mining gets the trainer's vectors.
func TestWeightsAboveOneFile(t *testing.T) {
	for name, change := range map[string]func(*Config){"bag": nil, "transformer": transformer} {
		t.Run(name, func(t *testing.T) {
			ctx := limited(t)
			config, o := tiny(t, change)
			if _, err := Run(ctx, config, o); err != nil {
				t.Fatal(err)
			}
			tr, dir := takenUp(ctx, t, config, o), t.TempDir()
			x, err := newExport(&tr.parts)
			if err != nil {
				t.Fatal(err)
			}
			x.graph.Limit = 1 << 14
			if err := x.write(dir); err != nil {
				t.Fatal(err)
			}
			m, err := model.Load(dir)
			if err != nil {
				t.Fatal(err)
			}
			if want := []string{modelFile + ".data"}; !slices.Equal(m.External, want) {
				t.Errorf("the manifest names %v, want %v", m.External, want)
			}
			graph, err := os.Stat(filepath.Join(dir, modelFile))
			if err != nil {
				t.Fatal(err)
			}
			weights, err := os.Stat(filepath.Join(dir, modelFile+".data"))
			if err != nil || graph.Size() > 1<<15 || weights.Size() < graph.Size() {
				t.Errorf("the graph has %d bytes and the weights %v, %v", graph.Size(), weights, err)
			}
			if err := x.check(ctx, dir); err != nil {
				t.Error(err)
			}
			if _, err := x.graph.Model(); err == nil {
				t.Error("a graph above its limit was given as one file")
			}
		})
	}
	if limit := export.NewGraph("x").Limit; limit < 2_000_000_000 || limit > 1<<31-1 {
		t.Errorf("a file may hold %d bytes of weights, and ONNX files 2 GiB", limit)
	}
}
