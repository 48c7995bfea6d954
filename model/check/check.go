// Package check tries an encoder: whether its tokenizer knows the scripts, its vectors have length 1, translations
// are nearer than other sentences, a vector depends on its sentence alone, it agrees with vectors that are known, and
// how fast it is.
package check

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"bitextmine/corpus"
	"bitextmine/encode"
	"bitextmine/encode/embedding"
	"bitextmine/encode/model"
	"bitextmine/internal/badinput"
)

// Golden is a sentence's vector by the encoder's own program. It need not have length 1.
type Golden struct {
	Language string    `json:"language"`
	Text     string    `json:"text"`
	Vector   []float32 `json:"vector"`
}

// Options are the settings of a check.
type Options struct {
	Encode    encode.Options
	Golden    []Golden
	MinCosine float64       // minimum cosine to a golden vector
	Measure   time.Duration // approximate time to measure the speed
}

// LanguageRow are the measurements on the probes of one language.
type LanguageRow struct {
	Probe
	Listed          bool    // the manifest lists it, or lists none
	Tokens, Unknown int     // numbers in all sentences
	Norm            float64 // the one farthest from 1
	Translation     float64 // mean cosine to the translations in the base language
	Other           float64 // mean of the greatest cosine to another sentence of the base language
	Nearest         int     // sentences whose translation is the nearest
}

// Report is a finished check.
type Report struct {
	Name      string
	Dim       int
	Base      string // language that all others are compared with: English, or the first that has a prefix
	Languages []LanguageRow
	Depends   int     // vectors that other sentences of a batch, or threads, change
	Golden    int     // vectors compared
	Agreement float64 // the smallest cosine to a golden vector
	Speed     float64 // sentences a second
	Failures  []string
	Warnings  []string
}

// Run checks an encoder. An encoder that fails has Failures; err ends the check.
func Run(ctx context.Context, m *model.Model, o Options) (r *Report, err error) {
	e, err := encode.Open(m, o.Encode)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	r = &Report{Name: e.Name(), Dim: e.Dim()}
	for _, step := range []func(context.Context, *model.Model, *encode.Encoder, Options) error{r.languages,
		r.independence, r.golden, r.speed} {
		if err := step(ctx, m, e, o); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// languages encodes the probes.
func (r *Report) languages(ctx context.Context, m *model.Model, e *encode.Encoder, _ Options) error {
	var base []float32
	right, all := 0, 0
	for _, p := range Probes {
		if _, err := m.Prefix(p.Language); err != nil {
			r.warn("%s has no prefix", p.Language)
			continue
		}
		row := LanguageRow{Probe: p, Listed: corpus.Lists(m.Languages, p.Language), Norm: 1}
		vectors := make([]float32, len(p.Sentences)*e.Dim())
		if err := e.Encode(ctx, p.Language, p.Sentences[:], vectors); err != nil {
			return fmt.Errorf("the sentences in %s: %w", p.Language, err)
		}
		if base == nil {
			r.Base, base = p.Language, vectors
		}
		if err := row.tokens(ctx, m, e); err != nil {
			return err
		}
		row.compare(vectors, base, e.Dim())
		if math.Abs(row.Norm-1) > 1e-3 {
			r.fail("a vector of %s has the length %.4f, not 1: write normalise: true", p.Language, row.Norm)
		}
		if p.Language != r.Base && row.Listed {
			right, all = right+row.Nearest, all+len(p.Sentences)
			if row.Nearest < len(p.Sentences) {
				r.warn("%s: %d of %d translations are not the nearest", p.Language, len(p.Sentences)-row.Nearest,
					len(p.Sentences))
			}
		}
		if row.Listed && row.Unknown*2 > row.Tokens {
			r.warn("%s: %d of %d tokens are unknown", p.Language, row.Unknown, row.Tokens)
		}
		r.Languages = append(r.Languages, row)
	}
	const enough = 0.6 // chance gives a third of three sentences
	if float64(right) < enough*float64(all) {
		r.fail("translations are the nearest for %d of %d sentences only: this encoder, or its tokenizer, pooling or prefix, does not fit these languages", right, all)
	}
	return nil
}

// tokens counts the sentences' tokens without special ones.
func (row *LanguageRow) tokens(ctx context.Context, m *model.Model, e *encode.Encoder) error {
	sequences, err := e.Sequences(ctx, row.Language, row.Sentences[:])
	if err != nil {
		return err
	}
	prefix, err := m.Prefix(row.Language)
	if err != nil {
		return err
	}
	v := e.Vocabulary()
	cut, err := v.Own(prefix)
	if err != nil {
		return err
	}
	unknown := int32(-1) // every text has pieces
	if id := v.Unknown(); id >= 0 {
		unknown = v.Number(id)
	}
	for i := range row.Sentences {
		own, _ := cut(sequences.At(i))
		row.Tokens += len(own)
		for _, id := range own {
			if id == unknown {
				row.Unknown++
			}
		}
	}
	return nil
}

// compare sets the cosines to the base language.
func (row *LanguageRow) compare(vectors, base []float32, dim int) {
	n := len(row.Sentences)
	for i := range n {
		v := vectors[i*dim:][:dim]
		if norm := math.Sqrt(dot(v, v)); math.Abs(norm-1) > math.Abs(row.Norm-1) {
			row.Norm = norm
		}
		other, own := math.Inf(-1), 0.0
		for j := range n {
			cosine := dot(v, base[j*dim:][:dim])
			if j == i {
				own = cosine
			} else {
				other = max(other, cosine)
			}
		}
		row.Translation += own / float64(n)
		row.Other += other / float64(n)
		if own > other {
			row.Nearest++
		}
	}
}

// independence encodes sentences of different lengths together and one by one.
func (r *Report) independence(ctx context.Context, m *model.Model, e *encode.Encoder, _ Options) error {
	language, texts := r.texts()
	together := make([]float32, len(texts)*r.Dim)
	if err := e.Encode(ctx, language, texts, together); err != nil {
		return err
	}
	alone := make([]float32, r.Dim)
	for i, text := range texts {
		if err := e.Encode(ctx, language, []string{text}, alone); err != nil {
			return err
		}
		if !slices.Equal(alone, together[i*r.Dim:][:r.Dim]) {
			r.Depends++
		}
	}
	if r.Depends > 0 {
		r.fail("%d of %d vectors depend on the other sentences of their batch: results would depend on sharding",
			r.Depends, len(texts))
	}
	return nil
}

// texts are sentences of many lengths, in the language of the first row.
func (r *Report) texts() (language string, texts []string) {
	for _, row := range r.Languages {
		texts = append(texts, row.Sentences[:]...)
		texts = append(texts, strings.Join(row.Sentences[:], " "))
	}
	if len(r.Languages) == 0 {
		return "", nil
	}
	return r.Languages[0].Language, texts
}

// golden compares with vectors of the encoder's own program.
func (r *Report) golden(ctx context.Context, _ *model.Model, e *encode.Encoder, o Options) error {
	r.Agreement = 1
	got := make([]float32, r.Dim)
	for i, g := range o.Golden {
		if len(g.Vector) != r.Dim {
			return badinput.Errorf("golden vector %d has %d numbers, but encoder %s has %d: give those of this encoder",
				i+1, len(g.Vector), r.Name, r.Dim)
		}
		if err := e.Encode(ctx, g.Language, []string{g.Text}, got); err != nil {
			return fmt.Errorf("golden sentence %d: %w", i+1, err)
		}
		want := slices.Clone(g.Vector)
		if err := encode.Unit(want); err != nil {
			return badinput.Errorf("golden vector %d %w", i+1, err)
		}
		cosine := dot(got, want)
		r.Golden++
		if cosine < o.MinCosine {
			r.fail("golden sentence %d, %q, has the cosine %.6f to its vector, less than %v", i+1, g.Text, cosine,
				o.MinCosine)
		}
		r.Agreement = min(r.Agreement, cosine)
	}
	return nil
}

// speed encodes the probes until the time is over.
func (r *Report) speed(ctx context.Context, _ *model.Model, e *encode.Encoder, o Options) error {
	language, texts := r.texts()
	const together = 512
	for len(texts) > 0 && len(texts) < together {
		texts = append(texts, texts...)
	}
	if len(texts) == 0 || o.Measure <= 0 {
		return nil
	}
	texts = texts[:together]
	vectors := make([]float32, len(texts)*r.Dim)
	begin, n := time.Now(), 0
	for n == 0 || time.Since(begin) < o.Measure {
		if err := e.Encode(ctx, language, texts, vectors); err != nil {
			return err
		}
		n += len(texts)
	}
	r.Speed = float64(n) / time.Since(begin).Seconds()
	return nil
}

func dot(a, b []float32) float64 { return float64(embedding.Dot(a, b)) }

func (r *Report) fail(format string, args ...any) {
	r.Failures = append(r.Failures, fmt.Sprintf(format, args...))
}

func (r *Report) warn(format string, args ...any) {
	r.Warnings = append(r.Warnings, fmt.Sprintf(format, args...))
}

// Err is the badinput error of an encoder that fails, or nil.
func (r *Report) Err() error {
	if len(r.Failures) == 0 {
		return nil
	}
	return badinput.Errorf("encoder %s fails: %s", r.Name, strings.Join(r.Failures, "; "))
}

// Print writes the report as a table.
func (r *Report) Print(out io.Writer) error {
	fmt.Fprintf(out, "encoder %s, %d numbers\n\n", r.Name, r.Dim)
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "language\tscript\ttokens\tunknown\tlength\ttranslation\tother\tnearest\t")
	for _, row := range r.Languages {
		note := ""
		if !row.Listed {
			note = "not listed by the manifest"
		}
		fmt.Fprintf(table, "%s\t%s\t%d\t%d\t%.4f\t%.3f\t%.3f\t%d of %d\t%s\n", row.Language, row.Script, row.Tokens,
			row.Unknown, row.Norm, row.Translation, row.Other, row.Nearest, len(row.Sentences), note)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	base := r.Base
	if base == Probes[0].Language {
		base = "English"
	}
	fmt.Fprintf(out, "\ntranslation: mean cosine to the translation in %s; other: to the nearest other sentence there\n", base)
	fmt.Fprintf(out, "vectors that depend on their batch: %d\n", r.Depends)
	if r.Golden > 0 {
		fmt.Fprintf(out, "golden vectors: %d, least cosine %.6f\n", r.Golden, r.Agreement)
	}
	if r.Speed > 0 {
		fmt.Fprintf(out, "speed: %.0f sentences/s\n", r.Speed)
	}
	for _, w := range r.Warnings {
		fmt.Fprintf(out, "warning: %s\n", w)
	}
	for _, f := range r.Failures {
		fmt.Fprintf(out, "failure: %s\n", f)
	}
	return nil
}
