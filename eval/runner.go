package eval

import (
	"context"
	"fmt"

	"bitextmine/eval/report"
	"bitextmine/eval/testset"
	"bitextmine/index"
	"bitextmine/internal/badinput"
	"bitextmine/score/inject"
)

// Runner evaluates test sets on disk. It may be used by one goroutine.
type Runner struct {
	Vectors  testset.VectorSource
	Searcher index.Searcher
	Scoring  *Scoring // scoring for bucc-scored
	// Strong encoder for bucc-refined, and for bucc-scored with a scorer of two-stage mining; nil: one encoder.
	Strong *inject.Strong
	// KeepPairs asks for the extracted and missed pairs of protocols with a threshold.
	KeepPairs bool
	// Progress, which may be nil, is called with a description of the next step.
	Progress func(what string)
}

func (r *Runner) progress(format string, args ...any) {
	if r.Progress != nil {
		r.Progress(fmt.Sprintf(format, args...))
	}
}

// forget lets an Embedder release a language that no later row needs.
func (r *Runner) forget(languages ...string) {
	if e, ok := r.Vectors.(*testset.Embedder); ok {
		for _, l := range languages {
			e.Forget(l)
		}
	}
}

// BUCC evaluates language pairs of BUCC sets under dir with one or more of the bucc protocols. It encodes each half
// once. It returns one report for each protocol, in the given order.
func (r *Runner) BUCC(ctx context.Context, protocols []*Protocol, dir string,
	pairs []testset.LanguagePair) ([]*report.Report, error) {
	reports := make([]*report.Report, len(protocols))
	for i, p := range protocols {
		if p.bucc == nil {
			return nil, fmt.Errorf("%s is not a BUCC protocol", p.Name)
		}
		reports[i] = p.newReport(r.Vectors.Name())
	}
	var found [][]testset.BUCCFiles // find all files before any work, so that a wrong name is reported at once
	for _, pair := range pairs {
		files, err := testset.FindBUCC(dir, pair)
		if err != nil {
			return nil, err
		}
		found = append(found, files)
	}
	for i, pair := range pairs {
		if err := r.buccPair(ctx, protocols, reports, pair, found[i]); err != nil {
			return nil, fmt.Errorf("evaluate %s: %w", pair, err)
		}
	}
	for _, out := range reports {
		out.Average()
	}
	return reports, nil
}

// buccPair adds the row of a pair to each report. Halves are read, encoded, mined and released one after the other.
func (r *Runner) buccPair(ctx context.Context, protocols []*Protocol, reports []*report.Report,
	pair testset.LanguagePair, files []testset.BUCCFiles) error {
	var withGold []testset.BUCCFiles
	for _, f := range files {
		if f.Gold != "" {
			withGold = append(withGold, f)
			continue
		}
		for _, out := range reports {
			out.Note("the %s half of %s has no gold file and is left out", f.Half, pair)
		}
	}
	if len(withGold) == 0 {
		return badinput.Errorf(
			"%s has no gold file beside it, so nothing can be counted: put the .gold file of the same half there",
			files[0].Source)
	}
	measures := make([]buccMeasure, len(protocols))
	for i, p := range protocols {
		measures[i] = p.bucc()
	}
	for i, f := range withGold {
		half, err := r.half(ctx, f, pair)
		if err != nil {
			return err
		}
		for j, p := range protocols {
			r.progress("%s %s %s", p.Name, pair, f.Half)
			if err := measures[j].add(ctx, r, half, i == len(withGold)-1); err != nil {
				return fmt.Errorf("%s half: %w", f.Half, err)
			}
		}
	}
	for j, out := range reports {
		measures[j].report(out, pair)
	}
	return nil
}

// half reads and encodes a half.
func (r *Runner) half(ctx context.Context, files testset.BUCCFiles, pair testset.LanguagePair) (Half, error) {
	r.progress("encode %s %s", pair, files.Half)
	source, target, gold, err := testset.ReadBUCC(files, pair)
	if err != nil {
		return Half{}, err
	}
	half := Half{Name: files.Half, Gold: gold}
	role := testset.Role{Pair: pair, Half: files.Half, File: files.Source}
	if half.Source, err = r.Vectors.Vectors(ctx, source, role); err != nil {
		return half, err
	}
	role.Target, role.File = true, files.Target
	half.Target, err = r.Vectors.Vectors(ctx, target, role)
	r.forget(pair.Source, pair.Target)
	return half, err
}

// NewAlignmentReport makes an empty report. by names the aligner.
func NewAlignmentReport(by string) *report.Report {
	return &report.Report{
		Protocol: "aer",
		Definition: [2]string{
			"Links A between words against sure (S) and sure or possible (P) gold links: AER = 1 - (|A∩S| + |A∩P|) / (|A| + |S|),",
			"precision = |A∩P| / |A|, recall = |A∩S| / |S|, in percent. unlinked: pairs without a link; no gold: pairs without a gold link.",
		},
		Encoder: by,
		Label:   "set",
		Columns: []report.Column{
			{Name: "AER"}, {Name: "precision"}, {Name: "recall"}, {Name: "links", Kind: report.Count},
			{Name: "sure", Kind: report.Count},
			{Name: "pairs", Kind: report.Count}, {Name: "unlinked", Kind: report.Count},
			{Name: "no gold", Kind: report.Count},
		},
	}
}

// AddAlignmentRow adds the figures of a set.
func AddAlignmentRow(r *report.Report, name string, c LinkCounts) {
	r.Rows = append(r.Rows, report.Row{Name: name,
		Cells: []any{c.AER(), c.Precision(), c.Recall(), c.Links, c.Sure, c.Pairs, c.Unlinked, c.NoGold}})
}
