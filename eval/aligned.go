package eval

import (
	"context"
	"fmt"
	"slices"

	"bitextmine/align/word"
	"bitextmine/eval/report"
	"bitextmine/eval/testset"
	"bitextmine/internal/badinput"
)

// AlignedOptions are the settings of the line-aligned protocols.
type AlignedOptions struct {
	// ByText counts an answer as correct if its text equals the correct text. LASER's eval.py does this, its xsim.py
	// does not. xsim++ always does. Protocol.ByText says which protocols read it.
	ByText bool
	// Negatives are the synthetic targets of xsim++; without any, this program's rules make them of the English lines.
	Negatives []testset.Negative
	// NegativesFrom says where Negatives come from.
	NegativesFrom string
}

// NegativesOf returns the synthetic targets for the lines of a set.
func (o AlignedOptions) NegativesOf(set testset.AlignedFiles, targets []string) ([]testset.Negative, error) {
	switch {
	case o.Negatives != nil:
		return o.Negatives, set.CheckNegatives(o.Negatives, o.NegativesFrom, targets)
	case set.Pair.Target != "en":
		return nil, badinput.Errorf("the rules make negatives only of English targets, not of %s: remove --tgt, or give negatives with --negatives",
			set.Pair.Target)
	}
	return testset.RuleNegatives(targets)
}

// alignedSet is a line-aligned set with its vectors.
type alignedSet struct {
	label          string
	source, target testset.EncodedSide
	// negatives are the last sentences of the target side.
	negatives []testset.Negative
	byText    bool
}

// Aligned evaluates line-aligned sets with one or more of their protocols. It encodes each set once. It returns one
// report for each protocol, in the given order.
func (r *Runner) Aligned(ctx context.Context, protocols []*Protocol, sets []testset.AlignedFiles,
	opts AlignedOptions) ([]*report.Report, error) {
	distractors := true
	measures := make([]alignedMeasure, len(protocols))
	for i, p := range protocols {
		if p.aligned == nil {
			return nil, fmt.Errorf("%s is not a protocol for line-aligned sets", p.Name)
		}
		measures[i] = p.aligned()
		distractors = distractors && p.distractors
	}
	for i, files := range sets {
		r.progress("%s-%s (%d of %d)", files.Label, files.Pair.Target, i+1, len(sets))
		source, target, err := testset.ReadAligned(files, distractors)
		if err != nil {
			return nil, err
		}
		for j, p := range protocols {
			set, err := r.alignedSet(ctx, p, files, source, target, opts)
			if err == nil {
				err = measures[j].add(ctx, r, set)
			}
			if err != nil {
				return nil, fmt.Errorf("%s of %s: %w", p.Name, files.Label, err)
			}
		}
		if i+1 == len(sets) || sets[i+1].Pair.Source != files.Pair.Source {
			r.forget(files.Pair.Source)
		}
	}
	reports := make([]*report.Report, len(protocols))
	for i, p := range protocols {
		reports[i] = p.newReport(r.Vectors.Name())
		measures[i].report(reports[i])
		opts.note(reports[i], p)
		reports[i].Average()
	}
	return reports, nil
}

// note adds the settings that change the figures of a protocol.
func (o AlignedOptions) note(out *report.Report, p *Protocol) {
	switch {
	case p.negatives && o.Negatives != nil:
		out.Note("%d published negatives of %s", len(o.Negatives), o.NegativesFrom)
	case p.negatives:
		out.Note("%s", testset.RuleNegativesNote)
	case o.ByText && p.ByText:
		out.Note("answers are compared by text (--eval-text), not by line")
	}
}

// alignedSet encodes a set as a protocol needs it.
func (r *Runner) alignedSet(ctx context.Context, p *Protocol, files testset.AlignedFiles, source, target testset.Side,
	opts AlignedOptions) (alignedSet, error) {
	set := alignedSet{label: files.Label, byText: opts.ByText}
	var err error
	if p.negatives {
		if set.negatives, err = opts.NegativesOf(files, target.Texts); err != nil {
			return set, err
		}
		target.Texts, target.Negatives = slices.Clone(target.Texts), len(set.negatives)
		for _, n := range set.negatives {
			target.Texts = append(target.Texts, n.Text)
		}
	}
	role := testset.Role{Pair: files.Pair, File: files.Source}
	if set.source, err = r.Vectors.Vectors(ctx, source, role); err != nil {
		return set, err
	}
	role.Target, role.File = true, files.Target
	set.target, err = r.Vectors.Vectors(ctx, target, role)
	return set, err
}

// eachSet measures sets one by one: figures returns a set's row but for its name.
func eachSet(figures func(ctx context.Context, r *Runner, set alignedSet) (report.Row, error)) func() alignedMeasure {
	return func() alignedMeasure { return &setRows{figures: figures} }
}

type setRows struct {
	figures func(ctx context.Context, r *Runner, set alignedSet) (report.Row, error)
	rows    []report.Row
}

func (s *setRows) add(ctx context.Context, r *Runner, set alignedSet) error {
	row, err := s.figures(ctx, r, set)
	row.Name = set.label
	s.rows = append(s.rows, row)
	return err
}

func (s *setRows) report(out *report.Report) { out.Rows = s.rows }

// AlignmentResult is the figures of one way to combine the directions.
type AlignmentResult struct {
	Symmetry word.Symmetry
	LinkCounts
}

// Align aligns the set with package word, together with further bitext if more is not nil, and measures every way to
// combine both directions.
func (s AlignmentSet) Align(ctx context.Context, more *word.FileInput,
	words word.FileAligner) ([]AlignmentResult, error) {
	pairs := word.Pairs{Cased: words.Model.Similarity != nil}
	for _, text := range s.Text {
		pairs.Add(text[0], text[1])
	}
	if more != nil {
		err := more.Each(ctx, func(source, target string) error {
			pairs.Add(words.Splitter.Words(source), words.Splitter.Words(target))
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	found, err := word.Align(ctx, &pairs, words.Model, func(word.Progress) {})
	if err != nil {
		return nil, err
	}
	var out []AlignmentResult
	ways := word.Symmetries
	if pairs.Cased {
		ways = append(slices.Clone(ways), word.IterMax)
	}
	for _, how := range ways {
		c, err := s.Measure(func(i int) []word.Link { return found.Of(i, how) })
		if err != nil {
			return nil, err
		}
		out = append(out, AlignmentResult{how, c})
	}
	return out, nil
}
