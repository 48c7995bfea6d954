package data

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"bitextmine/corpus"
	"bitextmine/corpus/input"
	"bitextmine/train/words"
)

// Reason is the reason for dropping a line.
type Reason string

// The reasons, in addition to corpus's own (too_long, not_utf8, empty for a line without text).
const (
	EmptySource Reason = "empty_source" // this side is empty after normalisation
	EmptyTarget Reason = "empty_target" //
	NotUTF8     Reason = "not_utf8"     //
	// a TSV line with another number of columns, or a TMX unit without one of the languages
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

// ReadHeldOut reads the keys of sentences that must not be trained on, whatever their language.
func ReadHeldOut(ctx context.Context, patterns []string) (map[corpus.Key]struct{}, error) {
	keys := map[corpus.Key]struct{}{}
	files, err := input.Expand(nil, patterns)
	if err != nil {
		return nil, err
	}
	for _, in := range files {
		for s, err := range corpus.Sentences(in, corpus.DefaultOptions()) {
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
