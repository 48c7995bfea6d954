package match

import (
	"context"
	"errors"
	"path/filepath"

	"bitextmine/internal/spill"
	"bitextmine/internal/usage"
	"bitextmine/pipeline/decide"
	"bitextmine/pipeline/plan"
	"bitextmine/pipeline/progress"
	"bitextmine/pipeline/stage"
	"bitextmine/pipeline/stage/encode"
	"bitextmine/pipeline/view"
	"bitextmine/score"
	"bitextmine/score/fit"
)

// Describe is the descriptor of the stage that describes the sentences of a shard for features. It knows one language,
// so a description serves all pairs of the language, and every night until the shard changes. It comes after merges,
// which it does not read, so that a process that searches has no tokens in memory.
var Describe = &stage.Descriptor{
	Name: view.Describe, Version: 5, Unit: "sentences", After: []string{view.Merge}, OnDemand: true,
}

func init() { // not in the declaration, as the functions refer to it
	Describe.Plan, Describe.Check, Describe.Run, Describe.Rate = planDescriptions, stage.CheckShard, describe, describing.rate
	stage.Register(Describe)
}

// describeArgs is a shard of a language.
type describeArgs struct {
	Language int `json:"language"`
	Shard    int `json:"shard"`
}

// describeSpec lists all that a description depends on.
type describeSpec struct {
	Shard    string // digest
	Language string
	Tokens   string // digest of the encoder whose tokens they are; empty: the scorer weighs none, or the encoder has none
	Features []string
	Cut      bool   `json:",omitempty"` // the tokens of a prefix that is text are left out
	Hant     bool   `json:",omitempty"` // negations in traditional Chinese are known
	Output   string `json:",omitempty"` // stage.Tokens.Output, where there are tokens
}

// planDescriptions asks for the descriptions of all shards if a scorer weighs features.
func planDescriptions(b *stage.Builder) error {
	scorer, err := b.DecodedScorer()
	if scorer == nil {
		return err
	}
	tokens, output := "", ""
	if scorer.Tokens && b.Tokens.Output != "" {
		tokens, output = b.Settings.Encoder, b.Tokens.Output
	}
	for pair := range b.Pairs {
		for side := range 2 {
			at := b.LanguageOf(pair, side)
			language := &b.Languages[at]
			for i := range language.Shards {
				s := &language.Shards[i]
				encode.Want(b, at, i)
				s.Described = Describe.Key(describeSpec{
					s.SHA256, language.Code, tokens, fit.FeatureVersions(), tokens != "" && b.Tokens.TextPrefix, language.Code == "zh-Hant", output,
				})
				b.Add(Describe, s.Described, int64(s.Rows), describeCost(s), describeArgs{at, i})
			}
		}
	}
	return nil
}

// describedSize is the size of the description of a shard by that of its file, in bytes: 232 of a sentence were
// measured where a row of the file had 41, and 439 where it had 72.
func describedSize(text, rows int64) int64 { return max(text*20/3-rows*42, rows*64) }

// describeCost is, in memory, an upper bound that was measured: the encoder's tokens, and the names of the shard. What
// is expected is sentences that are being described and the buffers before the temporary file, which has most of the
// description until it is written to its place.
func describeCost(s *plan.Shard) stage.Cost {
	n, text := int64(s.Rows), stage.SizeOf(s)
	size := describedSize(text, n)
	return stage.Cost{
		Fixed:    160 << 20,
		Memory:   n * 60,
		Expected: min(2<<20+n*1000, 58<<20) + min(n*60, 16<<20),
		Disk:     size, Scratch: stage.Spilled(size), Read: text,
	}
}

// describe writes the description of a shard.
func describe(ctx context.Context, e *stage.Env, t *plan.Task, dir string, meter progress.Meter) (_ any, err error) {
	a, err := stage.Args[describeArgs](t)
	if err != nil {
		return nil, err
	}
	tokens, err := tokensOf(e)
	if err != nil {
		return nil, err
	}
	defer usage.SteadyHeap()()
	language := &e.Plan.Languages[a.Language]
	s := &language.Shards[a.Shard]
	builder := score.NewSide(spill.In(dir), language.Code, s.Rows, tokens, e.EncoderOptions().Threads)
	defer func() { err = errors.Join(err, builder.Close()) }()
	if err := decide.DescribeShard(ctx, e.Files, s, builder); err != nil {
		return nil, err
	}
	side, err := builder.Describe(ctx)
	if err != nil {
		return nil, err
	}
	meter.Add(t.Items)
	return nil, side.Write(filepath.Join(dir, view.DescriptionFile))
}

// tokensOf returns the token vectors that the plan's scorer weighs, which tasks share; nil: it weighs none.
func tokensOf(e *stage.Env) (score.Tokenizer, error) {
	type opened struct{ score.Tokenizer }
	tokens, err := stage.Shared(e, "tokens", func() (opened, func() error, error) {
		scorer, err := score.Decode(e.Plan.Scorer)
		if err != nil {
			return opened{}, nil, err
		}
		tokens, free, err := decide.Tokens(scorer, e.Model, e.EncoderOptions())
		return opened{tokens}, free, err
	})
	return tokens.Tokenizer, err
}
