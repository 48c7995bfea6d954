package evaluation

import (
	"cmp"
	"context"
	"errors"
	"io"
	"log/slog"
	"slices"
	"strings"

	"bitextmine/cmd/mine/program"
	"bitextmine/corpus"
	"bitextmine/eval/testset"
	"bitextmine/internal/badinput"
	"bitextmine/mine"
	"bitextmine/pipeline/decide"
	"bitextmine/pipeline/view"
)

// besideRun are the flags of mine score that say something of a run's pairs. All others are settings that the run has.
var besideRun = strings.Fields("run src tgt src-text tgt-text src-column tgt-column prefix out verbose")

// scoreByRun scores pairs with the vectors and the neighbours of a finished run.
func scoreByRun(ctx context.Context, o scoreOptions, args []string, stdout io.Writer) (err error) {
	for _, flag := range o.Given() {
		if !slices.Contains(besideRun, flag) {
			return badinput.Errorf("mine score: --%s says nothing of a run, which has its own settings and neighbours: "+
				"remove it, or remove --run", flag)
		}
	}
	run, err := view.Open(ctx, o.run, program.Version, slog.Default())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, run.Close()) }()
	pair, err := run.Pair(0)
	if err != nil {
		return err
	}
	languages, err := o.languagesOf(pair)
	if err != nil {
		return err
	}
	var keys [2][]corpus.Key
	in, parquet, err := o.read(ctx, languages, args, func(source, target string) error {
		for side, text := range [2]string{source, target} {
			keys[side] = append(keys[side], corpus.KeyOf(corpus.Normalise(text)))
		}
		return ctx.Err()
	})
	if err != nil {
		return err
	}
	scores, err := decide.Margins(ctx, pair, keys)
	if err != nil {
		return err
	}
	missing := 0
	for _, s := range scores {
		if s == nil {
			missing++
		}
	}
	switch {
	case missing > 0 && missing == len(scores):
		return badinput.Errorf("mine score: the text of the run in %s holds none of the %d pairs: name the run that has "+
			"their sentences, or score them with their own neighbours without --run", o.run, missing)
	case missing > 0:
		slog.Warn("pairs have no score, as the run's text lacks a sentence of theirs", "pairs", missing, "of", len(scores))
	}
	return o.write(ctx, in, parquet, func(i int) *mine.Candidate { return scores[i] }, stdout)
}

// languagesOf are the languages of a run's pair. Those of --src and --tgt must be the same.
func (o scoreOptions) languagesOf(pair *view.Pair) (testset.LanguagePair, error) {
	codes := pair.Codes()
	of := testset.LanguagePair{Source: codes[0], Target: codes[1]}
	given, err := testset.ParsePair(cmp.Or(o.source, of.Source), cmp.Or(o.target, of.Target))
	if err == nil && given != of {
		err = badinput.Errorf("mine score: the run in %s is of %s, not of %s: remove --src and --tgt", o.run, of, given)
	}
	return of, err
}
