package importer

import (
	"errors"

	"bitextmine/encode/model"
	"bitextmine/internal/badinput"
	"bitextmine/internal/usage"
	"bitextmine/model/architecture"
	"bitextmine/train/export"
)

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
