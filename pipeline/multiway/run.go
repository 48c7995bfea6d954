// Package multiway is a run over many pairs of languages. Each pair is a run of its own into OUT/SRC-TGT, and all share
// one work directory, where shards, vectors and neighbours go by their content: a language is cut and encoded once,
// whichever pair comes first, and a pair's bitext does not depend on the others. What was kept of all pairs is then
// joined into one table of sentences in three and more languages.
//
// # The table
//
// A table joins the bitexts of several pairs of languages into one table: sentences of three and more
// languages that are translations of each other.
package multiway

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"

	"bitextmine/internal/atomicfile"
	"bitextmine/internal/badinput"
	"bitextmine/pipeline/config"
	"bitextmine/pipeline/record"
)

// The names in the output directory of a run over many pairs.
const (
	ReportName    = "pairs.json"
	TableName     = "parallel.parquet"
	ConflictsName = "conflicts.tsv"
)

// Report is pairs.json.
type Report struct {
	Pairs     []PairReport `json:"pairs"`
	Languages []string     `json:"languages"`
	// Rows of parallel.parquet: sentences of so many languages and more, from three on.
	Rows      map[int]int `json:"rows"`
	Conflicts int         `json:"conflicts"` // lines of conflicts.tsv
}

// PairReport is the result of mining a pair.
type PairReport struct {
	Pair   string `json:"pair"`
	Bitext string `json:"bitext,omitempty"`
	Kept   int    `json:"kept"`
	Failed string `json:"failed,omitempty"` // why; empty: it did not
}

// Mine runs one pair.
type Mine func(ctx context.Context, cfg config.Config) (*record.Report, error)

// Run mines every pair, then joins what was kept. A pair that fails does not hold up the others; the error is then that
// of every pair that failed, and nothing is joined.
func Run(ctx context.Context, cfg config.Config, log *slog.Logger, mine Mine) (*Report, error) {
	pairs, err := Pairs(&cfg)
	if err != nil {
		return nil, err
	}
	configs, err := Configs(cfg, pairs)
	if err != nil {
		return nil, err
	}
	report := &Report{Languages: languages(pairs), Rows: map[int]int{}}
	var failed []error
	var bitexts []string
	for i, p := range pairs {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		log.Info("mining a pair", "pair", p, "number", i+1, "of", len(pairs))
		of := PairReport{Pair: p.String()}
		if r, err := mine(ctx, configs[i]); err != nil {
			of.Failed = err.Error()
			failed = append(failed, fmt.Errorf("%s: %w", p, err))
		} else {
			of.Bitext, of.Kept = r.Bitext.Path, r.Counts.Kept
			bitexts = append(bitexts, r.Bitext.Path)
		}
		report.Pairs = append(report.Pairs, of)
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if len(failed) == 0 {
		err = report.join(ctx, cfg.Out, bitexts)
	}
	if err == nil {
		err = report.write(cfg.Out)
	}
	return report, errors.Join(err, joined(failed, len(pairs)))
}

// joined is the error of a run whose pairs failed: bad input if all of them did for that.
func joined(failed []error, pairs int) error {
	if len(failed) == 0 {
		return nil
	}
	err := fmt.Errorf("%d of %d pairs failed: %w", len(failed), pairs, errors.Join(failed...))
	if !slices.ContainsFunc(failed, func(err error) bool { return !badinput.Is(err) }) {
		return badinput.Errorf("%w", err)
	}
	return err
}

// languages returns the languages of the pairs, sorted.
func languages(pairs []Pair) (all []string) {
	for _, p := range pairs {
		all = append(all, p.Source, p.Target)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// join writes the table of three and more languages, and what did not fit into it.
func (r *Report) join(ctx context.Context, out string, bitexts []string) error {
	if len(r.Languages) < MinLanguages {
		return nil
	}
	t, err := ReadTable(ctx, r.Languages, bitexts)
	if err != nil {
		return err
	}
	for n := MinLanguages; n <= len(r.Languages); n++ {
		r.Rows[n] = t.Rows(n)
	}
	r.Conflicts = t.Conflicts()
	for name, write := range map[string]func(io.Writer) error{TableName: t.WriteParquet, ConflictsName: t.WriteConflicts} {
		if err := atomicfile.Write(filepath.Join(out, name), func(f *os.File) error { return write(f) }); err != nil {
			return err
		}
	}
	return nil
}

func (r *Report) write(out string) error {
	data, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return badinput.Errorf("output directory %s cannot be made (%w); name another with --out", out, err)
	}
	return atomicfile.WriteBytes(filepath.Join(out, ReportName), append(data, '\n'))
}
