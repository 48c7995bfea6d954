package importer

import (
	"bitextmine/train/encoder"
	"bitextmine/train/export"
	"bitextmine/train/weights"
)

// exportBERT exports safetensors of BERT, RoBERTa and XLM-RoBERTa.
func exportBERT(f *folder) error {
	if err := needPooling(f); err != nil {
		return err
	}
	settings, tensors, err := encoder.ReadPublished(f.at(f.body), encoder.Pooling(f.pooling))
	if err != nil {
		return err
	}
	return exportWithHead(f, settings, tensors)
}

// exportM2M exports safetensors of M2M-100 and NLLB encoders.
func exportM2M(f *folder) error {
	if err := needPooling(f); err != nil {
		return err
	}
	settings, tensors, err := encoder.ReadM2M(f.at(f.body), encoder.Pooling(f.pooling))
	if err != nil {
		return err
	}
	return exportWithHead(f, settings, tensors)
}

// exportWithHead exports a transformer with the folder's dense layers.
func exportWithHead(f *folder, s encoder.Settings, tensors []*weights.Tensor) error {
	f.WordsFrom = "config.json"
	if f.dense == nil {
		return f.ExportTransformer(s, tensors, nil)
	}
	return f.ExportTransformer(s, tensors,
		func(g *export.Graph) (string, int, error) { return writeHead(f, g, export.Tokens, export.Opset) })
}
