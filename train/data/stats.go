package data

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"bitextmine/bitext"
	"bitextmine/bitext/exchange"
	"bitextmine/corpus"
	"bitextmine/corpus/input"
	"bitextmine/internal/badinput"
	"bitextmine/train/words"
)

// Reason is the reason for dropping a line.
type Reason string

// The reasons, in addition to corpus's own (too_long, not_utf8, empty for a line without text).
const (
	EmptySource Reason = "empty_source" // this side is empty after normalisation
	EmptyTarget Reason = "empty_target" //
	NotUTF8     Reason = "not_utf8"     //
	// a line of TSV or CSV with another number of columns, or a TMX unit without one of the languages
	Malformed     Reason = "malformed"
	Filtered      Reason = "filtered"       // Source.Where
	NotKept       Reason = "not_kept"       // bitext that the run rejected
	LowScore      Reason = "low_score"      // below Source.MinScore
	LowProb       Reason = "low_prob"       // below Source.MinProb
	Rejected      Reason = "rejected"       // a person rejected it: Source.Labels
	NotAccepted   Reason = "not_accepted"   // Source.Accepted
	OtherLanguage Reason = "other_language" // another language than Source.Src and Tgt
	SameText      Reason = "same_text"      // Source.DropSame
	Duplicate     Reason = "duplicate"      // an earlier pair is the same, in any file and direction
	HeldOut       Reason = "held_out"       // a side is in Config.Exclude
)

// FileStats counts the lines (rows, units) of a file: Lines = Kept + the sum of Dropped.
type FileStats struct {
	Path    string            `json:"path"`
	Licence string            `json:"licence,omitempty"` // its Source's licence
	Lines   uint64            `json:"lines"`
	Kept    uint64            `json:"kept"`
	Dropped map[Reason]uint64 `json:"dropped,omitempty"`
}

func (f *FileStats) drop(why Reason, n uint64) {
	if n > 0 {
		if f.Dropped == nil {
			f.Dropped = map[Reason]uint64{}
		}
		f.Dropped[why] += n
	}
}

// String lists the counts, largest first.
func (f FileStats) String() string {
	parts := []string{fmt.Sprintf("%d lines, %d kept", f.Lines, f.Kept)}
	reasons := slices.SortedFunc(maps.Keys(f.Dropped), func(a, b Reason) int {
		return cmp.Or(cmp.Compare(f.Dropped[b], f.Dropped[a]), cmp.Compare(a, b))
	})
	for _, why := range reasons {
		parts = append(parts, fmt.Sprintf("%d %s", f.Dropped[why], why))
	}
	return strings.Join(parts, ", ")
}

// Stats is the counts of everything that was read.
type Stats struct {
	Files   []FileStats  `json:"files"`
	HeldOut int          `json:"held_out_sentences"`    // distinct sentences in Config.Exclude
	Cut     uint64       `json:"cut_sides"`             // sides of kept pairs that were longer than max_tokens
	Blank   uint64       `json:"blank_pairs,omitempty"` // left out: a side has no tokens
	Watched int          `json:"dev_pairs,omitempty"`   // kept pairs with a side in Options.Watched
	Words   *words.Stats `json:"words,omitempty"`       // nil unless words were read
}

// Total is the sum over the files.
func (s Stats) Total() FileStats {
	total := FileStats{Path: "all"}
	for _, f := range s.Files {
		total.Lines += f.Lines
		total.Kept += f.Kept
		for why, n := range f.Dropped {
			total.drop(why, n)
		}
	}
	return total
}

// ReadHeldOut reads the keys of sentences that must not be trained on, whatever their language. A line that cannot be
// read is a badinput error: what it says would be trained on.
func ReadHeldOut(ctx context.Context, patterns []string) (map[corpus.Key]struct{}, error) {
	keys := map[corpus.Key]struct{}{}
	files, err := input.Expand(nil, patterns)
	if err != nil {
		return nil, err
	}
	for _, in := range files {
		opts := corpus.DefaultOptions()
		opts.ColumnFlags, opts.OnBadLine = corpus.NoFlags, corpus.FailBadLine
		for s, err := range corpus.Sentences(in, opts) {
			if err == nil {
				err = ctx.Err()
			}
			if err != nil {
				return nil, err
			}
			keys[corpus.KeyOf(s.Normal)] = struct{}{}
		}
	}
	return keys, nil
}

// exchanged reads the pairs of an exchange format one at a time.
func (r *reader) exchanged(ctx context.Context, s Source, in, target input.File, format exchange.Format) (err error) {
	if s.chooses() {
		return badinput.Errorf("%s is no Parquet bitext, which min_score, min_prob and keep are for: remove them from its source", in.Path)
	}
	opts := exchange.DefaultOptions()
	opts.SourceLanguage, opts.TargetLanguage = s.Src, s.Tgt
	if format == exchange.TSV || format == exchange.CSV {
		opts.SourceColumn, opts.TargetColumn = sourceColumn, targetColumn
		opts.Layout = &exchange.Layout{Columns: s.Columns, Header: s.Header, Where: s.Where}
	} else if s.Header || len(s.Where) > 0 || !slices.Equal(s.Columns, DefaultSource().Columns) {
		return badinput.Errorf("%s is %s, and columns, header and where are for tsv and csv: remove them from its source", in.Path, format)
	}
	var from exchange.Reader
	if target.Path != "" {
		from, err = exchange.OpenAligned(in, target)
	} else {
		from, err = exchange.Open(in, format, opts)
	}
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
	for _, side := range [][2]string{{row.Source.Lang, s.Src}, {row.Target.Lang, s.Tgt}} {
		name, err := r.language(side[0])
		if err != nil {
			return "", err
		}
		if name != side[1] {
			return OtherLanguage, nil
		}
	}
	return "", nil
}
