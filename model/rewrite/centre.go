package rewrite

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"os"
	"path/filepath"
	"slices"

	"gopkg.in/yaml.v3"

	"bitextmine/encode"
	"bitextmine/encode/embedding"
	"bitextmine/encode/model"
	"bitextmine/internal/atomicfile"
	"bitextmine/internal/badinput"
)

// Text is normalised sentences of one language.
type Text struct {
	Language  string
	Sentences iter.Seq2[string, error]
	// Optional: it is left out if the encoder has prefixes, and none for the language.
	Optional bool
}

// Mean is the mean of unit vectors.
type Mean struct {
	Language  string
	Sentences int
	Vector    []float64
}

// Length is the L2 norm of a mean: 0 if the vectors point everywhere, 1 if all are the same.
func (m Mean) Length() float64 {
	sum := 0.0
	for _, x := range m.Vector {
		sum += x * x
	}
	return math.Sqrt(sum)
}

// Centred describes a centre that was computed and written.
type Centred struct {
	Manifest  string // path
	File      string // the vector's, beside it
	Languages []Mean
	All       Mean // mean of the languages' means, without a language
}

// minSentences is the number of sentences of a language that its mean needs.
const minSentences = 100

// Centre computes the centre of an encoder on disk and writes it: a file beside the manifest, and the manifest's field.
// A centre that the manifest has is replaced. If own is set, each language of the texts has its own mean subtracted,
// and other languages that of all.
func Centre(ctx context.Context, ref string, texts []Text, own bool, o encode.Options) (*Centred, error) {
	m, err := model.Load(ref)
	if err != nil {
		return nil, err
	}
	if !m.OnDisk() {
		return nil, badinput.Errorf("encoder %s is built into the program, and its manifest cannot be changed: copy its directory and name the copy", m.Name)
	}
	manifest := ref
	if info, err := os.Stat(ref); err == nil && info.IsDir() {
		manifest = filepath.Join(ref, model.FileName)
	}
	r := &Centred{Manifest: manifest}
	if err := r.compute(ctx, m, texts, o); err != nil {
		return nil, err
	}
	return r, r.write(m, own)
}

// compute encodes the texts without the centre that the manifest may have.
func (r *Centred) compute(ctx context.Context, m *model.Model, texts []Text, o encode.Options) (err error) {
	plain := *m
	plain.Centre = model.Centre{}
	e, err := encode.Open(&plain, o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	r.All.Vector = make([]float64, e.Dim())
	for _, text := range texts {
		if _, err := m.Prefix(text.Language); err != nil && text.Optional {
			continue
		}
		at := slices.IndexFunc(r.Languages, func(m Mean) bool { return m.Language == text.Language })
		if at < 0 {
			at = len(r.Languages)
			r.Languages = append(r.Languages, Mean{Language: text.Language, Vector: make([]float64, e.Dim())})
		}
		sum := r.Languages[at].Vector
		n, err := e.Stream(ctx, text.Language, text.Sentences, func(rows []float32) error {
			for i, x := range rows {
				sum[i%e.Dim()] += float64(x)
			}
			return nil
		})
		if err != nil {
			return fmt.Errorf("the text of %s: %w", text.Language, err)
		}
		r.Languages[at].Sentences += n
		r.All.Sentences += n
	}
	if r.Languages == nil {
		return badinput.Errorf("encoder %s has no prefix for any of the languages that the program has sentences in: name sentences of your own by --text", m.Name)
	}
	for _, mean := range r.Languages {
		if mean.Sentences < minSentences {
			return badinput.Errorf("the text of %s has %d sentences, too few for a mean: give at least %d",
				mean.Language, mean.Sentences, minSentences)
		}
		for k := range mean.Vector {
			mean.Vector[k] /= float64(mean.Sentences)
			r.All.Vector[k] += mean.Vector[k] / float64(len(r.Languages))
		}
	}
	return nil
}

// write publishes the vectors under a name of their own, then the manifest, and then removes the earlier vectors: at
// any moment the manifest names a file that fits it.
func (r *Centred) write(m *model.Model, own bool) error {
	var field model.Centre
	means := []Mean{r.All}
	if own {
		means = append(slices.Clone(r.Languages), r.All)
		for _, mean := range r.Languages {
			field.Languages = append(field.Languages, mean.Language)
		}
	}
	var rows []float32
	for _, mean := range means {
		for _, x := range mean.Vector {
			rows = append(rows, float32(x))
		}
	}
	data := embedding.Array(rows, len(r.All.Vector))
	digest := atomicfile.DigestOf(data)
	r.File = filepath.Join(filepath.Dir(r.Manifest), "centre-"+digest[:8]+".npy")
	old, err := os.ReadFile(r.Manifest)
	if err != nil {
		return err
	}
	field.File, field.SHA256 = filepath.Base(r.File), digest
	changed, err := withCentre(old, field)
	if err != nil {
		return badinput.Errorf("%s: %w", r.Manifest, err)
	}
	if err := atomicfile.WriteBytes(r.File, data); err != nil {
		return err
	}
	if err := atomicfile.WriteBytes(r.Manifest, changed); err != nil {
		return err
	}
	if before := m.Centre.File; before != "" && before != filepath.Base(r.File) {
		return os.Remove(filepath.Join(filepath.Dir(r.Manifest), filepath.FromSlash(before)))
	}
	return nil
}

// withCentre sets the field of a manifest and leaves its comments.
func withCentre(manifest []byte, c model.Centre) ([]byte, error) {
	var file, field yaml.Node
	if err := yaml.Unmarshal(manifest, &file); err != nil {
		return nil, err
	}
	if err := field.Encode(c); err != nil {
		return nil, err
	}
	fields := file.Content[0]
	for i := 0; i < len(fields.Content); i += 2 {
		if fields.Content[i].Value == "centre" {
			fields.Content[i+1] = &field
			return yaml.Marshal(&file)
		}
	}
	fields.Content = append(fields.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: "centre"}, &field)
	return yaml.Marshal(&file)
}

// Print writes the result for a person.
func (r *Centred) Print(out io.Writer) error {
	for _, m := range r.Languages {
		fmt.Fprintf(out, "%-4s %6d sentences, their mean vector has length %.3f\n", m.Language, m.Sentences, m.Length())
	}
	fmt.Fprintf(out, "the mean of all languages has length %.3f: %s\n", r.All.Length(), r.File)
	_, err := fmt.Fprintf(out, "%s names it now. The encoder's vectors are others: what was encoded with it before is encoded again, and a scorer\nor a threshold that was fitted for it has to be fitted anew.\n", r.Manifest)
	return err
}
