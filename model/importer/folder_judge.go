package importer

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"

	"bitextmine/encode/model"
	"bitextmine/encode/onnxgraph"
	"bitextmine/encode/tokenizer"
	"bitextmine/internal/badinput"
)

// classifies reports whether config.json is of a model that classifies sequences, which is a judge of pairs.
func (c *config) classifies() bool {
	return slices.ContainsFunc(c.Architectures, func(name string) bool {
		return strings.HasSuffix(name, "ForSequenceClassification")
	})
}

// translation matches the names of labels that are given to translations.
var translation = regexp.MustCompile(`(?i)^(translation|parallel|positive|equivalent|paraphrase|entailment|good|correct|yes|true)$`)

// labels are the names of a classifier's labels; two if config.json names none.
func (c *config) labels() []string {
	if len(c.Labels) == 0 {
		return []string{"LABEL_0", "LABEL_1"}
	}
	var names []string
	for _, id := range slices.Sorted(maps.Keys(c.Labels)) {
		names = append(names, c.Labels[id])
	}
	return names
}

// importJudge makes a judge of a folder of a sequence-classification model.
func importJudge(f *folder) error {
	labels := f.config.labels()
	if len(labels) > 2 {
		return badinput.Errorf("%s has the %d labels %s, but a judge has one logit, or two of which one says that a pair "+
			"is a translation: take a model of one or two labels", f.at("config.json"), len(labels), strings.Join(labels, ", "))
	}
	if f.Prefix != "" || f.Pooling != "" {
		return badinput.Errorf("%s is a judge, for which there is neither --prefix nor --pooling: leave them out", f.root)
	}
	judge := &model.Judge{Merge: model.EvenMerge}
	if judge.Translation = len(labels) - 1; translation.MatchString(labels[0]) {
		judge.Translation = 0
	}
	f.Manifest.Judge, f.Manifest.Normalise = judge, false
	f.Found("judge", "config.json", "%d of the labels %s says that a pair is a translation", judge.Translation, strings.Join(labels, ", "))
	twice := false
	for _, step := range []func(*folder) error{
		readCard, readTokenizer, func(f *folder) (err error) { twice, err = readPairs(f); return err },
		func(f *folder) error { return makeGraph(f, len(labels)) },
	} {
		if err := step(f); err != nil {
			return err
		}
	}
	f.Manifest.Tokens = model.TokenOutput{}
	judge.Segments = f.Manifest.Inputs.TokenTypes != ""
	v, err := tokenizer.OpenIn(f.Dir, f.Manifest.Tokenizer)
	if err != nil {
		return err
	}
	defer v.Close()
	_, eos := v.Ends()
	judge.Between = slices.Repeat(eos, map[bool]int{false: 1, true: 2}[twice])
	return nil
}

// readPairs reports whether the tokenizer puts two end tokens between the sentences of a pair, as RoBERTa's do, or one.
func readPairs(f *folder) (twice bool, err error) {
	var fast struct {
		Processor struct {
			Type string                       `json:"type"`
			Pair []map[string]json.RawMessage `json:"pair"`
		} `json:"post_processor"`
	}
	from := "config.json"
	twice = slices.Contains([]string{"roberta", "xlm-roberta", "camembert", "xlm-roberta-xl", "mpnet"}, f.config.ModelType)
	if name := f.first(tokenizerFile); name != "" {
		if _, err := f.json(name, &fast); err != nil {
			return false, err
		}
		switch fast.Processor.Type {
		case "RobertaProcessing", "BertProcessing":
			from, twice = name, fast.Processor.Type == "RobertaProcessing"
		case "TemplateProcessing":
			between, texts := 0, 0
			for _, item := range fast.Processor.Pair {
				if _, ok := item["Sequence"]; ok {
					texts++
				} else if texts == 1 {
					between++
				}
			}
			if between != 1 && between != 2 {
				return false, badinput.Errorf("%s puts %d special tokens between the sentences of a pair, but only one or two "+
					"can be put there: export the model with another tokenizer", f.at(name), between)
			}
			from, twice = name, between == 2
		}
	}
	f.Found("pairs", from, "%s between the sentences", map[bool]string{false: "one end token", true: "two end tokens"}[twice])
	return twice, nil
}

// takeLogits is for the graph of a judge.
func takeLogits(f *folder, name string, g *onnxgraph.Graph) error {
	output := "logits"
	if !slices.Contains(g.Outputs, output) && len(g.Outputs) == 1 {
		output = g.Outputs[0]
	}
	if !slices.Contains(g.Outputs, output) {
		return badinput.Errorf("%s has the outputs %s, none of which is logits: export it for sequence classification",
			f.at(name), strings.Join(g.Outputs, ", "))
	}
	if shape := g.Shapes[output]; len(shape) != 2 || shape[1] > 0 && shape[1] != f.Manifest.Dim {
		return badinput.Errorf("%s gives %s as %v, but config.json has %d labels: export it for sequence classification",
			f.at(name), output, shape, f.Manifest.Dim)
	}
	f.Manifest.Output, f.Manifest.Pooling = output, model.None
	f.Found("output", name, "%s, [batch, %d]", output, f.Manifest.Dim)
	return nil
}
