package importer

import (
	"path"

	"bitextmine/encode/model"
	"bitextmine/internal/badinput"
	"bitextmine/train/export"
	"bitextmine/train/weights"
)

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
