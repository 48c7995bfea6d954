package train

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"gopkg.in/yaml.v3"

	"bitextmine/encode/model"
	"bitextmine/fixtures"
	"bitextmine/internal/badinput"
	"bitextmine/train/checkpoint"

	"bitextmine/train/encoder"
	"bitextmine/train/layers"
	"bitextmine/train/objective"
	"bitextmine/train/traintest"
	"bitextmine/train/weights"
)

// TestBadInput: each is one sentence of class badinput that says what to look at.
func TestBadInput(t *testing.T) {
	pairs := func(text string) func(*Config) {
		return func(c *Config) {
			file := filepath.Join(filepath.Dir(c.Bitext.Sources[0].Files[0]), "bad.tsv")
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				panic(err)
			}
			c.Bitext.Sources[0].Files = []string{file}
		}
	}
	trained := func(size int) func(*Config) {
		return func(c *Config) { c.Tokenizer.File, c.Vocabulary.Size = "", size }
	}
	for _, c := range []struct {
		name   string
		change func(*Config)
		device string
		want   string
	}{
		{"no pair", pairs(""), "", "holds no line"},
		{"one side", pairs("a\t\nb\t\n"), "", "2 empty_target"},
		{"untranslated lines alone", func(c *Config) { pairs("a b\ta b\n")(c); c.Bitext.Sources[0].DropSame = true }, "", "1 same_text"},
		{"a language no one knows", func(c *Config) { c.Bitext.Sources[0].Src = "qqz9" }, "", "qqz9"},
		{"fewer pairs than a batch", pairs("a\tb\nc\td\n"), "", "batch_size"},
		{"a vocabulary larger than the text", trained(50000), "", "the text supports at most"},
		{"no GPU", nil, "cuda", "MINE_PJRT_CUDA"},
		{"a device without bfloat16", bfloat16, "cpu", "the device cpu was asked for products in bfloat16"},
		{"no such device", nil, "tpu", "tpu"},
		{"no such teacher", by("imascl", set{"teacher": "nowhere"}), "", `no encoder "nowhere"`},
		{"a teacher without a name", by("imascl", nil), "", "objective.teacher is empty"},
		{"no piece for masks", all(trained(900), by("ems", set{"reconstruction": "ugt"})), "", "vocabulary.control: [<mask>]"},
		{"more negatives than pairs", all(by("muse", set{"negatives": 60}), pairs(strings.Repeat("x", 3)+"\tb\n"+manyPairs(20))), "", "hard negatives"},
		{"no metric of that name", all(evaluated, func(c *Config) { c.Stop.Metric = "tatoeba epo accurate" }), "", "tatoeba epo accuracy"},
		{"a test set that is not there", all(evaluated, func(c *Config) { c.Dev[0].Dir += "-gone" }), "", "held-gone"},
	} {
		t.Run(c.name, func(t *testing.T) {
			config, o := tiny(t, c.change)
			if c.device != "" {
				o.Device = c.device
				t.Setenv("MINE_PJRT_CUDA", "")
			}
			_, err := Run(limited(t), config, o)
			refused(t, err, c.want)
		})
	}
}

// TestRefusedBeforeReading: the bitext, which is missing, is not looked for.
func TestRefusedBeforeReading(t *testing.T) {
	distil := by("mse-distill", set{"teacher": fixtures.Encoder})
	for name, c := range map[string]struct {
		change func(*Config)
		want   string
	}{
		"a teacher that is missing":            {by("imascl", set{"teacher": "nowhere"}), `no encoder "nowhere"`},
		"a bag beside a wider teacher":         {distil, "vectors of 512 numbers and the encoder has vectors of 64: set encoder.transformer.projection"},
		"a transformer beside a wider teacher": {all(transformer, distil), "the encoder has vectors of 32"},
		"a projection that does not fit":       {all(transformer, distil, func(c *Config) { c.Encoder.Transformer.Projection = 500 }), "vectors of 500"},
		"one pair":                             {func(c *Config) { c.Bitext.BatchSize = 1 }, "it needs at least 2"},
		"a rate without end":                   {func(c *Config) { c.Optimiser.LearningRate = math.Inf(1) }, "it must be a number"},
		"adafactor's moments":                  {func(c *Config) { c.Optimiser.Kind, c.Optimiser.Beta1 = "adafactor", 0.5 }, "adafactor has no beta1"},
		"the best of nothing":                  {func(c *Config) { c.Stop.Keep = 3 }, "stop.keep needs stop.metric"},
		"links that are not read":              {func(c *Config) { c.Bitext.Sources[0].Alignments = []string{"x"} }, "does not read"},
		"published weights beside another teacher": {all(transformer, distil, func(c *Config) {
			c.Encoder.Start, c.Encoder.Transformer = "encoder/testdata/bert", encoder.DefaultSettings()
		}), "vectors of 16"},
	} {
		config, o := tiny(t, c.change)
		config.Bitext.Sources[0].Files = []string{"nowhere.tsv"}
		err := config.Validate()
		if err == nil {
			_, err = Run(limited(t), config, o)
		}
		if refused(t, err, c.want); t.Failed() {
			t.Fatal(name)
		}
	}
}

func manyPairs(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.Repeat("a", i+1) + "\t" + strings.Repeat("b", i+1) + "\n")
	}
	return b.String()
}

func refused(t *testing.T, err error, want string) {
	t.Helper()
	if !badinput.Is(err) || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
		t.Errorf("got %v\nwant one badinput sentence that says %q", err, want)
	}
}

// TestLossThatIsNoNumber: it names the step and the batch, and the checkpoint before it stays.
func TestLossThatIsNoNumber(t *testing.T) {
	ctx := limited(t)
	config, o := tiny(t, func(c *Config) { c.EvalEvery, c.Steps = 2, 9 })
	tr := takenUp(ctx, t, config, o)
	var err error
	if tr.journal, err = openJournal(o.Out, 0); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tr.journal.Close() }()
	tr.options.Progress = func(l JournalLine, _ time.Duration) {
		if l.Step == 3 {
			table := tr.encoder.Weights()[0].Data
			for i := range table {
				table[i] = float32(math.NaN())
			}
		}
	}
	_, err = tr.loop(ctx)
	refused(t, err, "the loss of step 4 is NaN or infinite (batch 3: ")
	refused(t, err, "the checkpoint before it is "+tr.checkpoints.At(2))
	all, _, err := tr.checkpoints.List()
	if err != nil || len(all) != 1 || all[0].Step != 2 {
		t.Fatalf("checkpoints %+v, %v", all, err)
	}
	o.Resume = true
	if _, err := Run(ctx, config, o); err != nil {
		t.Errorf("the checkpoint cannot be gone on from: %v", err)
	}
}

// TestDivergenceThatIsNoNumber: variances that overflow are said to be kl's, whose weight may still be 0.
func TestDivergenceThatIsNoNumber(t *testing.T) {
	ctx := limited(t)
	config, o := tiny(t, all(transformer, by("vmsst", smallDecoder)))
	tr := takenUp(ctx, t, config, o)
	var err error
	if tr.journal, err = openJournal(o.Out, 0); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tr.journal.Close() }()
	for _, w := range tr.heads {
		if w.Name == "heads.semantic.variance.bias" {
			for i := range w.Data {
				w.Data[i] = 1000
			}
		}
	}
	_, err = tr.loop(ctx)
	refused(t, err, "the loss of step 1 is NaN or infinite (batch 0: translate ")
	refused(t, err, "because of reconstruct and kl); there is no checkpoint before it")
}

// TestLearningRateOutOfBounds: no checkpoint is written of numbers that no length can be taken of, though each loss was
// a number.
func TestLearningRateOutOfBounds(t *testing.T) {
	for want, change := range map[string]func(*Config){
		"left values in bag.pieces": nil,
		"step 2 ":                   transformer,
	} {
		config, o := tiny(t, all(change, func(c *Config) { c.Optimiser.LearningRate = 1e30 }))
		_, err := Run(limited(t), config, o)
		refused(t, err, want)
		refused(t, err, "there is no checkpoint before it")
		if all, _, err := (checkpoint.Dir{Path: filepath.Join(o.Out, checkpointsDir)}).List(); err != nil || len(all) > 0 {
			t.Errorf("checkpoints %+v, %v", all, err)
		}
	}
}

// TestDirectoryOfAnotherTraining: nothing is taken up by accident.
func TestDirectoryOfAnotherTraining(t *testing.T) {
	ctx := limited(t)
	config, o := tiny(t, nil)
	if _, err := Run(ctx, config, o); err != nil {
		t.Fatal(err)
	}
	_, err := Run(ctx, config, o)
	refused(t, err, "go on with --resume, or choose another directory")
	o.Resume = true
	other := config
	other.Seed++
	_, err = Run(ctx, other, o)
	refused(t, err, "another preset than this one (seed was 1 and is 2)")
	other.Name = "other"
	_, err = Run(ctx, other, o)
	refused(t, err, "(seed was 1 and is 2)") // the name is no reason
	other = config
	other.Encoder.Transformer.Precision = layers.BFloat16
	_, err = Run(ctx, other, o)
	refused(t, err, "another preset")
	longer := config
	longer.Name, longer.LogEvery, longer.Export.Notes, longer.Stop.Patience = "renamed", 2, "What changes no weight may change.", 0
	if _, err := Run(ctx, longer, o); err != nil {
		t.Error(err)
	}
	text, err := os.ReadFile(config.Bitext.Sources[0].Files[0])
	if err != nil {
		t.Fatal(err)
	}
	traintest.Write(t, config.Bitext.Sources[0].Files[0], string(text)+"noch\tone more\n")
	_, err = Run(ctx, config, o)
	refused(t, err, "other bitext")
}

// TestInputsAreNotReplaced: a directory is refused whose files the training reads and would replace, but not the preset
// that an earlier training wrote there.
func TestInputsAreNotReplaced(t *testing.T) {
	config, o := tiny(t, nil)
	file := filepath.Join(o.Out, modelDir, model.FileName)
	traintest.Write(t, file, "name: other\n")
	start := config
	start.Encoder.Start = filepath.Dir(file)
	refused(t, refuseReplacing(&start, &o), "would be replaced")
	taught := config
	by("imascl", set{"teacher": file})(&taught)
	refused(t, refuseReplacing(&taught, &o), "would be replaced")
	text, err := yaml.Marshal(config)
	if err != nil {
		t.Fatal(err)
	}
	traintest.Write(t, filepath.Join(o.Out, lockFile), "")
	o.Preset = filepath.Join(o.Out, configFile)
	traintest.Write(t, o.Preset, string(text))
	if err := refuseReplacing(&config, &o); err != nil {
		t.Errorf("the preset of a training that ended before its first checkpoint: %v", err)
	}
	own := "# kept\n" + string(text)
	traintest.Write(t, o.Preset, own)
	_, err = Run(limited(t), config, o)
	refused(t, err, "is the file that is read")
	if is, err := os.ReadFile(o.Preset); err != nil || string(is) != own {
		t.Errorf("the preset is %q, %v", is, err)
	}
}

// TestFilesOfOthersStay: a directory is refused that has files which no training wrote and which one would replace.
func TestFilesOfOthersStay(t *testing.T) {
	for _, name := range []string{configFile, "spm.model", journalFile, filepath.Join(modelDir, model.FileName)} {
		config, o := tiny(t, nil)
		path := filepath.Join(o.Out, name)
		traintest.Write(t, path, "name: other\n")
		_, err := Run(limited(t), config, o)
		refused(t, err, "no training wrote it")
		if is, err := os.ReadFile(path); err != nil || string(is) != "name: other\n" {
			t.Errorf("%s was replaced by %d bytes, %v", name, len(is), err)
		}
	}
}

// TestTrainingOfAnEarlierVersion: its checkpoints have a digest with the preset's name and shape, and go on with the
// same preset alone.
func TestTrainingOfAnEarlierVersion(t *testing.T) {
	config, o := tiny(t, transformer)
	config.Encoder.Start = "encoder/testdata/bert"
	text, err := yaml.Marshal(config)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(o.Out, configFile)
	traintest.Write(t, path, string(text))
	was, err := config.wholeDigest()
	if err != nil {
		t.Fatal(err)
	}
	config.Name = "renamed"
	same, err := config.Digest()
	if err != nil || was == same || !began(was, path, same) {
		t.Errorf("the training does not go on: %v", err)
	}
	config.Seed++
	if other, err := config.Digest(); err != nil || began(was, path, other) || began(other, path, same) {
		t.Errorf("another preset goes on with it: %v", err)
	}
}

// TestVocabularyOfAnotherPreset: one that a failed training left is not taken for the next preset's.
func TestVocabularyOfAnotherPreset(t *testing.T) {
	ctx := limited(t)
	config, o := tiny(t, func(c *Config) { c.Tokenizer.File, c.Vocabulary.Size, c.Bitext.BatchSize = "", 300, 100_000 })
	_, err := Run(ctx, config, o)
	refused(t, err, "batch_size")
	config.Vocabulary.Size, config.Bitext.BatchSize = 400, 16
	if _, err := Run(ctx, config, o); err != nil {
		t.Fatal(err)
	}
	rows := takenUp(ctx, t, config, o).vocabulary.Rows()
	if rows != 400 {
		t.Errorf("the vocabulary has %d pieces, want 400", rows)
	}
}

// TestVocabularyOfOtherBitext: one that a training left which ended before its first checkpoint is not that of the text
// with which it goes on.
func TestVocabularyOfOtherBitext(t *testing.T) {
	ctx := limited(t)
	config, o := tiny(t, func(c *Config) { c.Tokenizer.File, c.Vocabulary.Size = "", 100 })
	file := config.Bitext.Sources[0].Files[0]
	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	fresh := o
	fresh.Out += "-fresh"
	if _, err := Run(ctx, config, fresh); err != nil {
		t.Fatal(err)
	}
	traintest.Write(t, file, strings.Join(strings.SplitAfter(string(whole), "\n")[:12], ""))
	_, err = Run(ctx, config, o)
	refused(t, err, "only 12 pairs")
	traintest.Write(t, file, string(whole))
	o.Resume = true
	if _, err := Run(ctx, config, o); err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile(filepath.Join(fresh.Out, "spm.model"))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(filepath.Join(o.Out, "spm.model")); err != nil || !bytes.Equal(got, want) {
		t.Errorf("the vocabulary has %d bytes and not the %d of one of all text: %v", len(got), len(want), err)
	}
}

// TestVocabularyInTheDirectory: a tokenizer of the user's own that lies where the training's would is read and stays.
func TestVocabularyInTheDirectory(t *testing.T) {
	config, o := tiny(t, nil)
	text, err := os.ReadFile(config.Tokenizer.File)
	if err != nil {
		t.Fatal(err)
	}
	config.Tokenizer.File = filepath.Join(o.Out, vocabularyName(config.Tokenizer))
	traintest.Write(t, config.Tokenizer.File, string(text))
	if _, err := Run(limited(t), config, o); err != nil {
		t.Fatal(err)
	}
	if after, err := os.ReadFile(config.Tokenizer.File); err != nil || string(after) != string(text) {
		t.Errorf("the tokenizer has %d bytes, want its %d: %v", len(after), len(text), err)
	}
}

// TestPublishedWeightsWithoutATensor: what lacks is named.
func TestPublishedWeightsWithoutATensor(t *testing.T) {
	config, o := tiny(t, transformer)
	dir := filepath.Join(t.TempDir(), "bert")
	settings, err := os.ReadFile("encoder/testdata/bert/config.json")
	if err != nil {
		t.Fatal(err)
	}
	traintest.Write(t, filepath.Join(dir, "config.json"), string(settings))
	tensors, _, err := weights.ReadFile("encoder/testdata/bert/model.safetensors", func(name string) bool { return !strings.HasSuffix(name, "position_ids") })
	if err != nil {
		t.Fatal(err)
	}
	lacking := slices.DeleteFunc(slices.Clone(tensors), func(w *weights.Tensor) bool { return strings.Contains(w.Name, "layer.1.attention.self.key") })
	if len(lacking) == len(tensors) {
		t.Fatal("the test's model has no such tensor")
	}
	if err := weights.WriteFile(filepath.Join(dir, weights.ModelName), lacking, nil); err != nil {
		t.Fatal(err)
	}
	config.Encoder.Start, config.Encoder.Transformer = dir, encoder.DefaultSettings()
	_, err = Run(limited(t), config, o)
	refused(t, err, "layers.1.attention.key")
	if err := weights.WriteFile(filepath.Join(dir, weights.ModelName), tensors, nil); err != nil {
		t.Fatal(err)
	}
	_, err = Run(limited(t), config, o)
	refused(t, err, "give the tokenizer that was published with the weights") // and not the tensors any more
}

// TestPresetOfATraining: what a training leaves as its config is a preset again, for every objective.
func TestPresetOfATraining(t *testing.T) {
	for _, name := range objective.Names() {
		config, o := tiny(t, by(name, nil))
		if name == "imascl" || name == "mse-distill" {
			by(name, set{"teacher": fixtures.Encoder})(&config)
			config.Encoder.Bag.Dim = 512 // the teacher's
		}
		if config.Objective.Needs().Tokens {
			masked(&config)
		}
		state, err := openDirectory(&config, &o, newTrainer(config, o).checkpoints)
		if err != nil {
			t.Fatal(err)
		}
		again, err := ReadConfig(filepath.Join(o.Out, configFile))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if digest, err := again.Digest(); err != nil || digest != state.Config {
			t.Errorf("%s: the preset became another: %v", name, err)
		}
	}
}

func TestPresetsThatAreNone(t *testing.T) {
	for text, want := range map[string]string{
		"stepps: 3":                 "stepps",
		"steps: three":              "three",
		"steps: 2.5":                "steps is 2.5 but must be a whole number",
		"eval_every: 0.5":           "eval_every is 0.5 but must be a whole number",
		"export: {max_tokens: 0.5}": "export.max_tokens is 0.5 but must be a whole number",
		"encoder: {kind: transformer, transformer: {layers: 1.99}}":                            "encoder.transformer.layers is 1.99 but must be a whole number",
		"objective: {name: contrastive, matryoshka: [1.5]}":                                    "objective.matryoshka[0] is 1.5 but must be a whole number",
		"bitext: {sources: []}":                                                                "bitext.sources is empty",
		"objective: {name: magic}":                                                             `"magic"`,
		"encoder: {kind: lstm}":                                                                `"lstm"`,
		"objective: {name: muse, anchors: [en]}":                                               "objective.anchors is not a setting of muse",
		"objective: {name: mexma}\nencoder: {kind: transformer}":                               "set tokenizer.bos",
		"objective: {name: mexma}\nencoder: {kind: transformer, transformer: {projection: 8}}": "remove encoder.transformer.projection",
		"objective: {name: mexma}\nencoder: {kind: transformer}\ntokenizer: {bos: <s>}\nbitext: {batch_size: 1}": "bitext.batch_size is 1, but the objective mexma compares pairs",
		"objective: {name: mexma, masking: 0}":                                                           "objective.masking is 0",
		"objective: {name: wacse}\nencoder: {kind: transformer}\ntokenizer: {kind: wordpiece}":           "set tokenizer.kind to sentencepiece",
		"objective: {name: wacse, masking: 0}":                                                           "objective.masking is 0",
		"objective: {name: wacse, tr_weight: -1}":                                                        "objective.tr_weight is -1",
		"objective: {name: wacse, tr_weight: 0, awp_weight: 0, wtr_weight: 0}":                           "all 0",
		"bitext: {sources: [{files: [x.parquet], min_score: .nan}]}":                                     "bitext.sources[0].min_score is not a number",
		"bitext: {sources: [{files: [x.parquet], min_prob: .nan}]}":                                      "bitext.sources[0].min_prob is not a number",
		"encoder: {bag: {deviation: .nan}}":                                                              "deviation is NaN",
		"encoder: {bag: {word_dropout: .nan}}":                                                           "word_dropout is NaN",
		"encoder: {bag: {ngrams: {min: 3, max: 5, deviation: .nan}}}":                                    "deviation NaN",
		"bitext: {words: {min_score: 2}}":                                                                "bitext.words: min_score is 2",
		"bitext: {words: {split: letters}}":                                                              "bitext.words: words",
		"objective: {name: mexma}":                                                                       "needs the encoder's tokens",
		"encoder: {kind: transformer, start: weights}":                                                   "encoder.start needs tokenizer.file",
		"encoder: {kind: transformer, transformer: {heads: 3}}":                                          "multiple of heads",
		"encoder: {kind: transformer, transformer: {precision: float16}}":                                "precision",
		"encoder: {transformer: {max_tokens: 64}}":                                                       "field max_tokens not found",
		"encoder: {transformer: {vocabulary: 64}}":                                                       "field vocabulary not found",
		"stop: {patience: 3}":                                                                            "stop.metric",
		"steps: 0\naccumulate: 0":                                                                        "accumulate is 0",
		"dev: [{protocol: probe, dir: x, tgt: en}]":                                                      "probe needs more than vectors",
		"dev: [{protocol: bucc-refined, dir: x, tgt: en}]":                                               "bucc-refined needs more than vectors",
		"objective: {name: judge}\ntokenizer: {bos: <s>}":                                                "set tokenizer.eos",
		"objective: {name: judge}\nprefixes: {'*': {text: 'query: '}}":                                   "remove prefixes",
		"objective: {name: judge}\nbitext: {max_tokens: 3}":                                              "bitext.max_tokens is 3, which leaves the objective judge no room for text: it needs at least 6",
		"objective: {name: judge}\nbitext: {max_tokens: 4}":                                              "bitext.max_tokens is 4, which leaves the objective judge no room for text: it needs at least 6",
		"objective: {name: judge}\nbitext: {max_tokens: 5}":                                              "bitext.max_tokens is 5, which leaves the objective judge no room for text: it needs at least 6",
		"objective: {name: judge}\nbitext: {batch_size: 1}":                                              "bitext.batch_size is 1, but the objective judge compares pairs",
		"dev: [{protocol: tatoeba, dir: x, tgt: en}]\nstop: {metric: tatoeba de accuracy, keep: -1}":     "stop.keep is -1",
		"dev: [{protocol: tatoeba, dir: x, tgt: en}]\nstop: {metric: tatoeba de accuracy, keep: 0}":      "stop.keep is 0",
		"dev: [{protocol: tatoeba, dir: x, tgt: en}]\nstop: {metric: tatoeba de accuracy, patience: -3}": "stop.patience is -3",
		"dev: [{protocol: xsim, dir: x, tgt: en}]\nstop: {metric: xsim deu_Latn error}":                  "better when it is lower",
		"steps: 7\n---\nsteps: 8":                                                                        "has a second document",
		"dev: [{protocol: bleu, dir: x, tgt: en}]":                                                       "bleu",
	} {
		path := filepath.Join(t.TempDir(), "preset.yaml")
		traintest.Write(t, path, text)
		_, err := ReadConfig(path)
		refused(t, err, want)
	}
}
