// Package table reads and writes bitext as a table, whatever its format and columns: Parquet, TSV, JSON lines, TMX and
// two line-aligned files. It is for programs that pass on columns that they do not know.
//
// A Reader gives batches of rows; a Batch gives columns as texts or numbers, and makes a batch with further columns. A
// table has at least the two columns of texts. Memory does not grow with the file.
package table

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/apache/arrow/go/v15/arrow"

	"bitextmine/bitext/exchange"
	"bitextmine/corpus"
	"bitextmine/corpus/input"
	"bitextmine/internal/badinput"
)

// maxLineBytes is the maximum length of a line: two sentences as long as corpus reads them, with their columns.
const maxLineBytes = 256 << 10

// noMetadata is embedded by the sources of formats that say nothing of themselves.
type noMetadata struct{}

func (noMetadata) metadata() map[string]string { return nil }

// tsvSource reads lines of fields divided by tabs, without quoting. If the first line names both columns of texts, it
// names all columns. Otherwise it is a row; the first two columns are the texts and the others column_3 and so on.
type tsvSource struct {
	noMetadata
	name  string
	lines *corpus.LineFile
	texts *texts
	first *corpus.Line // a first line that is a row
}

func openTSV(in input.File, opts Options) (*tsvSource, error) {
	lines, err := corpus.OpenLines(in, maxLineBytes)
	if err != nil {
		return nil, err
	}
	s := &tsvSource{name: in.Path, lines: lines}
	line, err := lines.Next()
	if err == nil && line.Reason != "" {
		err = refuse(in.Path, 1, string(line.Reason)+" ("+line.Detail+")")
	}
	if err == nil {
		err = s.begin(line, opts)
	}
	if err != nil {
		return nil, errors.Join(err, lines.Close())
	}
	return s, nil
}

func (s *tsvSource) begin(line corpus.Line, opts Options) error {
	names := strings.Split(line.Text, "\t")
	if !slices.Contains(names, opts.SourceColumn) || !slices.Contains(names, opts.TargetColumn) {
		switch {
		case opts.MustName || opts.SourceColumn != SourceText || opts.TargetColumn != TargetText:
			return badinput.Errorf("%s: its first line does not name both columns %q and %q: correct the names", s.name,
				opts.SourceColumn, opts.TargetColumn)
		case len(names) < 2:
			return badinput.Errorf("%s:1: the line has 1 tab-separated field, but a pair needs two: correct it", s.name)
		}
		for i := range names {
			names[i] = "column_" + strconv.Itoa(i+1)
		}
		names[0], names[1] = opts.SourceColumn, opts.TargetColumn
		s.first = &line
	}
	s.texts = newTexts(names)
	return distinct(s.name, names)
}

func (s *tsvSource) next(ctx context.Context) (arrow.Record, error) {
	if s.first != nil {
		line := *s.first
		s.first = nil
		if err := s.row(line); err != nil {
			return nil, err
		}
	}
	for !s.texts.full() {
		line, err := s.lines.Next()
		if errors.Is(err, io.EOF) && s.texts.rows > 0 {
			break
		}
		if err == nil {
			err = s.row(line)
		}
		if err != nil {
			return nil, err
		}
	}
	return s.texts.record(), ctx.Err()
}

func (s *tsvSource) row(line corpus.Line) error {
	if line.Reason != "" {
		return refuse(s.name, line.Number, string(line.Reason)+" ("+line.Detail+")")
	}
	fields := strings.Count(line.Text, "\t") + 1
	if fields != len(s.texts.columns) && strings.TrimSpace(line.Text) != "" {
		return refuse(s.name, line.Number,
			fmt.Sprintf("%d tab-separated fields instead of %d", fields, len(s.texts.columns)))
	}
	rest := line.Text
	for _, column := range s.texts.columns {
		var field string
		field, rest, _ = strings.Cut(rest, "\t")
		column.Append(field)
	}
	s.texts.rows++
	return nil
}

func (s *tsvSource) Close() error { return s.lines.Close() }

// pairSource reads the pairs of an exchange.Reader: TMX and line-aligned files.
type pairSource struct {
	noMetadata
	name    string
	reader  exchange.Reader
	texts   *texts
	langs   []string
	units   bool   // a record without one of the texts is a row nonetheless, or left out
	whole   bool   // it is left out
	lacking uint64 // records that were
}

func openTMX(in input.File, opts Options) (*pairSource, error) {
	if opts.Source == "" || opts.Target == "" {
		return nil, badinput.Errorf("%s is TMX, which may have many languages: name two with --src and --tgt", in.Path)
	}
	r, err := exchange.Open(in, exchange.TMX,
		exchange.Options{SourceLanguage: opts.Source, TargetLanguage: opts.Target})
	if err != nil {
		return nil, err
	}
	names := []string{opts.SourceColumn, opts.TargetColumn, SourceLanguage, TargetLanguage}
	return &pairSource{name: in.Path, reader: r, texts: newTexts(names), langs: []string{opts.Source, opts.Target},
		units: true, whole: opts.Whole}, nil
}

func openPO(in input.File, opts Options) (*pairSource, error) {
	r, err := exchange.Open(in, exchange.PO, exchange.Options{})
	if err != nil {
		return nil, err
	}
	return &pairSource{name: in.Path, reader: r, texts: newTexts([]string{opts.SourceColumn, opts.TargetColumn})}, nil
}

func openAligned(source, target string, opts Options) (*pairSource, error) {
	r, err := exchange.OpenAligned(input.File{Path: source}, input.File{Path: target})
	if err != nil {
		return nil, err
	}
	return &pairSource{name: source, reader: r, texts: newTexts([]string{opts.SourceColumn, opts.TargetColumn})}, nil
}

func (s *pairSource) next(ctx context.Context) (arrow.Record, error) {
	for !s.texts.full() {
		rec, err := s.reader.Next()
		if errors.Is(err, io.EOF) && s.texts.rows > 0 {
			break
		}
		if err != nil {
			return nil, err
		}
		if rec.Reason != "" && rec.Reason != corpus.ReasonEmpty && !s.units {
			return nil, refuse(s.name, rec.Number, string(rec.Reason)+" ("+rec.Detail+")")
		}
		if rec.Reason == corpus.ReasonMalformed && s.whole {
			s.lacking++
			continue
		}
		for i, value := range append([]string{rec.Source, rec.Target}, s.langs...) {
			s.texts.columns[i].Append(value)
		}
		s.texts.rows++
	}
	return s.texts.record(), ctx.Err()
}

func (s *pairSource) Close() error { return s.reader.Close() }
