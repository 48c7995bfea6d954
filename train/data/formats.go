package data

import (
	"context"
	"errors"
	"io"
	"strings"

	"bitextmine/bitext"
	"bitextmine/bitext/exchange"
	"bitextmine/corpus/input"
	"bitextmine/internal/badinput"
)

// exchanged reads the pairs of an exchange format one at a time.
func (r *reader) exchanged(ctx context.Context, s Source, in input.File, format exchange.Format) (err error) {
	from, err := exchange.Open(in, format, exchange.Options{
		SourceLanguage: s.Src, TargetLanguage: s.Tgt, SourceColumn: sourceColumn, TargetColumn: targetColumn,
		Layout: &exchange.Layout{Columns: s.Columns, Header: s.Header, Where: s.Where},
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, from.Close()) }()
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		rec, err := from.Next()
		switch {
		case errors.Is(err, io.EOF):
			return r.checkColumns(s, in, format)
		case err != nil:
			return err
		}
		links, err := r.links.Next()
		if err != nil {
			return err
		}
		if rec.Reason != "" {
			r.drop(Reason(rec.Reason))
		} else if err := r.take(rec.Source, rec.Target, s.Src, s.Tgt, links); err != nil {
			return err
		}
	}
}

// checkColumns refuses a TSV in which every line has another number of columns.
func (r *reader) checkColumns(s Source, in input.File, format exchange.Format) error {
	if format != exchange.TSV || r.file.Lines == 0 || r.file.Lines != r.file.Dropped[Malformed] {
		return nil
	}
	return badinput.Errorf("%s: no line has the %d tab-separated columns %s: correct columns of its source", in.Path,
		len(s.Columns), strings.Join(s.Columns, ", "))
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
			return badinput.Errorf("%s has no prob to compare with min_prob: mine it with a scorer, or take min_score",
				path)
		}
		links, err := r.links.Next()
		if err != nil {
			return err
		}
		why, err := r.condition(s, row)
		if err != nil {
			return err
		}
		if why != "" {
			r.drop(why)
			continue
		}
		if err := r.take(row.Source.Text, row.Target.Text, row.Source.Lang, row.Target.Lang, links); err != nil {
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
