package hub

import (
	"context"
	"encoding/json"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"bitextmine/encode/onnxgraph"
	"bitextmine/internal/badinput"
)

// smallFile is the size of a file of settings, at most.
const smallFile = 2 << 20

// Get downloads the files of a repository that an import needs: settings first, then the tokenizer and the graph or the
// weights, and last the files that the graph refers to. onnx names a graph among several. progress may be nil.
func (c *Client) Get(ctx context.Context, r *Repository, dir, onnx string, progress func(f File, done int64)) error {
	get := func(files []File) error {
		for _, f := range files {
			var report func(int64)
			if progress != nil {
				report = func(done int64) { progress(f, done) }
			}
			if err := c.Download(ctx, r, f, dir, report); err != nil {
				return err
			}
		}
		return nil
	}
	if err := get(r.settings()); err != nil {
		return err
	}
	weights, err := r.weights(onnx, isTable(dir))
	if err != nil {
		return err
	}
	if len(weights) == 0 {
		return r.refuse(dir)
	}
	if err := get(append(r.tokenizer(dir), weights...)); err != nil {
		return err
	}
	for _, f := range weights {
		if path.Ext(f.Path) != ".onnx" {
			continue
		}
		more, err := r.external(f, dir)
		if err != nil {
			return err
		}
		if err := get(more); err != nil {
			return err
		}
	}
	return nil
}

// find is the file of a path.
func (r *Repository) find(name string) (File, bool) {
	i := slices.IndexFunc(r.Files, func(f File) bool { return f.Path == name })
	if i < 0 {
		return File{}, false
	}
	return r.Files[i], true
}

// settings are the small files: JSON of the root and of modules' folders, and the card.
func (r *Repository) settings() []File {
	var all []File
	for _, f := range r.Files {
		dir, base := path.Split(f.Path)
		module := dir == "" || len(dir) > 1 && dir[0] >= '0' && dir[0] <= '9' && strings.Count(dir, "/") == 1
		if f.Size <= smallFile && module &&
			(path.Ext(base) == ".json" && base != "tokenizer.json" && base != "vocab.json" || f.Path == "README.md") {
			all = append(all, f)
		}
	}
	return all
}

// tokenizer are the files of the tokenizer: SentencePiece or vocab.txt, and tokenizer.json where nothing else has the
// pieces or the ids.
func (r *Repository) tokenizer(dir string) []File {
	var all []File
	fast := true
	for _, f := range r.Files {
		base := path.Base(f.Path)
		if path.Ext(base) == ".model" || base == "vocab.txt" {
			all, fast = append(all, f), false
		}
	}
	var settings struct {
		Class string `json:"tokenizer_class"`
	}
	if raw, err := os.ReadFile(filepath.Join(dir, "tokenizer_config.json")); err == nil &&
		json.Unmarshal(raw, &settings) == nil {
		known := []string{"XLMRobertaTokenizer", "BertTokenizer", "T5Tokenizer", ""}
		fast = fast || !slices.Contains(known, strings.TrimSuffix(settings.Class, "Fast"))
	}
	for _, f := range r.Files {
		if fast && path.Base(f.Path) == "tokenizer.json" {
			all = append(all, f)
		}
	}
	return all
}

// weights are the graph, or safetensors of all modules; none: the repository has neither.
func (r *Repository) weights(onnx string, table bool) ([]File, error) {
	var graphs, tensors []File
	for _, f := range r.Files {
		dir := path.Dir(f.Path)
		root := dir == "." || strings.HasPrefix(dir, "0_")
		switch path.Ext(f.Path) {
		case ".onnx":
			if dir == "." || dir == "onnx" {
				graphs = append(graphs, f)
			}
		case ".safetensors":
			if root || strings.HasSuffix(dir, "_Dense") {
				tensors = append(tensors, f)
			}
		}
	}
	dense := slices.DeleteFunc(slices.Clone(tensors),
		func(f File) bool { return !strings.HasSuffix(path.Dir(f.Path), "_Dense") })
	if onnx != "" {
		f, ok := r.find(onnx)
		if !ok {
			return nil, badinput.Errorf("--onnx names %s, which %s does not have", onnx, r.Name)
		}
		return append(dense, f), nil
	}
	if table && len(tensors) > 0 {
		return tensors, nil
	}
	for _, usual := range []string{"onnx/model.onnx", "model.onnx"} {
		if f, ok := r.find(usual); ok {
			return append(dense, f), nil
		}
	}
	if len(graphs) == 1 {
		return append(dense, graphs...), nil
	}
	if len(tensors) == 0 && len(graphs) > 1 {
		names := make([]string, len(graphs))
		for i, f := range graphs {
			names[i] = f.Path
		}
		return nil, badinput.Errorf("%s has several graphs (%s): name one of them with --onnx", r.Name,
			strings.Join(names, ", "))
	}
	return tensors, nil
}

// isTable reports whether the downloaded settings describe a static encoder, whose safetensors are read.
func isTable(dir string) bool {
	modules, _ := os.ReadFile(filepath.Join(dir, "modules.json")) // "" where there is none
	config, _ := os.ReadFile(filepath.Join(dir, "config.json"))
	return strings.Contains(string(modules), ".StaticEmbedding\"") || strings.Contains(string(config), "\"model2vec\"")
}

// refuse is the error for a repository without weights that can be read.
func (r *Repository) refuse(dir string) error {
	var config struct {
		Code map[string]any `json:"auto_map"`
	}
	code := ""
	if raw, err := os.ReadFile(filepath.Join(dir, "config.json")); err == nil && json.Unmarshal(raw, &config) == nil &&
		len(config.Code) > 0 {
		code = " and would have to run code of its own, which this program never does"
	}
	return badinput.Errorf("%s has neither ONNX nor safetensors%s: export the model to ONNX and use `mine model import`", r.Name, code)
}

// external are the files with weights that a downloaded graph refers to.
func (r *Repository) external(f File, dir string) ([]File, error) {
	raw, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(f.Path)))
	if err != nil {
		return nil, err
	}
	g, err := onnxgraph.Parse(raw)
	if err != nil {
		return nil, badinput.Errorf("%s of %s: %w", f.Path, r.Name, err)
	}
	names, err := g.External()
	if err != nil {
		return nil, badinput.Errorf("%s of %s: %w", f.Path, r.Name, err)
	}
	var all []File
	for _, name := range names {
		at := path.Join(path.Dir(f.Path), name)
		more, ok := r.find(at)
		if !ok {
			return nil, badinput.Errorf("%s of %s refers to weights in %s, which the repository does not have: choose another graph with --onnx", f.Path, r.Name, at)
		}
		all = append(all, more)
	}
	return all, nil
}
