// Package filtering annotates a bitext file and applies rules to it. The rows stay: what a rule rejects has keep =
// false and the rule's name among its reasons.
//
// Annotations are computed in two passes over the file, of which the first learns what some of them must know of the
// whole (package filter/annotate). A file that has the annotations already is read once, and only the rules are
// applied.
package filtering

import (
	"context"
	"errors"
	"io"
	"maps"
	"os"
	"strconv"
	"strings"

	"bitextmine/bitext/label"
	"bitextmine/bitext/table"
	"bitextmine/filter/annotate"
	"bitextmine/filter/rule"
	"bitextmine/internal/atomicfile"
	"bitextmine/internal/badinput"
)

// Options say what to filter and how.
type Options struct {
	Files    []string // one bitext file, or two line-aligned ones
	Table    table.Options
	Rules    *rule.Set
	Labels   []label.Label // what people decided on pairs: it stands whatever the rules say, with the texts that they gave
	Fix      bool          // add the columns of texts that are repaired
	Anew     bool          // compute the annotations even if the file has them
	Samples  int           // pairs that the report has for each rule
	Out      string        // Parquet file to write; empty: none
	Temp     string        // folder for temporary files; empty: the system's
	Progress func(rows uint64, annotated bool)
}

// prefix begins the reasons that rules give, so that they can be told from those of mining.
const prefix = "filter:"

// Run filters a file and reports what the rules reject.
func Run(ctx context.Context, opts Options) (_ *Report, err error) {
	opts.Table.Known = true
	first, metadata, err := peek(ctx, &opts)
	if err == nil {
		err = refuseNames(first, metadata, opts.Files)
	}
	if err != nil {
		return nil, err
	}
	f := &filterer{opts: opts, report: newReport(opts.Rules, opts.Samples), labels: label.IndexOf(opts.Labels)}
	if !opts.Anew && isAnnotated(first, metadata) {
		f.annotated = readAnnotatedOf(metadata).serves(opts.Table)
		f.report.Others = !f.annotated
	}
	if err := opts.Rules.Bind(Kinds(first)); err != nil {
		return nil, err
	}
	if !f.annotated {
		if f.survey, err = annotate.NewSurvey(opts.Temp); err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, f.survey.Close()) }()
		if err := f.learn(ctx); err != nil {
			return nil, err
		}
	}
	f.report.Reused = f.annotated
	if opts.Out == "" {
		return f.report, f.apply(ctx, nil)
	}
	return f.report, atomicfile.Write(opts.Out, func(to *os.File) error {
		said := maps.Clone(metadata)
		if said == nil {
			said = map[string]string{}
		}
		said[metadataVersion], said[metadataRules] = strconv.Itoa(annotate.Version), describe(opts.Rules)
		of := subjectOf(opts.Table)
		if f.annotated {
			of = readAnnotatedOf(metadata)
		}
		of.columns = usual.columns // they are written so
		said[metadataOf] = of.String()
		w := table.NewParquetWriter(to, said)
		if err := f.apply(ctx, w.Write); err != nil {
			return err
		}
		return w.Close()
	})
}

// describe is the rules as the metadata have them.
func describe(rules *rule.Set) string {
	lines := make([]string, len(rules.Rules))
	for i, r := range rules.Rules {
		lines[i] = r.Name + ": " + r.Condition
	}
	return strings.Join(lines, "\n")
}

// peek reads the first batch. If no columns of texts are named, they are those that the file's annotations are of.
func peek(ctx context.Context, opts *Options) (_ *table.Batch, metadata map[string]string, err error) {
	r, err := table.Open(opts.Files, opts.Table)
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	metadata = r.Metadata()
	if annotated := readAnnotatedOf(metadata).columns; !opts.Table.MustName && annotated != usual.columns && subjectOf(opts.Table).columns == usual.columns {
		opts.Table.SourceColumn, opts.Table.TargetColumn = annotated[0], annotated[1]
		return peek(ctx, opts)
	}
	b, err := r.Next(ctx)
	if errors.Is(err, io.EOF) {
		err = badinput.Errorf("%s has no pair with a text on both sides: give a file with some, or name its columns with --src-column and --tgt-column", strings.Join(opts.Files, ", "))
	}
	if err == nil {
		b, err = withLanguages(b, opts.Table)
	}
	return b, metadata, err
}

// filterer is one call of Run.
type filterer struct {
	opts      Options
	annotated bool
	survey    *annotate.Survey
	report    *Report
	labels    label.Index
}

// each calls do for every batch of the file.
func (f *filterer) each(ctx context.Context, do func(b *table.Batch) error) error {
	var reader *table.Reader
	defer func() {
		if reader != nil {
			f.report.Lacking, f.report.Bad = reader.Lacking(), reader.Bad()
		}
	}()
	return table.Each(ctx, f.opts.Files, f.opts.Table, func(r *table.Reader, b *table.Batch) (err error) {
		reader = r
		f.report.Unnamed = r.Unnamed()
		if b, err = withLanguages(b, f.opts.Table); err != nil {
			return err
		}
		if len(f.labels) > 0 {
			if b, err = f.labels.Apply(b); err != nil {
				return err
			}
		}
		return do(b)
	})
}

// learn is the first pass.
func (f *filterer) learn(ctx context.Context) error {
	err := f.each(ctx, func(b *table.Batch) error {
		s, err := f.sidesOf(b)
		if err != nil {
			return err
		}
		keys := make([]annotate.Keys, b.Len())
		err = Parallel(b.Len(), func(from, to int) error {
			var scratch annotate.Scratch
			for i := from; i < to; i++ {
				source, target := s.texts(i)
				keys[i] = scratch.KeysOf(source, target)
			}
			return ctx.Err()
		})
		for i := 0; i < len(keys) && err == nil; i++ {
			source, target := s.languages(i)
			err = f.survey.Add(&keys[i], source, target)
		}
		f.progress(b, false)
		return err
	})
	if err != nil {
		return err
	}
	return f.survey.Finish()
}

// apply is the second pass, or the only one. write may be nil.
func (f *filterer) apply(ctx context.Context, write func(b *table.Batch) error) error {
	return f.each(ctx, func(b *table.Batch) error {
		var err error
		if !f.annotated {
			if b, err = f.annotate(ctx, b); err != nil {
				return err
			}
		}
		if f.opts.Fix {
			if b, err = f.fix(b); err != nil {
				return err
			}
		}
		if b, err = f.decide(b); err != nil {
			return err
		}
		f.progress(b, true)
		if write == nil {
			return nil
		}
		if b, err = b.Usual(f.opts.Table.SourceColumn, f.opts.Table.TargetColumn); err != nil {
			return err
		}
		return write(b)
	})
}

func (f *filterer) progress(b *table.Batch, annotated bool) {
	if f.opts.Progress != nil {
		f.opts.Progress(b.First()+uint64(b.Len()), annotated)
	}
}
