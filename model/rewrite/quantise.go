package rewrite

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"gopkg.in/yaml.v3"

	"bitextmine/bitext/exchange"
	"bitextmine/encode"
	"bitextmine/encode/embedding"
	"bitextmine/encode/model"
	"bitextmine/internal/atomicfile"
	"bitextmine/internal/badinput"
)

// QuantiseOptions are the settings of a quantisation.
type QuantiseOptions struct {
	Model, Out string
	Name       string // the new encoder's; empty: the old name and -int8
	Encode     encode.Options
}

// Quantised describes a quantisation.
type Quantised struct {
	Out           string
	Changed       counts
	Before, After int     // bytes of the graphs
	Sentences     int     // compared
	Languages     int     // languages of these sentences
	Min, Mean     float64 // cosine to the vectors of the encoder as it was
	Ratio         float64 // ratio of the speeds in sentences a second
	// Judge says that it is a judge: Sentences are pairs, and Mean is the correlation of their logits.
	Judge bool
	Rate  float64 // pairs that the judge in 8 bits judges in a second
}

// minMean is the mean cosine that publishing needs: other kinds of graphs may lose more than those that were measured.
const minMean = 0.98

// Quantise writes an encoder with its weights in 8 bits, and with products of 8-bit numbers, to a new directory, whole
// or not at all.
func Quantise(ctx context.Context, o QuantiseOptions) (_ *Quantised, err error) {
	if o.Out == "" {
		return nil, badinput.Errorf("--out is missing: name a directory for the encoder in 8 bits")
	}
	if _, err := os.Lstat(o.Out); err == nil {
		return nil, badinput.Errorf("--out %s exists already: name another directory or remove it", o.Out)
	}
	m, err := model.LoadAny(o.Model)
	if err != nil {
		return nil, err
	}
	r := &Quantised{Out: o.Out}
	tmp := filepath.Clean(o.Out) + atomicfile.Suffix
	defer func() { err = errors.Join(err, os.RemoveAll(tmp)) }()
	if err := errors.Join(os.RemoveAll(tmp), os.MkdirAll(tmp, 0o777)); err != nil {
		return nil, err
	}
	if err := r.write(m, tmp, o.Name); err != nil {
		return nil, err
	}
	compare := r.compare
	if m.Judge != nil {
		compare = r.compareJudges
	}
	if err := compare(ctx, m, tmp, o.Encode); err != nil {
		return nil, err
	}
	if err := os.Rename(tmp, o.Out); err != nil {
		return nil, err
	}
	return r, atomicfile.SyncDir(filepath.Dir(filepath.Clean(o.Out)))
}

// write fills a directory with the graph in 8 bits, the manifest and the files that it names.
func (r *Quantised) write(m *model.Model, dir, name string) (err error) {
	data, err := m.Graph()
	if err != nil {
		return err
	}
	external := m.OpenExternal()
	defer func() { err = errors.Join(err, external.Close()) }()
	r.After, r.Changed, err = products(data, m.Output, filepath.Join(dir, "model.onnx"), external.Open)
	if err != nil {
		return badinput.Errorf("%s of encoder %s: %w", m.Path(m.ONNX), m.Name, err)
	}
	if r.Changed == (counts{}) {
		return badinput.Errorf("%s of encoder %s has no product with float32 weights: there is nothing to quantise",
			m.Path(m.ONNX), m.Name)
	}
	size, err := m.Size(append([]string{m.ONNX}, m.External...)...)
	if err != nil {
		return err
	}
	r.Before = int(size)
	manifest := m.Manifest
	manifest.External = nil
	manifest.ONNX, manifest.SHA256, manifest.Quantised = "model.onnx", "", model.QuantisedVersion
	if manifest.Name = name; name == "" {
		manifest.Name = m.Name + "-int8"
	}
	for _, file := range []*string{&manifest.Tokenizer.File, &manifest.Tokenizer.Dictionary, &manifest.Centre.File} {
		if *file == "" {
			continue
		}
		content, err := m.ReadFile(*file)
		if err != nil {
			return err
		}
		*file = filepath.Base(*file)
		if err := atomicfile.WriteBytes(filepath.Join(dir, *file), content); err != nil {
			return err
		}
	}
	text, err := yaml.Marshal(manifest)
	if err != nil {
		return err
	}
	return atomicfile.WriteBytes(filepath.Join(dir, model.FileName), text)
}

// sample is some of the program's own sentences in each language that an encoder has a prefix for, if it has prefixes.
func sample(m *model.Model) (languages []string, texts [][]string, err error) {
	const each = 20
	own, sentences, err := exchange.FixtureText()
	if err != nil {
		return nil, nil, err
	}
	for i, all := range sentences {
		if _, err := m.Prefix(own[i]); err != nil {
			continue
		}
		var some []string
		for k := range each {
			some = append(some, all[k*len(all)/each])
		}
		languages, texts = append(languages, own[i]), append(texts, some)
	}
	if languages == nil {
		return nil, nil, badinput.Errorf("encoder %s has no prefix for any of the languages %s, in which its vectors are compared: add one to prefixes in its %s, or %q for every language that is not listed",
			m.Name, strings.Join(own, ", "), model.FileName, model.AnyLanguage)
	}
	return languages, texts, nil
}

// compare encodes the sample with both encoders, by turns.
func (r *Quantised) compare(ctx context.Context, before *model.Model, dir string, o encode.Options) (err error) {
	after, err := model.Load(dir)
	if err != nil {
		return fmt.Errorf("the encoder in 8 bits: %w", err)
	}
	var encoders [2]*encode.Encoder
	for i, m := range []*model.Model{before, after} {
		if encoders[i], err = encode.Open(m, o); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, encoders[i].Close()) }()
	}
	languages, texts, err := sample(before)
	if err != nil {
		return err
	}
	var took [2]time.Duration
	r.Min, r.Languages = 1, len(languages)
	for i, language := range languages {
		var rows [2][]float32
		for k, e := range encoders {
			rows[k] = make([]float32, len(texts[i])*e.Dim())
			start := time.Now()
			if err := e.Encode(ctx, language, texts[i], rows[k]); err != nil {
				return err
			}
			took[k] += time.Since(start)
		}
		dim := encoders[0].Dim()
		for at := 0; at < len(rows[0]); at += dim {
			cosine := float64(embedding.Dot(rows[0][at:at+dim], rows[1][at:at+dim]))
			r.Min, r.Mean, r.Sentences = min(r.Min, cosine), r.Mean+cosine, r.Sentences+1
		}
	}
	r.Mean /= float64(r.Sentences)
	r.Ratio = took[0].Seconds() / took[1].Seconds()
	if !(r.Mean >= minMean) {
		return badinput.Errorf("encoder %s loses too much in 8 bits: the mean cosine to its own vectors is %.4f, less than %.2f; nothing was written", before.Name, r.Mean, minMean)
	}
	return nil
}

// Print writes the result for a person.
func (r *Quantised) Print(out io.Writer) error {
	if r.Judge {
		_, err := fmt.Fprintf(out, `%d products and %d tables in 8 bits: %.1f MB instead of %.1f
correlation with the logits of the judge as it was, %d pairs in nine languages with English: %.4f
%.0f pairs a second: %.1f times as many
the judge is %s
`, r.Changed.Products, r.Changed.Tables, float64(r.After)/1e6, float64(r.Before)/1e6, r.Sentences, r.Mean, r.Rate, r.Ratio, r.Out)
		return err
	}
	_, err := fmt.Fprintf(out, `%d products, %d convolutions and %d tables in 8 bits: %.1f MB instead of %.1f
cosine to the encoder as it was, %d sentences in %d languages: least %.4f, mean %.4f
sentences a second: %.1f times as many
the encoder is %s
`, r.Changed.Products, r.Changed.Convolutions, r.Changed.Tables, float64(r.After)/1e6, float64(r.Before)/1e6, r.Sentences, r.Languages, r.Min, r.Mean, r.Ratio, r.Out)
	return err
}
