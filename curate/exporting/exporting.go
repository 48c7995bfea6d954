// Package exporting takes pairs from a table of bitext by conditions, divides them into training, development and test
// sets, and writes them in the formats that other programs read.
//
// Memory does not grow with the table. Sorting reads the table once for the values and then once for every half a
// million rows that are exported, or for all rows of one value.
//
// # Formats
//
// The formats are TSV, CSV, Moses' line-aligned files, TMX 1.4, XLIFF 2.0, PO, JSON lines, Parquet, and the layout of
// Hugging Face datasets. Each format is a Writer of batches; nothing is kept in memory between two of them.
package exporting

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"bitextmine/bitext/label"
	"bitextmine/bitext/table"
	"bitextmine/curate/filtering"
	"bitextmine/filter/rule"
	"bitextmine/internal/atomicfile"
	"bitextmine/internal/badinput"
)

// Options say what to export and how.
type Options struct {
	Files       []string
	Read        []string // other files that are read, none of which may be written
	Table       table.Options
	Format      string // a name of Formats, or HuggingFace
	Out         string
	Compression string // "", gz or zst
	Breaks      Breaks
	Columns     []string // columns to carry; nil: all, or none in a format for translators; "all"
	All         bool     // also the rows that are not kept
	MinScore    *float64 // minimum of the column score
	Where       *rule.Set
	Sort        string // a column of numbers, descending; empty: the table's order
	Ascending   bool
	Split       Split
	Labels      []label.Label // what people decided on pairs; they become the column label
	Licence     string        // names the licence in the description of a Hugging Face data set
	Anonymise   Anonymise
	Domains     string // TSV file of counts by domain to write beside; empty: none
	// DedupURLs writes a pair of texts once, with all addresses that it was seen at. Places lists them by sentence; nil:
	// those of the exported rows.
	DedupURLs bool
	Places    Places
	Version   string // the program's, which formats for translators name
	// Progress is called with the rows that are read, in every reading of the table; nil: nothing is.
	Progress func(rows uint64)
}

// exporter is one call of Run. It has so many methods because its steps, reading, choosing, sorting and writing sets,
// share what it knows.
type exporter struct {
	opts     Options
	format   *Format
	metadata map[string]string
	first    *table.Batch
	report   Report
	domains  domains
	seen     *seen // nil: pairs are written as they are
}

// Run exports.
func Run(ctx context.Context, opts Options) (*Report, error) {
	opts.Table.Whole = true
	e := &exporter{opts: opts}
	if err := e.begin(ctx); err != nil {
		return nil, err
	}
	if opts.DedupURLs {
		if err := e.look(ctx); err != nil {
			return nil, err
		}
	}
	sets := e.sets()
	for _, s := range sets {
		for _, file := range s.files {
			if err := atomicfile.RefuseInput(file, slices.Concat(opts.Files, opts.Read)...); err != nil {
				return nil, err
			}
			if opts.Domains != "" && filepath.Clean(opts.Domains) == filepath.Clean(file) {
				return nil, badinput.Errorf("--domains and --out name the same file %s: give each its own", file)
			}
		}
	}
	stale, err := earlier(e, sets)
	if err != nil {
		return nil, err
	}
	err = e.create(sets, func() error {
		if opts.Sort == "" {
			return e.each(ctx, func(b *table.Batch, rows []int) error { return e.write(sets, b, rows) })
		}
		return e.sorted(ctx, sets)
	})
	for _, file := range stale {
		if err == nil {
			err = os.Remove(file)
		}
	}
	if err == nil && e.domains != nil {
		err = e.domains.write(opts.Domains)
	}
	if err == nil && opts.Format == HuggingFace {
		err = e.describe(sets)
	}
	if err != nil {
		return nil, err
	}
	if e.seen != nil {
		e.report.Addresses = e.seen.addresses.Len()
	}
	for _, s := range sets {
		e.report.Written += s.pairs
		e.report.Sets = append(e.report.Sets, SetReport{s.name, s.pairs, s.files})
	}
	return &e.report, nil
}

// begin reads the first rows and checks the options against them.
func (e *exporter) begin(ctx context.Context) (err error) {
	if e.format, err = formatOf(e.opts.Format); err != nil {
		return err
	}
	if err := e.format.refuse(e.opts); err != nil {
		return err
	}
	r, err := table.Open(e.opts.Files, e.opts.Table)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	if e.first, err = r.Next(ctx); errors.Is(err, io.EOF) {
		return badinput.Errorf("%s has no pair with a text on both sides: give a file with some, or name its columns with --src-column and --tgt-column", strings.Join(e.opts.Files, ", "))
	}
	if err != nil {
		return err
	}
	if len(e.opts.Labels) > 0 {
		if e.first, err = label.IndexOf(e.opts.Labels).Apply(e.first); err != nil {
			return err
		}
	}
	if e.report.SplitBy, e.report.PassedOver, err = e.opts.Split.column(e.first, e.opts.Table.SourceColumn); err != nil {
		return err
	}
	if e.first, err = e.anonymise(e.first, 1); err != nil {
		return err
	}
	for flag, asked := range map[string]bool{"--domains": e.opts.Domains != "", "--dedup-urls": e.opts.DedupURLs} {
		if asked && (!e.first.Has(urlColumns[0]) || !e.first.Has(urlColumns[1])) {
			return badinput.Errorf("%s: the bitext has no columns %s and %s: mine with --url-column", flag, urlColumns[0], urlColumns[1])
		}
	}
	if e.opts.Domains != "" {
		e.domains = domains{}
	}
	if e.opts.DedupURLs {
		if e.first, err = withSeen(e.first, make([][2]*group, e.first.Len()), &addresses{}); err != nil {
			return err
		}
	}
	e.metadata = r.Metadata()
	filtering.Disown(e.metadata, e.opts.Table, e.opts.Anonymise == InTexts)
	if e.opts.Where != nil {
		if err := e.opts.Where.Bind(filtering.Kinds(e.first)); err != nil {
			return err
		}
	}
	if e.opts.Columns = e.columns(); e.opts.Columns != nil {
		_, err = e.first.Only(e.opts.Columns)
	}
	if err == nil {
		e.opts.Table.Columns = needed(e)
	}
	return err
}

// refuse refuses what the format has no place for.
func (f *Format) refuse(opts Options) error {
	switch {
	case opts.Compression != "" && !f.Plain:
		return badinput.Errorf("%s is compressed inside: leave --compress out", f.Name)
	case f.Sides && opts.Anonymise == AsColumns:
		return badinput.Errorf("%s has texts alone: give --anonymise texts, or a format with columns", f.Name)
	case f.Sides && len(opts.Columns) > 0:
		return badinput.Errorf("%s has texts alone: leave --columns out, or give a format with columns", f.Name)
	case f.Sides && opts.DedupURLs:
		return badinput.Errorf("%s has texts alone, and --dedup-urls writes columns: give another format", f.Name)
	}
	return nil
}

func formatOf(name string) (*Format, error) {
	if name == HuggingFace {
		name = "parquet"
	}
	names := []string{HuggingFace}
	for i := range Formats {
		if Formats[i].Name == name {
			return &Formats[i], nil
		}
		names = append(names, Formats[i].Name)
	}
	return nil, badinput.Errorf("%q is no format to export: the formats are %s", name, strings.Join(names, ", "))
}

// each calls do with every batch and the rows of it that are exported. Meanwhile the next batch is read.
func (e *exporter) each(ctx context.Context, do func(b *table.Batch, rows []int) error) (err error) {
	r, err := table.Open(e.opts.Files, e.opts.Table)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	work, ctx := errgroup.WithContext(ctx)
	batches := make(chan *table.Batch, 1)
	work.Go(func() error {
		defer close(batches)
		return e.read(ctx, r, batches)
	})
	e.report.Read = 0
	work.Go(func() error {
		for b := range batches {
			rows, err := e.chosen(b)
			if err == nil {
				err = do(b, rows)
			}
			if err != nil {
				return err
			}
			e.report.Read += uint64(b.Len())
			if e.opts.Progress != nil {
				e.opts.Progress(e.report.Read)
			}
		}
		return nil
	})
	err = work.Wait()
	e.report.Lacking, e.report.Bad, e.report.Unnamed = r.Lacking(), r.Bad(), r.Unnamed()
	return err
}

// read sends every batch of a table.
func (e *exporter) read(ctx context.Context, r *table.Reader, batches chan<- *table.Batch) error {
	labels := label.IndexOf(e.opts.Labels)
	for {
		b, err := r.Next(ctx)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil && len(labels) > 0 {
			b, err = labels.Apply(b)
		}
		if err != nil {
			return err
		}
		select {
		case batches <- b:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// chosen lists the rows of a batch that are exported.
func (e *exporter) chosen(b *table.Batch) (rows []int, err error) {
	var conditions []func(i int) bool
	if !e.opts.All {
		keep, err := b.Keep()
		if err != nil {
			return nil, err
		}
		conditions = append(conditions, keep)
	}
	if len(e.opts.Labels) > 0 && !e.opts.All {
		labels, err := b.Texts(label.Column)
		if err != nil {
			return nil, err
		}
		conditions = append(conditions, func(i int) bool { text, _ := labels(i); return text != label.Rejected })
	}
	if e.opts.MinScore != nil {
		score, err := b.Numbers("score")
		if err != nil {
			return nil, err
		}
		conditions = append(conditions, func(i int) bool { return score(i) >= *e.opts.MinScore })
	}
	if e.opts.Where != nil {
		values, err := filtering.Values(b, e.opts.Where)
		if err != nil {
			return nil, err
		}
		row := e.opts.Where.NewRow()
		conditions = append(conditions, func(i int) bool {
			values(i, row)
			return e.opts.Where.Rules[0].Rejects(row)
		})
	}
	rows = make([]int, 0, b.Len())
	for i := range b.Len() {
		if !slices.ContainsFunc(conditions, func(holds func(int) bool) bool { return !holds(i) }) {
			rows = append(rows, i)
		}
	}
	return rows, nil
}

// write writes rows of a batch to their sets.
func (e *exporter) write(sets []*set, b *table.Batch, rows []int) error {
	if e.seen != nil {
		var err error
		if b, err = e.once(b, rows); err != nil {
			return err
		}
		rows = upTo(b.Len())
	}
	if e.domains != nil {
		if err := e.domains.add(b, rows, [2]string{e.opts.Table.SourceColumn, e.opts.Table.TargetColumn}); err != nil {
			return err
		}
	}
	parts := [][]int{rows}
	if len(sets) > 1 { // what is not masked decides: an anonymised export has the sets of any other
		var err error
		if parts, err = e.opts.Split.divide(b, e.report.SplitBy, rows); err != nil {
			return err
		}
	}
	if e.opts.Anonymise != Keep {
		var err error
		if b, err = b.Select(slices.Concat(parts...)); err == nil {
			b, err = e.anonymise(b, len(rows))
		}
		if err != nil {
			return err
		}
		left := upTo(len(rows))
		for i, part := range parts {
			parts[i], left = left[:len(part)], left[len(part):]
		}
	}
	b, err := shaped(e, b)
	if err != nil {
		return err
	}
	for _, s := range sets {
		part := parts[s.part]
		if len(part) == 0 {
			continue
		}
		some, err := b.Select(part)
		if err == nil {
			err = s.writer.Write(some)
		}
		if err != nil {
			return err
		}
		s.pairs += uint64(len(part))
	}
	return nil
}

// shaped returns the columns of a batch that are written, under the names that they get.
func shaped(e *exporter, b *table.Batch) (_ *table.Batch, err error) {
	if e.opts.Columns != nil {
		if b, err = b.Only(e.opts.Columns); err != nil {
			return nil, err
		}
	}
	return b.Usual(e.opts.Table.SourceColumn, e.opts.Table.TargetColumn)
}

// upTo lists the numbers below n.
func upTo(n int) []int {
	rows := make([]int, n)
	for i := range rows {
		rows[i] = i
	}
	return rows
}
