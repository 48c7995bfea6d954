package model

import "bitextmine/internal/badinput"

// Judge makes a model a judge: a cross-encoder, whose graph gets both sentences of a pair in one sequence and gives one
// logit, or two, that they are translations of each other. It encodes no sentence.
type Judge struct {
	// Between are the special tokens between the sentences, as the graph's ids; BOS and EOS stand around the pair.
	Between []int32 `yaml:"between"`
	// Segments says that the token type of the second sentence is 1.
	Segments bool `yaml:"segments,omitempty"`
	// Translation is which of two logits says that a pair is a translation; the other one is subtracted from it.
	Translation int   `yaml:"translation,omitempty"`
	Merge       Merge `yaml:"merge"`
}

// Merge is how a judge's logit and a scorer's log odds become the log odds of a pair that is in doubt: their weighted
// sum and an intercept. What trains a judge fits the weights on pairs that neither has seen.
type Merge struct {
	Scorer    float64 `yaml:"scorer"`
	Judge     float64 `yaml:"judge"`
	Intercept float64 `yaml:"intercept,omitempty"`
}

// EvenMerge is that of a judge of which nothing is known: the mean of both log odds.
var EvenMerge = Merge{Scorer: 0.5, Judge: 0.5}

// Odds returns the merged log odds.
func (m Merge) Odds(scorer, judge float64) float64 {
	return m.Intercept + m.Scorer*scorer + m.Judge*judge
}

// checkJudge reports the problems of a judge's manifest.
func (m *Manifest) checkJudge(check func(ok bool, format string, args ...any)) {
	j := m.Judge
	if j == nil {
		return
	}
	check(m.Dim == 1 || m.Dim == 2, "dim is %d, but a judge gives one logit or two for a pair", m.Dim)
	check(m.Pooling == None && !m.Normalise && m.Centre.File == "" && len(m.Prefixes) == 0 && m.Tokens.Output == "",
		"a judge has pooling: none and normalise: false, and neither centre, prefixes nor tokens")
	check(j.Translation >= 0 && j.Translation < max(m.Dim, 1), "judge.translation is %d, but there are %d logits",
		j.Translation, m.Dim)
	check(!negative(j.Between), "judge.between has a negative token")
	check(len(j.Between)+m.specials(Prefix{})+2 <= m.MaxTokens, "max_tokens is %d, which leaves no room for a pair", m.MaxTokens)
	check(!j.Segments || m.Inputs.TokenTypes != "" && len(j.Between) > 0,
		"judge.segments needs inputs.token_types and judge.between")
	check(j.Merge.Judge > 0 && j.Merge.Scorer >= 0,
		"judge.merge has the weights %g of the scorer and %g of the judge, which must not be negative", j.Merge.Scorer,
		j.Merge.Judge)
}

// LoadJudge is Load for a judge.
func LoadJudge(ref string) (*Model, error) {
	m, err := LoadAny(ref)
	if err == nil && m.Judge == nil {
		return nil, badinput.Errorf("%s is an encoder, not a judge: import a sequence-classification model of pairs with "+
			"mine model import, or make a judge with mine train and configs/train/judge.yaml", m.Name)
	}
	return m, err
}

// Load is LoadAny for an encoder.
func Load(ref string) (*Model, error) {
	m, err := LoadAny(ref)
	if err == nil && m.Judge != nil {
		return nil, badinput.Errorf("%s is a judge, which encodes no sentences: name it with --judge, and an encoder here",
			m.Name)
	}
	return m, err
}

// Logit is what the values that the graph gives a pair say.
func (j *Judge) Logit(values []float32) float32 {
	if len(values) == 1 {
		return values[0]
	}
	return values[j.Translation] - values[1-j.Translation]
}
