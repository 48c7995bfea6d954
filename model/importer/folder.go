package importer

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"gopkg.in/yaml.v3"

	"bitextmine/internal/atomicfile"
	"bitextmine/internal/badinput"
	"bitextmine/internal/yamlbound"
	"bitextmine/train/export"
)

// folder is a published model. Paths are relative to root, with slashes.
type folder struct {
	*Draft
	root   string
	body   string // folder of the transformer or the table: "" or a module's
	config config
	dense  []export.Dense
	static bool // a table of words, not a transformer

	poolings []string // how tokens become one vector (export.Head), or pooler; several stand one after the other
}

// config is config.json, as far as an encoder needs it.
type config struct {
	ModelType string `json:"model_type"`
	Width     int    `json:"hidden_size"`
	ModelDim  int    `json:"d_model"`
	Words     int    `json:"vocab_size"`
	Places    int    `json:"max_position_embeddings"`
	Pad       int    `json:"pad_token_id"`
	Name      string `json:"_name_or_path"`

	Architectures []string          `json:"architectures"`
	Labels        map[string]string `json:"id2label"`
	Code          map[string]string `json:"auto_map"` // code of the model's own, which is never run
}

// importFolder makes an encoder of a folder as the Hugging Face hub and sentence-transformers have it.
func importFolder(b *Draft, dir string) error {
	dir, name := snapshot(dir)
	root, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	if name != "" && b.Out == "" {
		b.Out = name // nothing is written into the cache
	}
	if name != "" && b.Name == "" {
		b.Name = name
	}
	if err := b.Open(root); err != nil {
		return err
	}
	f := &folder{Draft: b, root: root}
	if err := readFolder(f); err != nil {
		return err
	}
	if b.Name == "" {
		b.Name = filepath.Base(root)
	}
	if b.Manifest.Name = b.Name; f.config.classifies() {
		return importJudge(f)
	}
	b.LookUp(f.config.Name, filepath.Base(root))
	for _, step := range []func(*folder) error{readCard, readTokenizer, choosePooling, makeGraph, readPrompts} {
		if err := step(f); err != nil {
			return err
		}
	}
	return nil
}

// snapshot is the folder of the files where dir is a model's in a cache of the hub's own programs,
// models--ORG--NAME, and the model's name; else dir itself.
func snapshot(dir string) (files, name string) {
	parts := strings.Split(filepath.Base(filepath.Clean(dir)), "--")
	raw, err := os.ReadFile(filepath.Join(dir, "refs", "main"))
	if err != nil || len(parts) != 3 || parts[0] != "models" || !filepath.IsLocal(strings.TrimSpace(string(raw))) {
		return dir, ""
	}
	return filepath.Join(dir, "snapshots", strings.TrimSpace(string(raw))), parts[2]
}

// readFolder reads the modules and config.json.
func readFolder(f *folder) error {
	if err := readModules(f); err != nil {
		return err
	}
	_, err := f.json(path.Join(f.body, "config.json"), &f.config)
	f.static = f.static || f.config.ModelType == "model2vec"
	return err
}

// has reports whether the folder has a file.
func (f *folder) has(name string) bool {
	info, err := os.Stat(f.at(name))
	return err == nil && !info.IsDir()
}

func (f *folder) at(name string) string { return filepath.Join(f.root, filepath.FromSlash(name)) }

// json reads a file; false if it is missing.
func (f *folder) json(name string, into any) (bool, error) {
	raw, err := os.ReadFile(f.at(name))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if err := json.Unmarshal(raw, into); err != nil {
		return false, badinput.Errorf("%s is not the JSON that a published model has there: %w: fetch the file again",
			f.at(name), err)
	}
	return true, nil
}

// bring makes a file of the folder one of the encoder's and gives its name there: the same.
func (f *folder) bring(name string) (string, error) {
	if f.root == f.Dir {
		return name, nil
	}
	to := filepath.Join(f.Dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return "", err
	}
	if err := os.Remove(to); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	if real, err := filepath.EvalSymlinks(f.at(name)); err == nil && os.Link(real, to) == nil {
		return name, nil
	}
	return name, atomicfile.Copy(to, f.at(name)) // another file system
}

// readCard takes licence and languages from the model card's front matter.
func readCard(f *folder) error {
	raw, err := os.ReadFile(f.at("README.md"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return err
	}
	rest, ok := strings.CutPrefix(strings.ReplaceAll(string(raw), "\r\n", "\n"), "---\n")
	head, _, ends := strings.Cut(rest, "\n---")
	if !ok || !ends {
		return nil
	}
	var front struct {
		Licence  string    `yaml:"license"`
		Language yaml.Node `yaml:"language"`
	}
	if yamlbound.Check([]byte(head), "") != nil || yaml.Unmarshal([]byte(head), &front) != nil {
		return nil // a card is written by hand
	}
	if front.Licence != "" {
		f.Manifest.Licence = front.Licence
		f.Found("licence", "README.md", "%s", front.Licence)
	}
	var languages []string
	if front.Language.Decode(&languages) == nil {
		for _, l := range languages {
			if l != "multilingual" {
				f.Manifest.Languages = append(f.Manifest.Languages, l)
			}
		}
	}
	if n := len(f.Manifest.Languages); n > 0 {
		f.Found("languages", "README.md", "%d", n)
	}
	return nil
}

// missing is the error of a folder without weights that can be read.
func missing(f *folder) error {
	code := ""
	if len(f.config.Code) > 0 {
		code = "; its config.json asks to run code of the model's own (auto_map), which this program never does"
	}
	return badinput.Errorf("%s has neither an ONNX graph nor safetensors that can be exported%s: export the model to ONNX, put the graph at onnx/model.onnx and import again", f.root, code)
}
