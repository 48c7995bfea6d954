package importer

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"bitextmine/encode/model"
	"bitextmine/internal/atomicfile"
	"bitextmine/internal/badinput"
	"bitextmine/internal/usage"
	"bitextmine/internal/yamlbound"
	"bitextmine/model/architecture"
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

	poolings []string // poolings of export.Head, or pooler; their results stand one after the other
	pooled   int      // width of the vectors that are pooled, as their module says; 0: unknown
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
	if err := refuseOwn(root, dir); err != nil {
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
	if err := refuseAdapter(f); err != nil {
		return err
	}
	if err := readFolder(f); err != nil {
		return err
	}
	if b.Name == "" {
		b.Name = filepath.Base(root)
	}
	if b.Manifest.Name = b.Name; f.config.classifies() {
		return importJudge(f)
	}
	if name == "" {
		name = filepath.Base(root)
	}
	b.LookUp(f.config.Name, name)
	for _, step := range []func(*folder) error{
		readCard, readTokenizer, choosePooling, func(f *folder) error { return makeGraph(f, 0) }, readPrompts,
	} {
		if err := step(f); err != nil {
			return err
		}
	}
	return nil
}

// snapshot is the folder of the files where dir is a model's in a cache of the hub's own programs, models--ORG--NAME,
// or one of the snapshots in it, and the model's name; else dir itself.
func snapshot(dir string) (files, name string) {
	whole, err := filepath.Abs(dir)
	if err != nil {
		return dir, ""
	}
	if above, in := filepath.Split(filepath.Dir(whole)); in == "snapshots" {
		return dir, cached(above)
	}
	raw, err := os.ReadFile(filepath.Join(dir, "refs", "main"))
	if name = cached(whole); err != nil || name == "" || !filepath.IsLocal(strings.TrimSpace(string(raw))) {
		return dir, ""
	}
	return filepath.Join(dir, "snapshots", strings.TrimSpace(string(raw))), name
}

// cached is the name of the model of a folder in that cache, or empty. The oldest models have no ORG.
func cached(dir string) string {
	parts := strings.Split(filepath.Base(dir), "--")
	if len(parts) < 2 || len(parts) > 3 || parts[0] != "models" {
		return ""
	}
	return parts[len(parts)-1]
}

// refuseAdapter refuses a folder of PEFT (LoRA), which has what is added to another model's weights and not these.
func refuseAdapter(f *folder) error {
	whole := []string{"model.safetensors", "model.safetensors.index.json", "model.onnx", "onnx/model.onnx"}
	if !f.has("adapter_config.json") || slices.ContainsFunc(whole, f.has) {
		return nil
	}
	return badinput.Errorf("%s is an adapter (adapter_config.json) and not a model: merge it into its model first (merge_and_unload() and save_pretrained in Python) and import that",
		f.root)
}

// refuseOwn refuses an encoder or judge that this program wrote: it has a manifest, and nothing of a published model.
func refuseOwn(root, dir string) error {
	if f := (&folder{root: root}); !f.has(model.FileName) || f.has("config.json") || f.has(modulesFile) {
		return nil
	}
	kind := "encoder"
	if m, err := model.LoadAny(root); err == nil && m.Judge != nil {
		kind = "judge"
	}
	return badinput.Errorf("%[1]s has %[3]s, so it is a ready %[2]s of this program, and needs no import: use it with --%[2]s %[1]s",
		dir, kind, model.FileName)
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
	return architecture.ReadJSON(f.at(name), into)
}

// bring makes a file of the folder one of the encoder's and gives its name there: the same.
func (f *folder) bring(name string) (string, error) {
	if f.root == f.Dir {
		return name, nil
	}
	if err := f.replace(); err != nil {
		return "", err
	}
	to := filepath.Join(f.Dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(to), 0o777); err != nil {
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
	if front.Language.Decode(&languages) != nil { // it is a single one and no list
		languages = []string{front.Language.Value}
	}
	for _, l := range languages {
		if l != "" && l != "multilingual" {
			f.Manifest.Languages = append(f.Manifest.Languages, l)
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
	for _, pickle := range []string{"pytorch_model.bin", "pytorch_model.bin.index.json"} {
		if f.first(pickle) != "" && code == "" {
			return badinput.Errorf("%s has %s, a pickle, which can run code and is never read: save the weights as safetensors (model.save_pretrained in Python) and import again",
				f.root, pickle)
		}
	}
	return badinput.Errorf("%s has neither an ONNX graph nor safetensors that can be exported%s: export the model to ONNX, put the graph at onnx/model.onnx and import again", f.root, code)
}

// machineMemory is the memory that a model must fit into; a test has less.
var machineMemory = usage.MachineMemory

// mapped is the size of weights from which they stand in a file of their own, which ONNX Runtime maps and does not
// copy.
const mapped = 512 << 20

// exportTransformer builds the graph of a folder's safetensors. labels is the number of a judge's logits, or 0.
func exportTransformer(f *folder, labels int) (err error) {
	e, err := architecture.Open(f.at(f.body))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	f.Found("architecture", "config.json", "%s", e.Architecture.Name)
	head := export.Head{Poolings: f.poolings, Dense: f.dense, Dim: f.Dim}
	typed := false
	switch {
	case labels > 0:
		head.Poolings, typed = []string{cls}, e.Types > 1
		head.Dense, err = e.Classifier(labels)
	case needPooling(f) != nil:
		return needPooling(f)
	case f.poolings[0] == pooler:
		var dense export.Dense
		dense, err = e.Pooler()
		head.Poolings, head.Dense = []string{cls}, append([]export.Dense{dense}, f.dense...)
	}
	if err != nil {
		return err
	}
	if err := f.checkPooled(e.Width); err != nil {
		return err
	}
	if err := f.checkDense(head, e.Width); err != nil {
		return err
	}
	g := export.NewGraph(f.Name)
	g.Limit = mapped
	if err := e.Write(g, typed); err != nil {
		return err
	}
	if memory := machineMemory(); memory > 0 && 4*e.Numbers > memory {
		return badinput.Errorf("%s has %d million numbers, which take %.1f GB as float32, but this machine has %.1f GB of memory: take a smaller model or a larger machine", f.root, e.Numbers/1e6, float64(4*e.Numbers)/1e9, float64(memory)/1e9)
	}
	f.Words, f.WordsFrom = e.Words, "config.json"
	f.Manifest.MaxTokens = min(f.Manifest.MaxTokens, e.MaxTokens)
	f.Manifest.Inputs = model.Inputs{IDs: export.IDs}
	if typed {
		f.Manifest.Inputs.TokenTypes = export.TokenTypes
	}
	f.Manifest.Pooling = model.None
	f.Manifest.Output, f.Manifest.Dim = g.Head(export.Tokens, head, e.Width, export.Opset)
	f.Manifest.Tokens = model.TokenOutput{Output: export.Tokens}
	if f.Manifest.Dim != e.Width {
		f.Manifest.Tokens.Dim = e.Width
	}
	f.exported(e.Layers, e.Width, e.Numbers)
	return f.Write(g)
}

// checkPooled refuses a pooling of vectors of another width than the model's (0: unknown).
func (f *folder) checkPooled(width int) error {
	if f.pooled == 0 || width == 0 || f.pooled == width {
		return nil
	}
	return badinput.Errorf("%s: the pooling is of vectors of %d numbers, but the model's have %d: its files are of different models, so fetch it again",
		f.root, f.pooled, width)
}

// checkDense refuses dense layers that do not fit each other or the pooled vectors of the tokens' width (0: unknown),
// and a Dim that is larger than what they give.
func (f *folder) checkDense(h export.Head, width int) error {
	width *= len(h.Poolings)
	for i, d := range h.Dense {
		if d.Weight == nil {
			continue
		}
		if width > 0 && d.In != width {
			return badinput.Errorf("%s: dense layer %d takes %d numbers, but %d are before it: fetch the model again", f.at(modulesFile), i+1, d.In, width)
		}
		width = d.Out
	}
	if h.Dim < 0 || width > 0 && h.Dim > width {
		return badinput.Errorf("--dim is %d, but must be from 1 to the %d numbers of the model's vectors", h.Dim, width)
	}
	return nil
}

// ofPointers explains an error that names a file of a folder of which Git LFS left a pointer in place of the content.
func ofPointers(root string, err error) error {
	const most = 1 << 10
	explained := err
	_ = filepath.WalkDir(root, func(file string, d fs.DirEntry, failed error) error {
		if err == nil || failed != nil || !d.Type().IsRegular() || !strings.Contains(err.Error(), d.Name()) {
			return nil
		}
		if info, failed := d.Info(); failed != nil || info.Size() > most {
			return nil
		}
		if text, failed := os.ReadFile(file); failed == nil && strings.HasPrefix(string(text), "version https://git-lfs") {
			explained = badinput.Errorf("%s is a pointer of Git LFS and not the file itself: run `git lfs pull` in its folder, or fetch the file again", file)
		}
		return nil
	})
	return explained
}
