package evaluation

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"bitextmine/corpus"
	"bitextmine/eval"
	"bitextmine/eval/report"
	"bitextmine/eval/testset"
	"bitextmine/internal/atomicfile"
	"bitextmine/internal/badinput"
	"bitextmine/internal/textfile"
)

func (o *evalOptions) evalBUCC(ctx context.Context, runner *eval.Runner, protocols []*eval.Protocol) ([]*report.Report, error) {
	dir, err := o.directory(protocols[0].Dataset)
	if err != nil {
		return nil, err
	}
	var pairs []testset.LanguagePair
	if len(o.sources) == 0 {
		if pairs, err = testset.BUCCPairs(dir, o.target); err != nil {
			return nil, err
		}
	}
	for _, source := range o.sources {
		pair, err := testset.ParsePair(source, o.target)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(pairs, pair) {
			pairs = append(pairs, pair)
		}
	}
	if err := o.refuseSets(dir, pairs); err != nil {
		return nil, err
	}
	return runner.BUCC(ctx, protocols, dir, pairs)
}

// refuseSets refuses outputs that are files of the sets.
func (o *evalOptions) refuseSets(dir string, pairs []testset.LanguagePair) error {
	for _, pair := range pairs {
		halves, err := testset.FindBUCC(dir, pair)
		if err != nil {
			return err
		}
		for _, half := range halves {
			for _, out := range []string{o.curve, o.pairs} {
				if err := atomicfile.RefuseInput(out, half.Source, half.Target, half.Gold); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func (o *evalOptions) evalAligned(ctx context.Context, runner *eval.Runner,
	protocols []*eval.Protocol) ([]*report.Report, error) {
	sets, err := o.alignedSets(protocols)
	if err != nil {
		return nil, err
	}
	opts := eval.AlignedOptions{ByText: o.byText}
	if o.negatives != "rules" {
		opts.NegativesFrom = o.negatives
		if opts.Negatives, err = testset.ReadNegatives(o.negatives); err != nil {
			return nil, err
		}
	}
	if o.made != "" {
		if err := o.writeNegatives(opts, sets); err != nil {
			return nil, err
		}
	}
	reports, err := runner.Aligned(ctx, protocols, sets, opts)
	if err == nil && o.pairs != "" {
		err = listMissed(reports, sets, o.pairs)
	}
	return reports, err
}

// listMissed adds the lines that an answer is wrong for, each with its translation, to reports whose rows are of the
// sets in their order. They are written to out.
func listMissed(reports []*report.Report, sets []testset.AlignedFiles, out string) error {
	for i, set := range sets {
		if err := atomicfile.RefuseInput(out, set.Source, set.Target); err != nil {
			return err
		}
		source, target, err := testset.ReadAligned(set, true)
		if err != nil {
			return err
		}
		for _, r := range reports {
			if r.Rows[i].Items == nil {
				continue
			}
			if r.Pairs == nil {
				r.Pairs = []report.Pair{} // the file may say that none is missed
			}
			for line, right := range r.Rows[i].Items[0] {
				if number := strconv.Itoa(line + 1); right < 1 {
					r.Pairs = append(r.Pairs, report.Pair{Set: set.Label, Kind: report.Missed, Source: source.Texts[line],
						Target: target.Texts[line], IDs: [2]string{number, number}})
				}
			}
		}
	}
	return nil
}

// writeNegatives writes the negatives of sets, which must have the same, one a line.
func (o *evalOptions) writeNegatives(opts eval.AlignedOptions, sets []testset.AlignedFiles) error {
	var negatives []testset.Negative
	for i, set := range sets {
		if err := atomicfile.RefuseInput(o.made, set.Source, set.Target, opts.NegativesFrom); err != nil {
			return err
		}
		_, target, err := testset.ReadAligned(set, false)
		if err != nil {
			return err
		}
		own, err := opts.NegativesOf(set, target.Texts)
		if err != nil {
			return err
		}
		if i > 0 && !slices.Equal(own, negatives) {
			return badinput.Errorf("mine eval: the targets of %s and %s differ, and so do their negatives: name one language with --src to write them",
				sets[0].Label, set.Label)
		}
		negatives = own
	}
	return textfile.Write(o.made, func(w io.Writer) error {
		for _, n := range negatives {
			if _, err := fmt.Fprintln(w, strings.Join(strings.Fields(n.Text), " ")); err != nil {
				return err
			}
		}
		return nil
	})
}

func (o *evalOptions) alignedSets(protocols []*eval.Protocol) ([]testset.AlignedFiles, error) {
	target, err := corpus.ParseLanguage(o.target)
	if err != nil {
		return nil, err
	}
	var sources []string
	for _, code := range o.sources {
		pair, err := testset.ParsePair(code, o.target)
		if err != nil {
			return nil, err
		}
		sources = append(sources, pair.Source)
	}
	if o.sourceText != "" || o.targetText != "" {
		if o.sourceText == "" || o.targetText == "" || len(sources) != 1 {
			return nil, badinput.Errorf("--src-text and --tgt-text are two files of one pair: give " +
				"both, and one language with --src")
		}
		if o.splitGiven {
			return nil, badinput.Errorf("mine eval: --split is for the sets in --dir, not for --src-text and --tgt-text; " +
				"leave it out")
		}
		return []testset.AlignedFiles{{Label: o.sources[0], Pair: testset.LanguagePair{Source: sources[0], Target: target},
			Source: o.sourceText, Target: o.targetText}}, nil
	}
	dir, err := o.directory(protocols[0].Dataset)
	if err != nil {
		return nil, err
	}
	sets, err := testset.FindAligned(dir, o.split, sources, target)
	if o.parts = testset.HasSplit(sets, o.split); err == nil && o.splitGiven && !o.parts {
		return nil, badinput.Errorf("mine eval: --split %s is for sets that have parts, such as FLORES, and those in %s have none; "+
			"leave it out, or name another directory with --dir", o.split, dir)
	}
	return sets, err
}

func (o *evalOptions) evalSTS(ctx context.Context, runner *eval.Runner,
	protocols []*eval.Protocol) ([]*report.Report, error) {
	if o.dir == "" {
		return nil, badinput.Errorf("sts: name the directory of the sets with --dir")
	}
	sets, err := testset.FindSTS(o.dir)
	if err != nil {
		return nil, err
	}
	return runner.STS(ctx, protocols, sets)
}

func (o *evalOptions) evalLabelled(ctx context.Context, runner *eval.Runner,
	protocols []*eval.Protocol) ([]*report.Report, error) {
	target, err := corpus.ParseLanguage(o.target)
	if err != nil {
		return nil, err
	}
	if o.dir == "" {
		return nil, badinput.Errorf("%s: name the directory of the sets with --dir", protocols[0].Name)
	}
	if err := checkDir(o.dir, ""); err != nil {
		return nil, err
	}
	return runner.Labelled(ctx, protocols, o.dir, target)
}

// directory is --dir, or the directory in which mine data puts the set.
func (o *evalOptions) directory(name string) (string, error) {
	if o.dir != "" {
		return o.dir, checkDir(o.dir, name)
	}
	return dataDirectory(name)
}

// checkDir refuses a --dir that is no directory; set is what mine data calls the test set, and empty if it has none.
func checkDir(dir, set string) error {
	if info, err := os.Stat(dir); err == nil && info.IsDir() {
		return nil
	}
	instead := ""
	if set != "" {
		instead = fmt.Sprintf(", or leave it out after `mine data get %s`", set)
	}
	return badinput.Errorf("mine eval: there is no directory %s: name that of the test set with --dir%s", dir, instead)
}
