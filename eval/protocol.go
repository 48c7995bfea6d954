// Package eval evaluates encoders and mined pairs with the published protocols of the field, each under its own name.
// What papers call "BUCC F1" is four different numbers. Only figures of the same protocol may be compared
// (docs/evaluation.md).
//
// Terms. A protocol is a measure with all its settings: k, margin, which sentences count, how the threshold is found. A
// side is the sentences of one language of a test set. Gold is the set of pairs that are translations. A half is the
// train or test part of a BUCC set: the threshold is found on one and applied to the other.
//
// Order. Every measure sorts its sentences by key (the hash of the stripped text, then the id). Ties are broken in this
// order, so no result depends on the order of the input. There is one exception: line-aligned sets compare line
// numbers, so of two lines with the same text the first is the nearest.
//
// Units. Precision, recall, F1, accuracy, error rates and correlations are in percent, as papers print them. Scores and
// thresholds are margins or cosines.
package eval

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"bitextmine/eval/report"
	"bitextmine/eval/testset"
	"bitextmine/index"
	"bitextmine/internal/badinput"
	"bitextmine/score/inject"
)

// Protocol is a measure with all its settings. Each is a value in a file of its own and is registered by its line in
// Protocols; whatever runs, lists or documents protocols goes over that list.
type Protocol struct {
	Name string
	// Definition is two lines that say what was measured. They are printed above every result.
	Definition [2]string
	// Columns are the figures of the report.
	Columns []report.Column
	// Sampled is the column that gets a bootstrap interval from the rows' items; empty: none.
	Sampled string
	// Dataset is the set of mine data on which the protocol is usually evaluated, empty if there is none.
	Dataset string
	// Scorer is true if the protocol needs Runner.Scoring, Strong if it needs Runner.Strong.
	Scorer, Strong bool
	// ByText is true if the protocol reads AlignedOptions.ByText.
	ByText bool

	// One of these is set, which says what kind of set the protocol is for and how a report on such sets is made.

	bucc       func() buccMeasure
	aligned    func() alignedMeasure
	similarity func(out *report.Report, sets []SimilaritySet)
	labelled   func(r *Runner, ctx context.Context, out *report.Report, dir, target string) error

	// negatives is true if the targets of a line-aligned set get synthetic negatives.
	negatives bool
	// distractors is true if a line-aligned set may have more targets than sources.
	distractors bool
}

// Protocols are all protocols, in the order of docs/evaluation.md.
var Protocols = []*Protocol{BUCCLaser, BUCCST, BUCCCosine, BUCCMTEB, BUCCScored, BUCCRefined, Tatoeba, BitextMTEB,
	XSim, XSimPlusPlus, Retrieval, STS, Pairs, Probe}

// Data is a kind of test set.
type Data int

// BUCCSets have gold pairs among many sentences, AlignedSets a translation on each line, STSSets pairs with a graded
// similarity, LabelledSets texts or pairs with labels.
const (
	BUCCSets Data = iota
	AlignedSets
	STSSets
	LabelledSets
)

// Data is the kind of test set that the protocol is for.
func (p *Protocol) Data() Data {
	switch {
	case p.bucc != nil:
		return BUCCSets
	case p.aligned != nil:
		return AlignedSets
	case p.labelled != nil:
		return LabelledSets
	}
	return STSSets
}

// newReport makes an empty report.
func (p *Protocol) newReport(encoder string) *report.Report {
	label := [...]string{BUCCSets: "pair", AlignedSets: "language", STSSets: "set", LabelledSets: "set"}[p.Data()]
	return &report.Report{Protocol: p.Name, Definition: p.Definition, Encoder: encoder, Label: label,
		Columns: slices.Clone(p.Columns), Sampled: p.Sampled}
}

// Labelled evaluates the sets in dir with protocols for labelled sets. target is the language whose training texts
// serve all others. It returns one report for each protocol, in the given order.
func (r *Runner) Labelled(ctx context.Context, protocols []*Protocol, dir, target string) ([]*report.Report, error) {
	reports := make([]*report.Report, len(protocols))
	for i, p := range protocols {
		reports[i] = p.newReport(r.Vectors.Name())
		if err := p.labelled(r, ctx, reports[i], dir, target); err != nil {
			return nil, err
		}
		reports[i].Average()
	}
	return reports, nil
}

// buccMeasure measures one language pair of BUCC sets.
type buccMeasure interface {
	// add measures a half. The halves are given in order, train first; the last one is reported.
	add(ctx context.Context, r *Runner, half Half, last bool) error
	// report adds the row of the pair.
	report(out *report.Report, pair testset.LanguagePair)
}

// alignedMeasure measures line-aligned sets.
type alignedMeasure interface {
	add(ctx context.Context, r *Runner, set alignedSet) error
	// report adds the rows of the sets.
	report(out *report.Report)
}

// ProtocolNames returns the names of the protocols that are accepted.
func ProtocolNames(accept func(*Protocol) bool) []string {
	var names []string
	for _, p := range Protocols {
		if accept(p) {
			names = append(names, p.Name)
		}
	}
	return names
}

// ParseProtocol finds a protocol by its name.
func ParseProtocol(name string) (*Protocol, error) {
	for _, p := range Protocols {
		if p.Name == name {
			return p, nil
		}
	}
	all := ProtocolNames(func(*Protocol) bool { return true })
	return nil, badinput.Errorf("protocol %q is not known; choose one of %s", name, strings.Join(all, ", "))
}

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
		return badinput.Errorf("%s has no gold file beside it, so nothing can be counted: put the .gold file of the same half there",
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
			{Name: "AER"}, {Name: "precision"}, {Name: "recall"}, {Name: "links", Kind: report.Count}, {Name: "sure", Kind: report.Count},
			{Name: "pairs", Kind: report.Count}, {Name: "unlinked", Kind: report.Count}, {Name: "no gold", Kind: report.Count},
		},
	}
}

// AddAlignmentRow adds the figures of a set.
func AddAlignmentRow(r *report.Report, name string, c LinkCounts) {
	r.Rows = append(r.Rows, report.Row{Name: name,
		Cells: []any{c.AER(), c.Precision(), c.Recall(), c.Links, c.Sure, c.Pairs, c.Unlinked, c.NoGold}})
}
