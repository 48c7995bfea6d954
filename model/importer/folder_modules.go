package importer

import (
	"errors"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"bitextmine/corpus"
	"bitextmine/encode/model"
	"bitextmine/internal/badinput"
	"bitextmine/train/export"
	"bitextmine/train/weights"
)

// Names of poolings, as export.Head has them.
const (
	mean   = "mean"
	cls    = "cls"
	maxima = "max"
	pooler = "pooler" // tanh of a dense layer on the first token, BERT's own
)

// module is an entry of modules.json.
type module struct {
	Name string `json:"name"`
	Path string `json:"path"`
	Type string `json:"type"`
}

const modulesFile = "modules.json"

// readModules reads modules.json, which lists what sentence-transformers runs one after another.
func readModules(f *folder) error {
	var all []module
	if ok, err := f.json(modulesFile, &all); err != nil || !ok {
		return err
	}
	var kinds []string
	for i, m := range all {
		kind := m.Type[strings.LastIndex(m.Type, ".")+1:]
		kinds = append(kinds, kind)
		var err error
		switch {
		case m.Path != "" && !filepath.IsLocal(filepath.FromSlash(m.Path)):
			err = badinput.Errorf("%s names the folder %q, which is outside its own: the model is damaged or hostile",
				f.at(modulesFile), m.Path)
		case !strings.HasPrefix(m.Type, "sentence_transformers."):
			err = badinput.Errorf("%s names the module %s, which is code of the model's own, and this program never runs it: import a graph of the whole model without modules.json", f.at(modulesFile), m.Type)
		case i == 0 && (kind == "Transformer" || kind == "StaticEmbedding"):
			f.body = m.Path
			if kind == "StaticEmbedding" {
				f.static = true
			}
		case kind == "Pooling":
			err = readPooling(f, m.Path)
		case kind == "Dense":
			err = readDense(f, m.Path)
		case kind == "Normalize":
			err = readNormalize(f, m.Path)
		case kind == "Dropout": // nothing is dropped
		default:
			err = badinput.Errorf("%s names the module %s, which this program does not compute: export the whole model to ONNX with the output sentence_embedding", f.at(modulesFile), m.Type)
		}
		if err != nil {
			return err
		}
	}
	for len(f.dense) > 0 && f.dense[len(f.dense)-1].Weight == nil {
		f.dense = f.dense[:len(f.dense)-1]
	}
	f.Found("modules", modulesFile, "%s", strings.Join(kinds, ", "))
	return nil
}

// readPooling reads 1_Pooling/config.json.
func readPooling(f *folder, dir string) error {
	file := path.Join(dir, "config.json")
	var all map[string]any
	if ok, err := f.json(file, &all); err != nil {
		return err
	} else if !ok {
		return badinput.Errorf("%s names a pooling, but %s is missing: fetch the model again", f.at(modulesFile),
			f.at(file))
	}
	on, err := poolings(all)
	if err != nil {
		return badinput.Errorf("%s has the pooling %w: export the whole model to ONNX with the output sentence_embedding", f.at(file), err)
	}
	f.poolings = on
	f.Found("pooling", file, "%s", strings.Join(on, ", "))
	if included, ok := all["include_prompt"].(bool); ok && !included {
		f.NoPrefix = f.at(file) + " leaves the tokens of a prefix out of the pooling"
	}
	for _, field := range []string{"word_embedding_dimension", "embedding_dimension"} {
		if dim, ok := all[field].(float64); ok {
			f.Manifest.Dim, f.pooled = int(dim), int(dim)
		}
	}
	return nil
}

// modes are the names of poolings in sentence-transformers, in the order in which those that are switched on stand
// one after the other, and in export.Head.
var modes = [][2]string{{"cls", cls}, {"max", maxima}, {"mean", mean}, {"mean_sqrt_len_tokens", "mean_sqrt_len"},
	{"weightedmean", "weighted"}, {"lasttoken", "last"}}

// poolings reads the poolings of a configuration: pooling_mode, or the older switches pooling_mode_...
func poolings(all map[string]any) (on []string, err error) {
	var names []string
	switch mode := all["pooling_mode"].(type) {
	case string:
		names = []string{mode}
	case []any:
		for _, m := range mode {
			names = append(names, fmt.Sprint(m))
		}
	default:
		for _, p := range modes {
			for _, suffix := range []string{"", "_token", "_tokens"} {
				if all["pooling_mode_"+p[0]+suffix] == true {
					names = append(names, p[0])
				}
			}
		}
		for key, value := range all {
			known := slices.ContainsFunc(modes, func(p [2]string) bool {
				return strings.HasPrefix(key, "pooling_mode_"+p[0])
			})
			if strings.HasPrefix(key, "pooling_mode_") && value == true && !known {
				names = append(names, key)
			}
		}
		if names == nil && all["pooling_mode_mean_tokens"] == false {
			return nil, errors.New("none, as every pooling_mode is false")
		}
		if names == nil {
			names = []string{"mean"} // sentence-transformers' default
		}
	}
	for _, mode := range names {
		i := slices.IndexFunc(modes, func(p [2]string) bool { return p[0] == mode })
		if i < 0 {
			return nil, fmt.Errorf("%s, which cannot be computed", mode)
		}
		on = append(on, modes[i][1])
	}
	return on, nil
}

// activations are export.Dense's activations by their names in PyTorch.
var activations = map[string]string{"Tanh": "Tanh", "ReLU": "Relu", "Sigmoid": "Sigmoid", "Identity": "", "GELU": "GELU", "SiLU": "SiLU"}

// sentenceVector is sentence-transformers' name of what modules after the pooling take and give.
const sentenceVector = "sentence_embedding"

// features are what a module takes and gives; empty: the sentence's vector.
type features struct {
	Input  string `json:"module_input_name"`
	Output string `json:"module_output_name"`
}

func (f features) ofVector() bool {
	return (f.Input == "" || f.Input == sentenceVector) && (f.Output == "" || f.Output == sentenceVector)
}

// readNormalize reads a normalisation. A last one changes nothing, because vectors get length 1 anyway.
func readNormalize(f *folder, dir string) error {
	var c features
	file := path.Join(dir, "config.json")
	if _, err := f.json(file, &c); err != nil {
		return err
	}
	if !c.ofVector() {
		return badinput.Errorf("%s normalises something else than %s, which this program does not compute: export the whole model to ONNX with that output", f.at(file), sentenceVector)
	}
	f.dense = append(f.dense, export.Dense{})
	return nil
}

// readDense reads 2_Dense: its configuration and safetensors.
func readDense(f *folder, dir string) error {
	file := path.Join(dir, "config.json")
	var c struct {
		In         int    `json:"in_features"`
		Out        int    `json:"out_features"`
		Activation string `json:"activation_function"`
		Residual   bool   `json:"use_residual"`
		features
	}
	c.Activation = "Tanh" // sentence-transformers' default
	if ok, err := f.json(file, &c); err != nil {
		return err
	} else if !ok {
		return badinput.Errorf("%s names a dense layer, but %s is missing: fetch the model again", f.at(modulesFile),
			f.at(file))
	}
	if c.Residual || !c.ofVector() {
		return badinput.Errorf("%s has a dense layer with use_residual, or of something else than %s, which this program does not compute: export the whole model to ONNX with that output", f.at(file), sentenceVector)
	}
	short := c.Activation[strings.LastIndex(c.Activation, ".")+1:]
	operator, ok := activations[short]
	if !ok {
		return badinput.Errorf("%s has the activation_function %q, but only Tanh, ReLU, Sigmoid, GELU, SiLU and Identity can be computed: export the whole model to ONNX with the output sentence_embedding", f.at(file), c.Activation)
	}
	weightsFile := path.Join(dir, weights.ModelName)
	if !f.has(weightsFile) {
		return badinput.Errorf("%s is missing: the dense layer's weights are read from safetensors only, for a pickle can run code; convert %s", f.at(weightsFile), f.at(path.Join(dir, "pytorch_model.bin")))
	}
	tensors, _, err := weights.ReadFile(f.at(weightsFile), nil)
	if err != nil {
		return err
	}
	layer := export.Dense{In: c.In, Out: c.Out, Activation: operator}
	for _, t := range tensors {
		switch {
		case !t.Sound():
			return badinput.Errorf("%s: %s holds numbers that are infinite or no numbers: fetch the file again",
				f.at(weightsFile), t.Name)
		case t.Name == "linear.weight" && slices.Equal(t.Shape, []int{c.Out, c.In}):
			layer.Weight = export.Transposed(t.Data, c.Out, c.In)
		case t.Name == "linear.bias" && slices.Equal(t.Shape, []int{c.Out}):
			layer.Bias = t.Data
		default:
			return badinput.Errorf("%s has the tensor %s %v, which is no part of a dense layer of %d to %d: fetch the model again", f.at(weightsFile), t.Name, t.Shape, c.In, c.Out)
		}
	}
	if layer.Weight == nil {
		return badinput.Errorf("%s lacks linear.weight: fetch the file again", f.at(weightsFile))
	}
	f.dense = append(f.dense, layer)
	f.Found("dense", file, "%d to %d, %s", c.In, c.Out, short)
	return nil
}

// choosePooling determines the pooling: the caller's, the files', or that of the known encoder.
func choosePooling(f *folder) error {
	switch f.Pooling {
	case "":
	case mean, cls, maxima, pooler, "last", "weighted":
		f.poolings = []string{f.Pooling}
		f.Found("pooling", "--pooling", "%s", f.Pooling)
	default:
		return badinput.Errorf("--pooling is %q, but must be mean, cls, max, last, weighted or pooler", f.Pooling)
	}
	if f.poolings == nil && f.Known != nil && f.Known.Source.Pooling != "" {
		f.poolings = []string{f.Known.Source.Pooling}
		f.Found("pooling", KnownFile(f.Known), "%s", f.Known.Source.Pooling)
	}
	if f.poolings == nil && f.Known != nil && f.Known.Pooling != model.None {
		f.poolings = []string{string(f.Known.Pooling)}
		f.Found("pooling", KnownFile(f.Known), "%s", f.Known.Pooling)
	}
	return nil
}

// needPooling is called where tokens have to become one vector.
func needPooling(f *folder) error {
	if f.poolings == nil {
		return badinput.Errorf("%s does not say how tokens become one vector (it has no %s): give --pooling mean, cls, max, last, weighted or pooler, as the model's card says", f.root, modulesFile)
	}
	return nil
}

// listed joins names for a message.
func listed(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}

// promptsFile has the prompts of sentence-transformers.
const promptsFile = "config_sentence_transformers.json"

// bitextPrompt is the name of a prompt for finding translations, by MTEB's name of the task.
const bitextPrompt = "BitextMining"

// readPrompts makes prefixes of the model's prompts: those that the caller names, else the one that the model puts
// before every sentence unless told otherwise, else its prompt for finding translations.
func readPrompts(f *folder) error {
	var all struct {
		Prompts map[string]string `json:"prompts"`
		Default string            `json:"default_prompt_name"`
	}
	if _, err := f.json(promptsFile, &all); err != nil {
		return err
	}
	if f.Options.Prompts != nil {
		return f.choosePrompts(all.Prompts)
	}
	if len(f.Manifest.Prefixes) > 0 || f.Prefix != "" {
		return nil
	}
	for _, name := range []string{all.Default, bitextPrompt} {
		if text := all.Prompts[name]; text != "" {
			f.Manifest.Prefixes = map[string]model.Prefix{model.AnyLanguage: {Text: text}}
			f.Found("prefix", promptsFile, "%s: %q", name, text)
			return nil
		}
	}
	maps.DeleteFunc(all.Prompts, func(_, text string) bool { return text == "" })
	if f.Known == nil && len(all.Prompts) > 0 {
		f.Found("prefix", promptsFile, "none; the model has the prompts %s: choose one with --prompt",
			listed(slices.Sorted(maps.Keys(all.Prompts))))
	}
	return nil
}

// noPrompt is the name of no prompt.
const noPrompt = "none"

// promptOf reads NAME, which is for any language, or LANGUAGE=NAME.
func promptOf(choice string) (language, name string, err error) {
	language, name, ok := strings.Cut(choice, "=")
	if !ok {
		return model.AnyLanguage, choice, nil
	}
	if language != model.AnyLanguage {
		if language, err = corpus.ParseLanguage(language); err != nil {
			err = badinput.Errorf("--prompt %s: %w", choice, err)
		}
	}
	return language, name, err
}

// choosePrompts makes prefixes of the prompts that the caller names: NAME, or LANGUAGE=NAME for one side's language.
func (f *folder) choosePrompts(prompts map[string]string) error {
	if f.Prefix != "" {
		return badinput.Errorf("--prompt and --prefix both say what stands before a sentence: give one")
	}
	prefixes := map[string]model.Prefix{}
	for _, choice := range f.Options.Prompts {
		language, name, err := promptOf(choice)
		if err != nil {
			return err
		}
		if _, twice := prefixes[language]; twice {
			return badinput.Errorf("--prompt names two prompts for the language %q: name one", language)
		}
		text, ok := prompts[name]
		if !ok && name != noPrompt {
			return badinput.Errorf("--prompt names %q, but %s has the prompts %s: name one of them, or none", name,
				f.at(promptsFile), listed(slices.Sorted(maps.Keys(prompts))))
		}
		prefixes[language] = model.Prefix{Text: text}
		f.Found("prefix", promptsFile, "%s: %q", choice, text)
	}
	if f.Manifest.Prefixes = prefixes; len(prefixes) == 1 && prefixes[model.AnyLanguage].Text == "" {
		f.Manifest.Prefixes = nil
	}
	return nil
}
