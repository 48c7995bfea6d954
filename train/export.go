package train

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"

	"gopkg.in/yaml.v3"

	"bitextmine/encode"
	"bitextmine/internal/atomicfile"
	"bitextmine/internal/badinput"
	"bitextmine/train/data"
	"bitextmine/train/encoder"
	"bitextmine/train/export"
)

// modelFile is the file name of an exported graph.
const modelFile = "model.onnx"

// agreement is the largest allowed difference between a value of the trainer's vectors and of ONNX Runtime's.
const agreement = 1e-5

// export writes the best checkpoint as an encoder for mining and returns its step and dev figures. If ONNX Runtime does
// not give the trainer's vectors, export fails and an earlier export stays.
func (t *trainer) export(ctx context.Context) (step int, dev map[string]float64, err error) {
	if step, err = t.checkpoints.best(t.config.Stop.Metric); err != nil {
		return 0, nil, err
	}
	t.report(fmt.Sprintf("export step %d", step))
	if err := t.checkpoints.load(step, encoderFile, t.encoder.Weights()); err != nil {
		return 0, nil, err
	}
	graph, exported := t.graph()
	final := filepath.Join(t.options.Out, modelDir)
	tmp := final + atomicfile.Suffix
	defer func() { err = errors.Join(err, os.RemoveAll(tmp)) }()
	if err := errors.Join(os.RemoveAll(tmp), os.MkdirAll(tmp, 0o755)); err != nil {
		return 0, nil, err
	}
	if err := t.write(tmp, graph); err != nil {
		return 0, nil, err
	}
	judged := t.live
	judged.encoder = exported
	if err := t.agree(ctx, tmp, judged); err != nil {
		return 0, nil, err
	}
	dev, known := t.judged[step]
	if !known || exported != t.encoder { // evaluate the encoder as it is exported: a bag is rounded
		t.live = judged
		if dev, err = t.judge(ctx); err != nil {
			return 0, nil, err
		}
	}
	if err := atomicfile.WriteBytes(filepath.Join(tmp, "README.md"), t.card(step, dev)); err != nil {
		return 0, nil, err
	}
	if err := errors.Join(os.RemoveAll(final), os.Rename(tmp, final)); err != nil {
		return 0, nil, err
	}
	return step, dev, atomicfile.SyncDir(t.options.Out)
}

// graph returns the encoder's graph and the encoder whose vectors it must give. For a bag this is the one with the
// rounded table.
func (t *trainer) graph() (*export.Graph, encoder.Encoder) {
	switch e := t.encoder.(type) {
	case *encoder.Bag:
		numbers, scales := e.Rounded()
		return export.Bag(t.config.Name, numbers, scales), encoder.OfTable(numbers, scales)
	case *encoder.Transformer:
		return export.Transformer(t.config.Name, e), e
	}
	panic(fmt.Sprintf("train: an encoder of type %T has no graph", t.encoder))
}

// write writes the graph, its manifest and its vocabulary into a directory.
func (t *trainer) write(dir string, graph *export.Graph) error {
	model, err := graph.Model()
	if err != nil {
		return err
	}
	if err := atomicfile.WriteBytes(filepath.Join(dir, modelFile), model); err != nil {
		return err
	}
	tokenizer := t.config.Tokenizer
	tokenizer.File = vocabularyName(tokenizer)
	if err := atomicfile.Copy(filepath.Join(dir, tokenizer.File), filepath.Join(t.options.Out, tokenizer.File)); err != nil {
		return err
	}
	tokens := encode.TokenOutput{Output: export.Tokens}
	_, tokens.Static = t.encoder.(*encoder.Bag)
	if width := t.encoder.Weights()[0].Shape[1]; width != t.encoder.Dim() {
		tokens.Dim = width
	}
	text, err := yaml.Marshal(encode.Manifest{
		Name: t.config.Name, ONNX: modelFile, Tokenizer: tokenizer, MaxTokens: t.config.Bitext.MaxTokens,
		Inputs: encode.Inputs{IDs: export.IDs, Mask: export.Mask}, Output: export.Vectors, Pooling: "none", Normalise: false, Dim: t.encoder.Dim(),
		Tokens:  tokens,
		Licence: t.config.Export.Licence, Languages: t.set.Languages, TrainedOn: t.config.Export.TrainedOn,
	})
	if err != nil {
		return err
	}
	return atomicfile.WriteBytes(filepath.Join(dir, encode.ManifestName), text)
}

// agree compares ONNX Runtime's vectors with the trainer's, for one sentence and for many.
func (t *trainer) agree(ctx context.Context, dir string, trainer live) (err error) {
	model, err := encode.Load(dir)
	if err != nil {
		return fmt.Errorf("the exported encoder: %w", err)
	}
	runtime, err := encode.Open(model, encode.Options{Library: t.options.Library})
	if err != nil {
		return fmt.Errorf("the exported encoder: %w", err)
	}
	defer func() { err = errors.Join(err, runtime.Close()) }()
	var stats data.Stats
	var texts []string
	language := ""
	for p, err := range data.Pairs(ctx, t.config.Bitext, &stats) {
		if err != nil {
			return err
		}
		language = p.SourceLanguage
		if texts = append(texts, p.Source); len(texts) == together {
			break
		}
	}
	for _, n := range []int{1, len(texts)} {
		want, got := make([]float32, n*runtime.Dim()), make([]float32, n*runtime.Dim())
		if err := errors.Join(trainer.Encode(ctx, language, texts[:n], want), runtime.Encode(ctx, language, texts[:n], got)); err != nil {
			return err
		}
		for i := range want {
			if d := math.Abs(float64(got[i] - want[i])); d > agreement || math.IsNaN(d) {
				return badinput.Errorf("the exported encoder gives %q a vector that is off by %g, more than %g: it was not published; a training whose loss did not fall has such weights, of another report this with the preset",
					texts[i/runtime.Dim()], d, agreement)
			}
		}
	}
	return nil
}
