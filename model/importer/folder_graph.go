package importer

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"bitextmine/encode/model"
	"bitextmine/encode/onnxgraph"
	"bitextmine/internal/badinput"
	"bitextmine/train/export"
	"bitextmine/train/weights"
)

// makeGraph takes the folder's ONNX graph, or exports its safetensors. labels is the number of a judge's logits, or 0.
func makeGraph(f *folder, labels int) error {
	f.Words, f.WordsFrom = f.config.Words, "config.json"
	if labels == 0 && f.static && f.ONNX == "" {
		return exportTable(f)
	}
	name, err := findONNX(f)
	switch {
	case err != nil:
		return err
	case name != "":
		if labels > 0 {
			f.Manifest.Dim = labels
		}
		return takeONNX(f, name)
	case f.first(weights.ModelName) == "" && f.first(weights.ModelName+".index.json") == "":
		return missing(f)
	}
	return exportTransformer(f, labels)
}

// findONNX is the file of the graph, or empty.
func findONNX(f *folder) (string, error) {
	if f.ONNX != "" {
		if !f.has(f.ONNX) {
			return "", badinput.Errorf("--onnx names %s, which is not in %s", f.ONNX, f.root)
		}
		return f.ONNX, nil
	}
	for _, usual := range []string{"onnx/model.onnx", "model.onnx"} {
		if f.has(usual) {
			return usual, nil
		}
	}
	var all []string
	for _, pattern := range []string{"onnx/*.onnx", "*.onnx"} {
		files, err := filepath.Glob(f.at(pattern))
		if err != nil {
			return "", err
		}
		for _, file := range files {
			if name := path.Join(path.Dir(pattern), filepath.Base(file)); path.Base(name) != GraphFile {
				all = append(all, name)
			}
		}
	}
	if len(all) > 1 {
		return "", badinput.Errorf("%s has several graphs (%s): name one of them with --onnx", f.root,
			strings.Join(all, ", "))
	}
	return strings.Join(all, ""), nil
}

// sentenceOutputs and tokenOutputs are the names that exporters give to the vectors of sentences and of tokens.
var (
	sentenceOutputs = []string{"sentence_embedding", "sentence_embeddings", "vectors"}
	tokenOutputs    = []string{"last_hidden_state", "token_embeddings"}
)

// takeONNX takes a graph as it is, with layers added to it where the model has dense ones.
func takeONNX(f *folder, name string) error {
	raw, err := os.ReadFile(f.at(name))
	if err != nil {
		return err
	}
	g, err := onnxgraph.Parse(raw)
	if err != nil {
		return badinput.Errorf("%s: %w: fetch the file again", f.at(name), err)
	}
	const newest = 24 // ONNX Runtime 1.24's
	if version := g.Opsets[""]; version > newest {
		return badinput.Errorf("%s is of ONNX's opset %d, but this program's ONNX Runtime knows those up to %d: export it with an older opset", f.at(name), version, newest)
	}
	if err := bringExternal(f, name, g); err != nil {
		return err
	}
	if err := nameInputs(f, name, g); err != nil {
		return err
	}
	if f.Manifest.ONNX, err = f.bring(name); err != nil {
		return err
	}
	if f.Manifest.Judge != nil {
		return takeLogits(f, name, g)
	}
	for _, output := range g.Outputs {
		only := len(g.Outputs) == 1 && len(g.Shapes[output]) == 2
		if f.Pooling == "" && (only || slices.Contains(sentenceOutputs, output)) {
			return takeSentences(f, name, output, nil, raw, g)
		}
	}
	return takeTokens(f, name, raw, g)
}

// bringExternal brings the files with weights that the graph refers to.
func bringExternal(f *folder, name string, g *onnxgraph.Graph) error {
	files, err := g.External()
	if err != nil {
		return badinput.Errorf("%s: %w: fetch the file again", f.at(name), err)
	}
	for _, file := range files {
		at := path.Join(path.Dir(name), file)
		if !filepath.IsLocal(filepath.FromSlash(file)) || path.Base(file) != file {
			return badinput.Errorf("%s refers to weights in %q, which is not a file beside it: export it again",
				f.at(name), file)
		}
		if !f.has(at) {
			return badinput.Errorf("%s refers to weights in %s, which is missing: fetch that file, too", f.at(name),
				f.at(at))
		}
		if at, err = f.bring(at); err != nil {
			return err
		}
		f.Manifest.External = append(f.Manifest.External, at)
	}
	if len(files) > 0 {
		f.Found("weights", name, "in %s", strings.Join(files, ", "))
	}
	return nil
}

// nameInputs names the graph's inputs.
func nameInputs(f *folder, name string, g *onnxgraph.Graph) error {
	var unknown []string
	for _, in := range g.Inputs {
		if strings.HasPrefix(in, "past_key_values") {
			return badinput.Errorf("%s has the input %s: it is a graph that writes text token by token and would have to be given what it computed before; name another graph with --onnx, or take the safetensors without the ONNX files", f.at(name), in)
		}
		switch in {
		case "input_ids", "ids", "src_tokens":
			f.Manifest.Inputs.IDs = in
		case "attention_mask", "mask":
			f.Manifest.Inputs.Mask = in
		case "token_type_ids", export.TokenTypes:
			f.Manifest.Inputs.TokenTypes = in
		case "position_ids":
			f.Manifest.Inputs.Positions = in
		default:
			unknown = append(unknown, in)
		}
	}
	if f.Manifest.Inputs.IDs == "" || unknown != nil {
		return badinput.Errorf("%s has the inputs %s, but only input_ids, attention_mask, token_type_ids and position_ids can be given: export it again", f.at(name), strings.Join(g.Inputs, ", "))
	}
	f.Found("inputs", name, "%s", strings.Join(g.Inputs, ", "))
	return nil
}

// takeSentences is for a graph that pools; dense are layers that it lacks.
func takeSentences(f *folder, name, output string, dense []export.Dense, raw []byte, g *onnxgraph.Graph) error {
	f.Manifest.Output, f.Manifest.Pooling = output, model.None
	if err := setWidth(f, name, output, g); err != nil {
		return err
	}
	f.Found("output", name, "%s, [batch, %d]: the graph pools", output, f.Manifest.Dim)
	head := export.Head{Poolings: []string{mean}, Dense: dense, Dim: f.Dim}
	if err := f.checkDense(head, f.Manifest.Dim); err != nil {
		return err
	}
	more := export.NewGraph("")
	changed := dense != nil || f.Dim > 0
	if changed {
		f.Manifest.Output, f.Manifest.Dim = more.After(output, head, f.Manifest.Dim)
	}
	for _, tokens := range tokenOutputs {
		if slices.Contains(g.Outputs, tokens) {
			f.Manifest.Tokens.Output = tokens
			setTokenWidth(f, g.Shapes[tokens])
		}
	}
	switch {
	case !changed:
		return nil
	case dense == nil:
		return f.extend(name, raw, more, "with the first numbers alone")
	}
	return f.extend(name, raw, more, fmt.Sprintf("with %d dense layers", len(dense)))
}

// takeTokens is for a graph that gives its tokens' vectors.
func takeTokens(f *folder, name string, raw []byte, g *onnxgraph.Graph) error {
	output := ""
	for _, tokens := range tokenOutputs {
		if slices.Contains(g.Outputs, tokens) {
			output = tokens
		}
	}
	if slices.Equal(f.poolings, []string{pooler}) {
		if !slices.Contains(g.Outputs, "pooler_output") {
			return badinput.Errorf("%s has no output pooler_output, but the outputs %s: give another --pooling or export it again", f.at(name), strings.Join(g.Outputs, ", "))
		}
		return takeSentences(f, name, "pooler_output", f.dense, raw, g)
	}
	if output == "" {
		return badinput.Errorf("%s has the outputs %s, none of which is sentence_embedding or last_hidden_state: export it for feature extraction", f.at(name), strings.Join(g.Outputs, ", "))
	}
	if err := needPooling(f); err != nil {
		return err
	}
	if shape := g.Shapes[output]; len(shape) > 0 {
		if err := f.checkPooled(max(0, shape[len(shape)-1])); err != nil {
			return err
		}
	}
	f.Manifest.Tokens.Output = output
	simple := slices.Contains([]string{mean, cls, maxima}, f.poolings[0]) && len(f.poolings) == 1
	if simple && f.dense == nil && f.Dim == 0 {
		f.Manifest.Output, f.Manifest.Pooling = output, model.Pooling(f.poolings[0])
		f.Found("output", name, "%s, [batch, tokens, dim]", output)
		return setWidth(f, name, output, g)
	}
	if err := setWidth(f, name, output, g); err != nil {
		return err
	}
	head := export.Head{Poolings: f.poolings, Dense: f.dense, Dim: f.Dim}
	if err := f.checkDense(head, f.Manifest.Dim); err != nil {
		return err
	}
	more := export.NewGraph("")
	f.Manifest.Output, f.Manifest.Dim = more.Head(output, head, f.Manifest.Dim, g.Opsets[""])
	f.Manifest.Pooling = model.None
	setTokenWidth(f, g.Shapes[output])
	return f.extend(name, raw, more, fmt.Sprintf("with %s pooling and %d dense layers", strings.Join(f.poolings, ", "), len(f.dense)))
}

// setTokenWidth sets the width of the tokens' vectors where it is not the sentences'.
func setTokenWidth(f *folder, shape []int) {
	if len(shape) == 3 && shape[2] > 0 && shape[2] != f.Manifest.Dim {
		f.Manifest.Tokens.Dim = shape[2]
	}
}

// setWidth sets dim.
func setWidth(f *folder, name, output string, g *onnxgraph.Graph) error {
	shape := g.Shapes[output]
	switch {
	case len(shape) > 0 && shape[len(shape)-1] > 0:
		f.Manifest.Dim = shape[len(shape)-1]
	case f.Manifest.Dim > 0:
	case f.config.Width > 0:
		f.Manifest.Dim = f.config.Width
	case f.config.ModelDim > 0:
		f.Manifest.Dim = f.config.ModelDim
	default:
		return badinput.Errorf("neither %s nor config.json says how many numbers %s has: export it with a fixed last dimension", f.at(name), output)
	}
	f.Found("dim", name, "%d", f.Manifest.Dim)
	return nil
}

// extend writes the graph with more nodes at its end beside the published one: the files with weights that it refers to
// are there.
func (f *folder) extend(name string, raw []byte, more *export.Graph, what string) error {
	f.Manifest.ONNX = path.Join(path.Dir(name), GraphFile)
	f.Found("graph", name, "%s: %s", what, f.Manifest.ONNX)
	return f.WriteFile(f.Manifest.ONNX, more.Extend(raw))
}
