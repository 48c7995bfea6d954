package admin

import (
	"cmp"
	"context"
	"errors"
	"os"
	"slices"

	"bitextmine/bitext"
	"bitextmine/internal/badinput"
	"bitextmine/pipeline/record"
)

// Change is a pair that two bitexts do not both have with the same score: the probability where both runs had a scorer,
// otherwise the margin.
type Change struct {
	Kind   string  `json:"kind"`   // "added", "removed", "rescored"
	Before float32 `json:"before"` // its score, 0 if added
	After  float32 `json:"after"`  // 0 if removed
	Source string  `json:"src"`
	Target string  `json:"tgt"`
}

// Difference is what became of the kept pairs from one run to another.
type Difference struct {
	Before, After            int // kept pairs
	Added, Removed, Rescored int
	Changes                  []Change // the best first: by the larger of their scores
}

// The kinds of changes.
const (
	Added    = "added"
	Removed  = "removed"
	Rescored = "rescored"
)

// Diff compares the kept pairs of two runs, named by their output directories or their bitext files. Pairs are the same
// if their sentence keys are. Memory is some 100 bytes a pair, and the texts of what changed.
func Diff(ctx context.Context, before, after string) (*Difference, error) {
	type pair [2][16]byte
	type scored struct{ margin, probability float32 }
	pairs, byProbability := map[pair]scored{}, true
	d := &Difference{}
	err := kept(ctx, before, func(row *bitext.Row) {
		one := scored{margin: row.Score}
		if row.Prob != nil {
			one.probability = *row.Prob
		} else {
			byProbability = false
		}
		pairs[pair{row.Source.Key, row.Target.Key}] = one
		d.Before++
	})
	if err != nil {
		return nil, err
	}
	change := func(kind string, before, after float32, row *bitext.Row) {
		d.Changes = append(d.Changes, Change{kind, before, after, row.Source.Text, row.Target.Text})
	}
	err = kept(ctx, after, func(row *bitext.Row) {
		byProbability = byProbability && row.Prob != nil // of every row of a file or of none
		d.After++
		p := pair{row.Source.Key, row.Target.Key}
		was, there := pairs[p]
		score, now := was.margin, row.Score
		if byProbability {
			score, now = was.probability, *row.Prob
		}
		switch {
		case !there:
			d.Added++
			change(Added, 0, now, row)
		case score != now:
			d.Rescored++
			change(Rescored, score, now, row)
		}
		delete(pairs, p)
	})
	if err != nil {
		return nil, err
	}
	d.Removed = len(pairs)
	if d.Removed > 0 { // their texts are in the first file alone
		err = kept(ctx, before, func(row *bitext.Row) {
			if was, gone := pairs[pair{row.Source.Key, row.Target.Key}]; gone {
				score := was.margin
				if byProbability {
					score = was.probability
				}
				change(Removed, score, 0, row)
			}
		})
	}
	slices.SortStableFunc(d.Changes, func(a, b Change) int { return cmp.Compare(max(b.Before, b.After), max(a.Before, a.After)) })
	return d, err
}

// kept calls do with every kept row of a run.
func kept(ctx context.Context, run string, do func(*bitext.Row)) (err error) {
	path, err := bitextOf(run)
	if err != nil {
		return err
	}
	file, err := bitext.Open(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	for row, err := range file.Rows(ctx) {
		if err != nil {
			return err
		}
		if row.Keep {
			do(&row)
		}
	}
	return nil
}

// bitextOf returns the bitext file of a run's output directory, or the file itself.
func bitextOf(run string) (string, error) {
	info, err := os.Stat(run)
	if err != nil {
		return "", badinput.Errorf("%s is neither a run's output directory nor a bitext file: %w", run, err)
	}
	if !info.IsDir() {
		return run, nil
	}
	report, err := record.ReadReport(run)
	if errors.Is(err, os.ErrNotExist) {
		return "", badinput.Errorf("%s has no %s, so it is not a run's output directory; name one, or a bitext file", run, record.ReportName)
	}
	if err != nil {
		return "", err
	}
	return report.BitextPath(run), nil
}
