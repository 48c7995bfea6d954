package eval

import (
	"context"
	"fmt"
	"slices"

	"bitextmine/eval/testset"
)

// AlignedOptions are the settings of the line-aligned protocols.
type AlignedOptions struct {
	// ByText counts an answer as correct if its text equals the correct text. LASER's eval.py does this, its xsim.py
	// does not. xsim++ always does.
	ByText bool
	// Negatives returns the synthetic targets of xsim++ for the English lines.
	Negatives func(targets []string) ([]testset.Negative, error)
	// NegativesNote says where the negatives come from.
	NegativesNote string
}

// Aligned evaluates line-aligned sets with one or more of tatoeba, xsim, xsim++ and retrieval. It encodes each set
// once. It returns one report for each protocol, in the given order.
func (r *Runner) Aligned(ctx context.Context, protocols []Protocol, sets []testset.AlignedFiles, opts AlignedOptions) ([]*Report, error) {
	results := make([][]alignedResult, len(protocols))
	wider := !slices.ContainsFunc(protocols, func(p Protocol) bool { return p != Retrieval })
	for i, set := range sets {
		r.progress("%s-%s (%d of %d)", set.Label, set.Pair.Target, i+1, len(sets))
		source, target, err := testset.ReadAligned(set, wider)
		if err != nil {
			return nil, err
		}
		for j, p := range protocols {
			found, err := r.alignedSet(ctx, p, set, source, target, opts)
			if err != nil {
				return nil, fmt.Errorf("%s of %s: %w", p.Name, set.Label, err)
			}
			results[j] = append(results[j], found)
		}
		if i+1 == len(sets) || sets[i+1].Pair.Source != set.Pair.Source {
			r.forget(set.Pair.Source)
		}
	}
	var reports []*Report
	for j, p := range protocols {
		reports = append(reports, alignedReport(p, r.Vectors.Name(), results[j], opts))
	}
	return reports, nil
}

// alignedResult is the result of one set with one protocol.
type alignedResult struct {
	label     string
	tatoeba   TatoebaScore
	xsim      XSimPlusPlusScore // xsim and retrieval use its Accuracy
	targets   int
	negatives []testset.Negative
}

func (r *Runner) alignedSet(ctx context.Context, p Protocol, set testset.AlignedFiles, source, target testset.Side, opts AlignedOptions) (alignedResult, error) {
	out := alignedResult{label: set.Label, targets: len(target.Texts)}
	if p == XSimPlusPlus {
		var err error
		if out.negatives, err = opts.Negatives(target.Texts); err != nil {
			return out, err
		}
		target.Texts = slices.Clone(target.Texts)
		for _, n := range out.negatives {
			target.Texts = append(target.Texts, n.Text)
		}
	}
	role := Role{Pair: set.Pair}
	x, err := r.Vectors.Vectors(ctx, source, role)
	if err != nil {
		return out, err
	}
	role.Target = true
	y, err := r.Vectors.Vectors(ctx, target, role)
	if err != nil {
		return out, err
	}
	switch p {
	case Tatoeba:
		out.tatoeba, err = ScoreTatoeba(ctx, r.Searcher, x, y, opts.ByText)
	case XSimPlusPlus:
		out.xsim, err = ScoreXSimPlusPlus(ctx, r.Searcher, x, y, out.negatives)
	case XSim, Retrieval:
		out.xsim.Accuracy, err = ScoreXSim(ctx, r.Searcher, x, y, opts.ByText)
	default:
		err = fmt.Errorf("%s is not a protocol for line-aligned sets", p.Name)
	}
	return out, err
}

func alignedReport(p Protocol, encoder string, results []alignedResult, opts AlignedOptions) *Report {
	report := &Report{Protocol: p, Encoder: encoder, Label: "language"}
	switch p {
	case Tatoeba:
		report.Columns = []Column{{"accuracy", Percentage}, {"accuracy_forward", Percentage}, {"accuracy_backward", Percentage}, {"error", Percentage}, {"sentences", Count}}
		for _, s := range results {
			t := s.tatoeba
			report.Rows = append(report.Rows, Row{s.label, []any{t.Mean(), t.Forward.Percent(), t.Backward.Percent(), 100 - t.Mean(), t.Forward.Queries}})
		}
	case Retrieval:
		report.Columns = []Column{{"accuracy", Percentage}, {"queries", Count}, {"correct", Count}, {"targets", Count}}
		for _, s := range results {
			report.Rows = append(report.Rows, Row{s.label, []any{s.xsim.Percent(), s.xsim.Queries, s.xsim.Correct, s.targets}})
		}
	default:
		report.errorRates(results, p == XSimPlusPlus)
	}
	if opts.ByText && p != XSimPlusPlus {
		report.note("answers are compared by text (--eval-text), not by line")
	}
	if p == XSimPlusPlus {
		report.note("%s", opts.NegativesNote)
	}
	report.average()
	return report
}

// errorRates adds the rows of xsim or xsim++ to the report.
func (r *Report) errorRates(results []alignedResult, kinds bool) {
	r.Columns = []Column{{"error", Percentage}, {"errors", Count}, {"sentences", Count}}
	var names []string
	if kinds {
		names = negativeKinds(results)
		r.Columns = append(r.Columns, Column{"negatives", Count})
		for _, k := range names {
			r.Columns = append(r.Columns, Column{"errors_" + k, Count})
		}
	}
	for _, s := range results {
		cells := []any{s.xsim.Error(), s.xsim.Queries - s.xsim.Correct, s.xsim.Queries}
		if kinds {
			cells = append(cells, len(s.negatives))
			for _, k := range names {
				cells = append(cells, s.xsim.Kinds[k])
			}
		}
		r.Rows = append(r.Rows, Row{s.label, cells})
	}
}

// negativeKinds lists the kinds of all negatives in order, followed by Misaligned.
func negativeKinds(results []alignedResult) []string {
	var kinds []string
	for _, s := range results {
		for _, n := range s.negatives {
			if !slices.Contains(kinds, n.Kind) {
				kinds = append(kinds, n.Kind)
			}
		}
	}
	slices.Sort(kinds)
	return append(kinds, testset.Misaligned)
}
