package data

import (
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"bitextmine/bitext"
	"bitextmine/corpus"
	"bitextmine/eval"
	"bitextmine/internal/badinput"
)

// tsv reads one pair per line, without quoting.
func (r *reader) tsv(ctx context.Context, s Source, in corpus.Input) error {
	opts := corpus.DefaultOptions()
	opts.Format = corpus.FormatText
	opts.MaxLineBytes *= 2 // two sentences
	row := newTSVRow(s)
	err := eachLine(ctx, in, opts, func(line corpus.Sentence) error {
		if s.Header && line.Line == 1 {
			return nil
		}
		source, target, why := row.split(line.Text)
		if why != "" {
			r.drop(why)
			return nil
		}
		return r.take(source, target, s.Src, s.Tgt)
	}, r.file.absorb)
	if err == nil && r.file.Lines == r.file.Dropped[Malformed] && r.file.Lines > 0 {
		return badinput.Errorf("%s: no line has the %d tab-separated columns %s: correct columns of its source", in.Path, len(s.Columns), strings.Join(s.Columns, ", "))
	}
	return err
}

// tsvRow splits lines.
type tsvRow struct {
	width, source, target int
	where                 map[int][]string // allowed values by column
}

func newTSVRow(s Source) tsvRow {
	row := tsvRow{width: len(s.Columns), source: slices.Index(s.Columns, sourceColumn), target: slices.Index(s.Columns, targetColumn), where: map[int][]string{}}
	for name, values := range s.Where {
		row.where[slices.Index(s.Columns, name)] = values
	}
	return row
}

// split returns a line's texts, or why it has none.
func (t tsvRow) split(line string) (source, target string, why Reason) {
	if strings.Count(line, "\t")+1 != t.width {
		return "", "", Malformed
	}
	i := 0
	for field := range strings.SplitSeq(line, "\t") {
		if values, ok := t.where[i]; ok && !slices.Contains(values, field) {
			return "", "", Filtered
		}
		switch i {
		case t.source:
			source = field
		case t.target:
			target = field
		}
		i++
	}
	return source, target, ""
}

// tmx reads translation units one at a time.
func (r *reader) tmx(ctx context.Context, s Source, in corpus.Input) (err error) {
	f, err := corpus.OpenDecompressed(in)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return tmxUnits(f, in.Path, func(unit eval.TMXUnit) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		source, one := unit.Text(s.Src)
		target, other := unit.Text(s.Tgt)
		if !one || !other {
			r.drop(Malformed)
			return nil
		}
		return r.take(source, target, s.Src, s.Tgt)
	})
}

// tmxUnits decodes a TMX file and calls take for each unit. It stops at take's first error.
func tmxUnits(in io.Reader, name string, take func(eval.TMXUnit) error) error {
	d := xml.NewDecoder(in)
	d.CharsetReader = func(string, io.Reader) (io.Reader, error) {
		return nil, badinput.Errorf("only UTF-8 can be read; convert the file, including its first line")
	}
	damaged := func(err error) error {
		if syntax := new(xml.SyntaxError); errors.As(err, &syntax) {
			return badinput.Errorf("%s is not well-formed XML (%w): correct the file", name, err)
		}
		return fmt.Errorf("read %s: %w", name, err)
	}
	units := 0
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return damaged(err)
		}
		start, ok := token.(xml.StartElement)
		if !ok || start.Name.Local != "tu" {
			continue
		}
		var unit eval.TMXUnit
		if err := d.DecodeElement(&unit, &start); err != nil {
			return damaged(err)
		}
		units++
		if err := take(unit); err != nil {
			return err
		}
	}
	if units == 0 {
		return badinput.Errorf("%s has no translation unit: give a TMX file", name)
	}
	return nil
}

// parquet reads mined bitext.
func (r *reader) parquet(ctx context.Context, s Source, path string) (err error) {
	f, err := bitext.Open(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	for row, err := range f.Rows(ctx) {
		if err != nil {
			return err
		}
		if s.MinProb != nil && row.Prob == nil {
			return badinput.Errorf("%s has no prob to compare with min_prob: mine it with a scorer, or take min_score", path)
		}
		why, err := r.condition(s, row)
		if err != nil {
			return err
		}
		if why != "" {
			r.drop(why)
			continue
		}
		if err := r.take(row.Source.Text, row.Target.Text, row.Source.Lang, row.Target.Lang); err != nil {
			return err
		}
	}
	return nil
}

// condition returns the condition of the source that a row does not satisfy.
func (r *reader) condition(s Source, row bitext.Row) (Reason, error) {
	switch {
	case s.Keep && !row.Keep:
		return NotKept, nil
	case s.MinScore != nil && float64(row.Score) < *s.MinScore:
		return LowScore, nil
	case s.MinProb != nil && float64(*row.Prob) < *s.MinProb:
		return LowProb, nil
	case s.Src == "":
		return "", nil
	}
	for code, want := range map[string]string{row.Source.Lang: s.Src, row.Target.Lang: s.Tgt} {
		name, err := r.language(code)
		if err != nil {
			return "", err
		}
		if name != want {
			return OtherLanguage, nil
		}
	}
	return "", nil
}
