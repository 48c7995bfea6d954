package round

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"bitextmine/bitext/label"
	"bitextmine/corpus/input"
	"bitextmine/encode/model"
	"bitextmine/internal/atomicfile"
	"bitextmine/internal/badinput"
	"bitextmine/pipeline"
	"bitextmine/pipeline/plan"
	"bitextmine/train/data"
)

// key identifies everything that a round's result depends on, except its directory.
func (r *runner) key(k int, mining pipeline.Config) (string, error) {
	mined, err := pipeline.Digest(mining)
	if err != nil {
		return "", err
	}
	training := r.config.Training
	of := []any{k, mined, &training, r.config.MinScore, r.config.MinProb}
	if r.config.WithSources {
		read, err := digestSources(training.Bitext)
		if err != nil {
			return "", err
		}
		of = append(of, read)
	} else {
		training.Bitext.Sources = nil // it only depends on the directory
	}
	named, err := r.named()
	if err != nil {
		return "", err
	}
	of = append(of, named...)
	text, err := json.Marshal(of)
	if err != nil {
		return "", err
	}
	return atomicfile.DigestOf(text)[:32], nil
}

// named identifies the content of what else the preset names, and the setting that its JSON lacks. A preset without
// them has none, so that its rounds keep the keys of earlier versions.
func (r *runner) named() (of []any, err error) {
	c := r.config.Training
	add := func(setting, path string, digest func(string) ([]string, error)) {
		if path == "" || err != nil {
			return
		}
		content, failed := digest(path)
		if failed != nil {
			err = badinput.Errorf("%s: %w", setting, failed)
			return
		}
		of = append(of, append([]string{setting}, content...))
	}
	if c.Encoder.Transformer.KeepAttention {
		of = append(of, "encoder.transformer.keep_attention")
	}
	start := digestFiles
	if c.Encoder.Of().Tokenizer != nil { // the start is an encoder, perhaps a built-in one
		start = digestModel
	}
	add("encoder.start", c.Encoder.Start, start)
	add("tokenizer.file", c.Tokenizer.File, digestFiles)
	add("objective.teacher", c.Objective.Needs().Teacher, digestModel)
	for _, set := range c.Dev {
		add("dev", set.Dir, r.digestOutside)
	}
	if !r.config.WithSources { // digestSources has them otherwise
		for _, pattern := range c.Bitext.Exclude {
			add("bitext.exclude", pattern, digestFiles)
		}
	}
	return of, err
}

func digestModel(ref string) ([]string, error) {
	m, err := model.Load(ref)
	if err != nil {
		return nil, err
	}
	return []string{m.Digest}, nil
}

// digestFiles identifies the content of the files of a pattern.
func digestFiles(pattern string) ([]string, error) { return digestOf([]string{pattern}) }

// digestOf identifies the content of the files of patterns together.
func digestOf(patterns []string) ([]string, error) {
	files, err := input.Expand(nil, patterns)
	if err != nil {
		return nil, err
	}
	return digestAll(files)
}

// digestOutside is digestFiles without what the rounds themselves write.
func (r *runner) digestOutside(dir string) ([]string, error) {
	files, err := input.Expand(nil, []string{dir})
	if err != nil {
		return nil, err
	}
	out, err := filepath.Abs(r.options.Out)
	if err != nil {
		return nil, err
	}
	return digestAll(slices.DeleteFunc(files, func(f input.File) bool {
		path, err := filepath.Abs(f.Path)
		return err == nil && strings.HasPrefix(path, out+string(filepath.Separator))
	}))
}

func digestAll(files []input.File) (content []string, err error) {
	for _, file := range files {
		of, err := plan.DigestInput(file)
		if err != nil {
			return nil, err
		}
		content = append(content, fmt.Sprint(of.Bytes, " ", of.SHA256))
	}
	return content, nil
}

// digestSources identifies the content of all files that a preset's sources name, in their order.
func digestSources(c data.Config) (content []string, err error) {
	add := func(patterns []string) error {
		of, err := digestOf(patterns)
		content = append(content, of...)
		return err
	}
	for _, s := range c.Sources {
		err := add(s.Files)
		for _, file := range slices.Concat(s.Aligned, s.Alignments) { // each belongs to one of the files: their order counts
			err = errors.Join(err, add([]string{file}))
		}
		if err == nil && s.Labels != "" {
			var labels []label.Label
			labels, err = label.Latest(s.Labels)
			content = append(content, plan.DigestLabels(labels))
		}
		if err != nil {
			return nil, err
		}
	}
	return content, add(c.Exclude)
}
