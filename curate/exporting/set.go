package exporting

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"bitextmine/bitext/table"
	"bitextmine/internal/atomicfile"
	"bitextmine/internal/badinput"
	"bitextmine/internal/textfile"
)

// set is one of the sets that the pairs are divided into, with its files.
type set struct {
	name   string
	part   int // its number
	files  []string
	to     []io.WriteCloser // the files, compressed
	writer Writer
	pairs  uint64
}

// sets names the sets and their files.
func (e *exporter) sets() []*set {
	shares := [...]float64{train: 1, dev: e.opts.Split.Dev, test: e.opts.Split.Test}
	var all []*set
	for part, name := range [...]string{train: "train", dev: "dev", test: "test"} {
		if shares[part] > 0 {
			all = append(all, &set{name: name, part: part, files: e.files(name, shares[dev]+shares[test] > 0)})
		}
	}
	return all
}

// files are the names of a set's files.
func (e *exporter) files(name string, divided bool) []string {
	if e.opts.Format == HuggingFace {
		return []string{filepath.Join(e.opts.Out, "data", huggingFaceName[name]+"-00000-of-00001.parquet")}
	}
	if !divided && !e.format.Sides && atomicfile.IsStream(e.opts.Out) {
		return []string{e.opts.Out}
	}
	suffix := ""
	if e.opts.Compression != "" {
		suffix = "." + e.opts.Compression
	}
	stem := strings.TrimSuffix(e.opts.Out, suffix)
	ext := ""
	if !e.format.Sides {
		ext = filepath.Ext(stem)
		stem = strings.TrimSuffix(stem, ext)
	}
	if divided {
		stem += "." + name
	}
	if !e.format.Sides {
		return []string{stem + ext + suffix}
	}
	source, target := e.languages()
	if source == target {
		source, target = "", "" // each its own name
	}
	source, target = cmp.Or(source, "src"), cmp.Or(target, "tgt")
	return []string{stem + "." + source + suffix, stem + "." + target + suffix}
}

// languages returns the languages of the options or of the first row; empty if they are unknown.
func (e *exporter) languages() (source, target string) {
	of := func(stated, column string) (code string) {
		if texts, err := e.first.Texts(column); stated == "" && err == nil {
			code, _ = texts(0)
		}
		return cmp.Or(stated, code)
	}
	return of(e.opts.Table.Source, table.SourceLanguage), of(e.opts.Table.Target, table.TargetLanguage)
}

// create opens the files of all sets, calls fill, and publishes them. On an error no file appears.
func (e *exporter) create(sets []*set, fill func() error) error {
	if e.opts.Format == HuggingFace {
		if err := os.MkdirAll(filepath.Join(e.opts.Out, "data"), 0o777); err != nil {
			return badinput.Errorf("the folder of the data set cannot be made (%w): name another with --out", err)
		}
	}
	opts := FormatOptions{
		SourceColumn: table.SourceText, TargetColumn: table.TargetText,
		Source: e.opts.Table.Source, Target: e.opts.Table.Target, Breaks: e.opts.Breaks, Metadata: e.metadata, Version: e.opts.Version,
	}
	next := func() error {
		if err := fill(); err != nil {
			return err
		}
		return e.finish(sets)
	}
	for _, s := range sets {
		inner := next
		next = func() error {
			return withFiles(s.files, e.opts.Compression, nil, func(to []io.WriteCloser) error {
				plain := make([]io.Writer, len(to))
				for i := range to {
					plain[i] = to[i]
				}
				s.to, s.writer = to, e.format.Open(plain, opts)
				return inner()
			})
		}
	}
	return next()
}

// finish ends every set's files. A Parquet set without pairs gets the columns of the table and no row.
func (e *exporter) finish(sets []*set) error {
	for _, s := range sets {
		if s.pairs == 0 {
			b, err := shaped(e, e.first)
			if err != nil {
				return err
			}
			if err := s.writer.Write(b.Slice(0, 0)); err != nil {
				return err
			}
		}
		if err := s.writer.Close(); err != nil {
			return err
		}
		for _, to := range s.to { // writes what is left before any file is published
			if err := to.Close(); err != nil {
				return err
			}
		}
	}
	if e.opts.Format == HuggingFace { // an earlier description must not be found with other data
		if err := os.Remove(e.descriptionPath()); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("remove the description of the data set: %w", err)
		}
	}
	return nil
}

// withFiles calls fill with all files open, which it closes if it ends well, and publishes each.
func withFiles(paths []string, compression string, open []io.WriteCloser, fill func(to []io.WriteCloser) error) error {
	if len(open) == len(paths) {
		return fill(open)
	}
	return atomicfile.Write(paths[len(open)], func(f *os.File) error {
		to, err := textfile.Compress(f, compression)
		if err != nil {
			return err
		}
		return errors.Join(withFiles(paths, compression, append(open, to), fill), to.Close())
	})
}
