// Package train turns bitext into an encoder: it reads a preset, prepares vocabulary and batches, computes optimiser
// steps, evaluates the encoder with eval's protocols during training, and exports the best checkpoint as an ONNX file
// with its manifest, which is all that mining needs.
package train

import (
	"bytes"
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"bitextmine/encode/model"
	"bitextmine/internal/atomicfile"
	"bitextmine/internal/badinput"
	"bitextmine/internal/yamlbound"
	"bitextmine/train/data"
	"bitextmine/train/encoder"
	"bitextmine/train/objective"
	"bitextmine/train/optimiser"
	"bitextmine/train/step"
	"bitextmine/train/words"
)

// Config is a training preset.
type Config struct {
	Name       string `yaml:"name"` // the encoder's name
	Seed       uint64 `yaml:"seed"` // seed of all random draws
	Steps      int    `yaml:"steps"`
	Accumulate int    `yaml:"accumulate"` // batches whose gradients a step averages
	// sentences that are encoded at once while the loss sees the whole batch (GradCache); 0 means the whole batch
	Chunk  int         `yaml:"chunk"`
	Bitext data.Config `yaml:"bitext"`
	// as in a manifest; without a file, a SentencePiece vocabulary is trained
	Tokenizer model.Tokenizer `yaml:"tokenizer"`
	// the token that stands for masked ones, a piece or an id, of objectives that mask words; <mask> if it is nil
	Mask *model.Token `yaml:"mask,omitempty"`
	// as in a manifest: the text or tokens before a sentence's own, by language
	Prefixes   map[string]model.Prefix `yaml:"prefixes,omitempty"`
	Vocabulary words.VocabularyOptions `yaml:"vocabulary"` // how the vocabulary is trained
	Encoder    encoder.Config          `yaml:"encoder"`
	Objective  objective.Section       `yaml:"objective"`
	Optimiser  optimiser.Settings      `yaml:"optimiser"`
	Export     ExportConfig            `yaml:"export"`

	// The following settings change no weight.
	Dev       []DevSet `yaml:"dev"`
	LogEvery  int      `yaml:"log_every"`  // steps between lines of the log
	EvalEvery int      `yaml:"eval_every"` // steps between evaluations, each with a checkpoint; 0: the last
	Stop      Stop     `yaml:"stop"`
}

// Stop says when training ends before its last step, and which checkpoint is the best.
type Stop struct {
	// name of a dev metric that is better when higher; if empty, the last checkpoint is exported
	Metric   string `yaml:"metric"`
	Patience int    `yaml:"patience"` // number of evaluations without improvement that ends training; 0 means never
	Keep     int    `yaml:"keep"`     // number of best checkpoints that are kept, besides the last
}

// ExportConfig is the content of the manifest and the model card that training cannot know.
type ExportConfig struct {
	Licence   string   `yaml:"licence"`
	TrainedOn []string `yaml:"trained_on"`
	Notes     string   `yaml:"notes"` // a sentence for the model card
	// longest sentence of the exported encoder, in tokens; 0: bitext.max_tokens. A transformer needs positions for it
	MaxTokens int `yaml:"max_tokens,omitempty"`
}

// DefaultConfig returns the default settings.
func DefaultConfig() Config {
	return Config{
		Seed: 1, Steps: 1000, Accumulate: 1,
		Bitext:     data.DefaultConfig(),
		Tokenizer:  model.Tokenizer{Kind: "sentencepiece"},
		Vocabulary: words.DefaultVocabularyOptions(),
		Encoder:    encoder.Defaults(),
		Objective:  objective.Default("contrastive"),
		Optimiser:  optimiser.Defaults(),
		LogEvery:   50,
		Stop:       Stop{Keep: 1},
	}
}

// ReadConfig reads a preset. File names in it are relative to the working directory. bitext, if any, replaces its
// sources.
func ReadConfig(path string, bitext ...string) (Config, error) {
	f, err := os.Open(path)
	if err != nil {
		return Config{}, badinput.Errorf("the training preset cannot be read (%w): name one of configs/train, or your own", err)
	}
	defer func() { _ = f.Close() }() // it was only read
	return decodeConfig(f, path, bitext)
}

func decodeConfig(r io.Reader, name string, bitext []string) (Config, error) {
	c := DefaultConfig()
	c.Name = strings.TrimSuffix(filepath.Base(name), filepath.Ext(name))
	text, err := yamlbound.Read(r, name)
	if err != nil {
		return c, err
	}
	d := yaml.NewDecoder(bytes.NewReader(text))
	d.KnownFields(true)
	if err := d.Decode(&c); err != nil && !errors.Is(err, io.EOF) {
		return c, badinput.Errorf("%s is not a training preset: %s", name, strings.ReplaceAll(err.Error(), "\n", " "))
	}
	if err := c.checkWhole(text); err != nil {
		return c, badinput.Errorf("%s: %w", name, err)
	}
	if len(bitext) > 0 {
		source := data.DefaultSource()
		source.Files = bitext
		c.Bitext.Sources = []data.Source{source}
	}
	if err := c.Validate(); err != nil {
		return c, badinput.Errorf("%s: %w", name, err)
	}
	return c, nil
}

// Validate reports all problems of all sections in one error.
func (c Config) Validate() error {
	var wrong badinput.Problems
	check := wrong.Unless
	check(c.Steps > 0, "steps is %d: it must be above 0", c.Steps)
	check(c.Accumulate > 0, "accumulate is %d: it must be above 0", c.Accumulate)
	check(c.Chunk >= 0, "chunk is %d: it cannot be negative", c.Chunk)
	check(c.LogEvery > 0, "log_every is %d: it must be above 0", c.LogEvery)
	check(c.Export.MaxTokens >= 0, "export.max_tokens is %d but cannot be negative", c.Export.MaxTokens)
	every := c.Objective.Needs().Every
	check(every <= 0 || c.EvalEvery%every == 0, "objective.every is %d but must divide eval_every, %d, so that a training can be resumed", every, c.EvalEvery)
	check(c.EvalEvery >= 0, "eval_every is %d: it cannot be negative", c.EvalEvery)
	check(c.Stop.Patience == 0 || c.Stop.Metric != "", "stop.patience needs stop.metric: name a dev metric")
	check(c.Stop.Patience >= 0, "stop.patience is %d: it cannot be negative", c.Stop.Patience)
	check(c.Stop.Metric != "" || c.Stop.Keep <= 1, "stop.keep needs stop.metric, which says what checkpoints are the best")
	check(c.Stop.Metric == "" || c.Stop.Keep > 0, "stop.keep is %d: it must be above 0, as the best checkpoint is exported", c.Stop.Keep)
	check(!isError(c.Stop.Metric), "stop.metric is %q, which is better when it is lower: name a figure that is better when it is higher", c.Stop.Metric)
	check(c.Stop.Metric == "" || DevGives(c.Dev, c.Stop.Metric),
		"stop.metric is %q, which no dev set gives: it must begin with the name of a dev set's protocol", c.Stop.Metric)
	needs := c.Objective.Needs()
	check(needs.Words || !slices.ContainsFunc(c.Bitext.Sources, func(s data.Source) bool { return len(s.Alignments) > 0 }),
		"sources have alignments, which the objective %s does not read: leave them out", c.Objective.Name)
	check(needs.Words || c.Bitext.Words == nil, "bitext.words is there, which the objective %s does not read: leave it out", c.Objective.Name)
	check(!needs.Tokens || !step.Cached(c.Encoder.Of().Graph, c.Chunk),
		"the objective %s needs the encoder's tokens, which are available only with a transformer or an imported encoder and without chunk: "+
			"set encoder.kind to one of them and remove chunk", c.Objective.Name)
	if c.Encoder.Of().Tokenizer == nil {
		c.checkTokenizer(check)
	}
	check(c.Bitext.BatchSize >= needs.Pairs,
		"bitext.batch_size is %d, but the objective %s compares pairs with each other: it needs at least %d",
		c.Bitext.BatchSize, c.Objective.Name, needs.Pairs)
	check(c.Bitext.MaxTokens >= needs.Longest || c.Bitext.MaxTokens <= 0, // that is refused as such
		"bitext.max_tokens is %d, which leaves the objective %s no room for text: it needs at least %d",
		c.Bitext.MaxTokens, c.Objective.Name, needs.Longest)
	check(!needs.TokenDim || c.Encoder.Transformer.Projection == 0,
		"the objective %s needs vectors as wide as tokens: remove encoder.transformer.projection", c.Objective.Name)
	sections := append(c.encoderPreset("").Validate(check), c.Bitext.Validate, c.Optimiser.Validate,
		c.Objective.Validate)
	if c.Tokenizer.File == "" {
		sections = append(sections, c.Vocabulary.Validate)
	}
	for _, language := range slices.Sorted(maps.Keys(c.Prefixes)) {
		prefix := c.Prefixes[language]
		check(prefix.Text == "" || len(prefix.Tokens) == 0, "prefixes.%s has both text and tokens: give one", language)
		check(len(prefix.Tokens) == 0 || slices.Min(prefix.Tokens) >= 0,
			"prefixes.%s has a negative token: give ids of the vocabulary", language)
	}
	for _, d := range c.Dev {
		sections = append(sections, d.Validate)
	}
	for _, validate := range sections {
		err := validate()
		check(err == nil, "%v", err)
	}
	return wrong.Err("")
}

// checkTokenizer checks that the tokenizer gives what the objective needs. Where it is that of encoder.start, Run does.
func (c Config) checkTokenizer(check func(ok bool, format string, args ...any)) {
	needs := c.Objective.Needs()
	check(!needs.First || c.Tokenizer.BOS != nil,
		"the objective %s needs a first token that stands for the sentence: set tokenizer.bos", c.Objective.Name)
	check(!needs.Last || c.Tokenizer.EOS != nil,
		"the objective %s needs a last token that stands between the sentences of a pair: set tokenizer.eos", c.Objective.Name)
	check(!needs.Bare || len(c.Prefixes) == 0,
		"the objective %s reads the sentences of a pair without prefixes: remove prefixes", c.Objective.Name)
	check(!needs.Words && !needs.Pieces || c.Tokenizer.Kind == "sentencepiece",
		"the objective %s needs the spelling of tokens: set tokenizer.kind to sentencepiece", c.Objective.Name)
}

// takeStart takes what encoder.start determines: the shape, the tokenizer and the prefixes.
func (c *Config) takeStart() (err error) {
	if c.Encoder, err = c.Encoder.Shaped(); err != nil {
		return err
	}
	return c.takeTokenizer()
}

// takeTokenizer takes the tokenizer and the prefixes of encoder.start, if the kind of encoder has those.
func (c *Config) takeTokenizer() (err error) {
	of := c.Encoder.Of().Tokenizer
	if of == nil {
		return nil
	}
	if c.Tokenizer, c.Prefixes, err = of(c.Encoder.Start); err != nil {
		return err
	}
	c.checkTokenizer(func(ok bool, format string, args ...any) {
		if !ok && err == nil {
			err = badinput.Errorf("the tokenizer of encoder.start: "+format, args...)
		}
	})
	return err
}

// encoderPreset is the part of the preset that its encoder depends on. dir is the directory of the training.
func (c Config) encoderPreset(dir string) encoder.Preset {
	return encoder.Preset{
		Config: c.Encoder, Tokenizer: c.Tokenizer, MaxTokens: c.Bitext.MaxTokens, Seed: c.Seed,
		Shared:     c.Objective.Needs().Table,
		Vocabulary: filepath.Join(dir, vocabularyName(c.Tokenizer)),
	}
}

// changesNothing are the names of the settings on which no weight depends.
var changesNothing = []string{"name", "dev", "log_every", "eval_every", "stop", "export"}

// Digest identifies everything that determines the weights. A checkpoint is resumed only with the preset that it was
// made with.
func (c Config) Digest() (string, error) {
	c.Name, c.Encoder = "", c.Encoder.Unshaped()
	return c.wholeDigest()
}

// wholeDigest is the digest that earlier versions wrote into checkpoints: with the name, and the shape as it was given.
func (c Config) wholeDigest() (string, error) {
	c.Dev, c.LogEvery, c.EvalEvery, c.Stop, c.Export = nil, 0, 0, Stop{}, ExportConfig{}
	text, err := yaml.Marshal(c)
	if err != nil {
		return "", err
	}
	return atomicfile.DigestOf(text), nil
}
