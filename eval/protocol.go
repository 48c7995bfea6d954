package eval

import (
	"context"
	"slices"
	"strings"

	"bitextmine/eval/report"

	"bitextmine/eval/testset"
	"bitextmine/internal/badinput"
)

// Protocol is a measure with all its settings. Each is a value in a file of its own and is registered by its line in
// Protocols; whatever runs, lists or documents protocols goes over that list.
type Protocol struct {
	Name string
	// Definition is two lines that say what was measured. They are printed above every result.
	Definition [2]string
	// Columns are the figures of the report.
	Columns []report.Column
	// Dataset is the set of mine data on which the protocol is usually evaluated, empty if there is none.
	Dataset string
	// Scorer is true if the protocol needs Runner.Scoring.
	Scorer bool
	// Strong is true if the protocol needs Runner.Strong.
	Strong bool

	// One of these is set, which says what kind of set the protocol is for and how a report on such sets is made.

	bucc       func() buccMeasure
	aligned    func() alignedMeasure
	similarity func(out *report.Report, sets []SimilaritySet)

	// negatives is true if the targets of a line-aligned set get synthetic negatives.
	negatives bool
	// distractors is true if a line-aligned set may have more targets than sources.
	distractors bool
}

// Protocols are all protocols, in the order of docs/evaluation.md.
var Protocols = []*Protocol{BUCCLaser, BUCCST, BUCCCosine, BUCCMTEB, BUCCScored, BUCCRefined, Tatoeba, XSim,
	XSimPlusPlus, Retrieval, STS}

// Data is a kind of test set.
type Data int

// BUCCSets have gold pairs among many sentences, AlignedSets a translation on each line, STSSets pairs with a graded
// similarity.
const (
	BUCCSets Data = iota
	AlignedSets
	STSSets
)

// Data is the kind of test set that the protocol is for.
func (p *Protocol) Data() Data {
	switch {
	case p.bucc != nil:
		return BUCCSets
	case p.aligned != nil:
		return AlignedSets
	}
	return STSSets
}

// newReport makes an empty report.
func (p *Protocol) newReport(encoder string) *report.Report {
	label := [...]string{BUCCSets: "pair", AlignedSets: "language", STSSets: "set"}[p.Data()]
	return &report.Report{Protocol: p.Name, Definition: p.Definition, Encoder: encoder, Label: label,
		Columns: slices.Clone(p.Columns)}
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
