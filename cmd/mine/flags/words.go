package flags

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"bitextmine/align/word"
	"bitextmine/encode/model"
	"bitextmine/internal/badinput"
	"bitextmine/pipeline"
	"bitextmine/pipeline/config"
)

// Words are the flags of a word aligner: the model's, and those of an encoder beside it.
type Words struct {
	Model      word.Options
	encoder    string
	similarity word.Similarity
	names      []string
}

// Register adds the flags.
func (w *Words) Register(cmd *cobra.Command) {
	w.Model, w.similarity = word.DefaultOptions(), word.DefaultSimilarity()
	f := pflag.NewFlagSet("words", pflag.ContinueOnError)
	f.SortFlags = false
	f.IntVar(&w.Model.Iterations, "iterations", w.Model.Iterations,
		"of expectation maximisation; 0: an encoder aligns alone")
	f.Float64Var(&w.Model.NullProb, "p0", w.Model.NullProb, "prior probability that a word is a translation of none")
	f.Float64Var(&w.Model.Tension, "tension", w.Model.Tension, "how strongly links keep to the diagonal")
	f.BoolVar(&w.Model.FitTension, "fit-tension", false, "estimate the tension too, starting from --tension")
	f.Float64Var(&w.Model.Alpha, "alpha", w.Model.Alpha, "of the Dirichlet prior over translations; 0: none")
	f.StringVar(&w.encoder, "encoder", "", "encoder whose vectors of words count beside the model")
	f.StringVar(&w.similarity.Layer, "layer", "", "tensor of the encoder's graph (default: where directions agree most)")
	f.Float64Var(&w.similarity.Temperature, "temperature", w.similarity.Temperature,
		"of the encoder's cosines: the smaller, the more they count")
	f.Float64Var(&w.similarity.Floor, "floor", w.similarity.Floor, "cosine at which a word is rather a translation of none")
	f.Float64Var(&w.similarity.MaxEntropy, "max-entropy", w.similarity.MaxEntropy,
		"largest entropy of a word's alignment, as a part of the largest there is; more: no link")
	f.VisitAll(func(one *pflag.Flag) { w.names = append(w.names, one.Name) })
	cmd.Flags().AddFlagSet(f)
}

// Names are the names of the flags.
func (w *Words) Names() []string { return w.names }

// Options returns the aligner's options, given the settings and both languages.
func (w *Words) Options(cmd string, cfg *pipeline.Config, source, target string) (word.Options, error) {
	w.Model.Threads = cfg.Threads
	if w.encoder == "" {
		if w.similarity != word.DefaultSimilarity() {
			return w.Model, badinput.Errorf("%s: --layer, --temperature, --floor and --max-entropy are for --encoder", cmd)
		}
		return w.Model, nil
	}
	m, err := model.Load(w.encoder)
	if err != nil {
		return w.Model, err
	}
	w.similarity.Model, w.similarity.Languages = m, [2]string{source, target}
	w.similarity.Encoder, err = config.OptionsOf(cfg, m)
	w.Model.Similarity = &w.similarity
	return w.Model, err
}

// Encoder says whether an encoder is named.
func (w *Words) Encoder() bool { return w.encoder != "" }
