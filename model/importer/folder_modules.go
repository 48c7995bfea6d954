package importer

import (
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"bitextmine/encode/model"
	"bitextmine/internal/badinput"
	"bitextmine/train/export"
	"bitextmine/train/weights"
)

// pooling is how tokens become one vector.
type pooling string

const (
	mean   pooling = "mean"
	cls    pooling = "cls"
	maxima pooling = "max"
	pooler pooling = "pooler" // tanh of a dense layer on the first token, BERT's own
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
		case kind == "Normalize", kind == "Dropout": // vectors always get length 1, and nothing is dropped
		default:
			err = badinput.Errorf("%s names the module %s, which this program does not compute: export the whole model to ONNX with the output sentence_embedding", f.at(modulesFile), m.Type)
		}
		if err != nil {
			return err
		}
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
	modes := map[string]pooling{"cls": cls, "cls_token": cls, "mean": mean, "mean_tokens": mean, "max": maxima,
		"max_tokens":           maxima,
		"mean_sqrt_len_tokens": mean, "mean_sqrt_len": mean} // the same direction
	var on []string
	for key, value := range all {
		if mode, ok := strings.CutPrefix(key, "pooling_mode_"); ok && value == true {
			on = append(on, mode)
		}
	}
	if mode, ok := all["pooling_mode"].(string); ok {
		on = append(on, mode)
	}
	slices.Sort(on)
	if len(on) != 1 || modes[on[0]] == "" {
		return badinput.Errorf("%s has the pooling %s, but only one of cls, mean and max can be computed: export the whole model to ONNX with the output sentence_embedding", f.at(file), listed(on))
	}
	f.pooling = modes[on[0]]
	f.Found("pooling", file, "%s", f.pooling)
	if dim, ok := all["word_embedding_dimension"].(float64); ok {
		f.Manifest.Dim = int(dim)
	}
	return nil
}

// activations are ONNX's operators for the names that PyTorch gives them.
var activations = map[string]string{"Tanh": "Tanh", "ReLU": "Relu", "Sigmoid": "Sigmoid", "Identity": ""}

// readDense reads 2_Dense: its configuration and safetensors.
func readDense(f *folder, dir string) error {
	file := path.Join(dir, "config.json")
	var c struct {
		In         int    `json:"in_features"`
		Out        int    `json:"out_features"`
		Activation string `json:"activation_function"`
	}
	if ok, err := f.json(file, &c); err != nil {
		return err
	} else if !ok {
		return badinput.Errorf("%s names a dense layer, but %s is missing: fetch the model again", f.at(modulesFile),
			f.at(file))
	}
	short := c.Activation[strings.LastIndex(c.Activation, ".")+1:]
	operator, ok := activations[short]
	if !ok {
		return badinput.Errorf("%s has the activation_function %q, but only Tanh, ReLU, Sigmoid and Identity can be computed: export the whole model to ONNX with the output sentence_embedding", f.at(file), c.Activation)
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
			layer.Weight = transposed(t.Data, c.Out, c.In)
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

// transposed is a matrix [rows, columns] as [columns, rows].
func transposed(data []float32, rows, columns int) []float32 {
	turned := make([]float32, len(data))
	for r := range rows {
		for c := range columns {
			turned[c*rows+r] = data[r*columns+c]
		}
	}
	return turned
}

// choosePooling determines the pooling: the caller's, the files', or that of the known encoder.
func choosePooling(f *folder) error {
	switch pooling(f.Pooling) {
	case "":
	case mean, cls, maxima, pooler:
		f.pooling = pooling(f.Pooling)
		f.Found("pooling", "--pooling", "%s", f.pooling)
	default:
		return badinput.Errorf("--pooling is %q, but must be mean, cls, max or pooler", f.Pooling)
	}
	if f.pooling == "" && f.Known != nil && f.Known.Pooling != model.None {
		f.pooling = pooling(f.Known.Pooling)
		f.Found("pooling", KnownFile(f.Known), "%s", f.pooling)
	}
	return nil
}

// needPooling is called where tokens have to become one vector.
func needPooling(f *folder) error {
	if f.pooling == "" {
		return badinput.Errorf("%s does not say how tokens become one vector (it has no %s): give --pooling mean, cls, max or pooler, as the model's card says", f.root, modulesFile)
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

// readPrompts makes a prefix of the prompt that the model puts before every sentence unless told otherwise.
func readPrompts(f *folder) error {
	var all struct {
		Prompts map[string]string `json:"prompts"`
		Default string            `json:"default_prompt_name"`
	}
	if ok, err := f.json(promptsFile, &all); err != nil || !ok || len(all.Prompts) == 0 ||
		len(f.Manifest.Prefixes) > 0 {
		return err
	}
	if text := all.Prompts[all.Default]; text != "" {
		f.Manifest.Prefixes = map[string]model.Prefix{model.AnyLanguage: {Text: text}}
		f.Found("prefix", promptsFile, "%q", text)
		return nil
	}
	if f.Known == nil && f.Prefix == "" {
		f.Found("prefix", promptsFile, "none; the model has the prompts %s: choose one with --prefix",
			listed(slices.Sorted(maps.Keys(all.Prompts))))
	}
	return nil
}

// exportTable writes the graph of a static encoder (sentence-transformers' StaticEmbedding): the mean of the rows of
// a table.
func exportTable(f *folder) error {
	name := path.Join(f.body, weights.ModelName)
	if !f.has(name) {
		return missing(f)
	}
	tensors, _, err := weights.ReadFile(f.at(name), nil)
	if err != nil {
		return err
	}
	if len(tensors) != 1 || len(tensors[0].Shape) != 2 {
		return badinput.Errorf("%s has %d tensors, but a static encoder that can be computed has one table: export the model to ONNX", f.at(name), len(tensors))
	}
	table := tensors[0]
	if !table.Sound() {
		return badinput.Errorf("%s: %s holds numbers that are infinite or no numbers: fetch the file again", f.at(name),
			table.Name)
	}
	f.Words, f.WordsFrom = table.Shape[0], name
	f.Manifest.Dim = table.Shape[1]
	f.Manifest.Inputs.IDs = export.IDs
	f.Manifest.Output, f.Manifest.Pooling = export.Vectors, model.None
	f.Manifest.Tokens = model.TokenOutput{Output: export.Tokens, Static: true}
	f.Found("graph", name, "the mean of a table of %d words, %d numbers each", table.Shape[0], table.Shape[1])
	g := export.NewGraph(f.Manifest.Name)
	g.Input(export.IDs, export.Int64, "batch", "tokens")
	g.Initializer("table", table.Shape, table.Data)
	g.Node("Gather", []string{"table", export.IDs}, []string{export.Tokens}, export.Attr{Name: "axis", Value: 0})
	g.Node("ReduceMean", []string{export.Tokens}, []string{export.Vectors},
		export.Attr{Name: "axes", Value: []int64{1}}, export.Attr{Name: "keepdims", Value: 0})
	g.Output(export.Vectors, export.Float32, "batch", table.Shape[1])
	g.Output(export.Tokens, export.Float32, "batch", "tokens", table.Shape[1])
	return f.Write(g)
}
