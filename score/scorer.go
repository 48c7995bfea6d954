// Package score chooses between candidates by a learned probability instead of the margin.
//
// Terms. A scorer is a logistic regression over the features of a candidate (package feature). Its file has the
// weights, the encoder that they were fitted on, and the quality of the probabilities. A problem is the neighbour lists
// of two sides and a way to read their texts; the features are computed from these. Candidates are ranked by
// probability, matched one-to-one and cut at a threshold, which is a probability too. Package fit fits a scorer on
// known pairs that package inject adds to the sentences of two corpora. Package calibration uses such pairs to estimate
// the precision and recall of each threshold.
package score

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"bitextmine/corpus/surface"
	"bitextmine/encode/tokenizer"
	"bitextmine/mine"
	"bitextmine/score/feature"
)

// Format is the version of the scorer file.
const Format = 1

// Scorer computes the probability that a candidate is a translation: a logistic regression over standardised features.
type Scorer struct {
	Format    int          `json:"format"`
	Name      string       `json:"name"`
	Encoder   Encoder      `json:"encoder"`         // the encoder that it was fitted on
	K         int          `json:"k"`               // number of neighbours that count
	Tokens    bool         `json:"tokens"`          // whether the encoder gave token vectors
	Share     float64      `json:"share"`           // expected share of sentences that have a translation
	Prior     float64      `json:"prior,omitempty"` // share of translations among the candidates of the fit; 0: not stated
	Intercept float64      `json:"intercept"`
	Terms     []Term       `json:"terms"`
	Refined   *Refined     `json:"refined,omitempty"` // decides in two-stage mining; nil: fitted on one encoder
	Unknown   *Scorer      `json:"unknown,omitempty"` // decides where the encoder does not know a language; nil: s
	FittedOn  []KnownPairs `json:"fitted_on"`
	Quality   Quality      `json:"quality"`
	// Followed: the weights have followed a text (fit.ToText), and are surer there than they are right.
	Followed bool `json:"-"`
}

// Refined is a second regression: it decides about candidates that the strong encoder of two-stage mining has seen. It
// has two terms only: with one for each feature it learned the known pairs' kind of text, and lost on others
// (docs/encoders.md).
type Refined struct {
	Encoder   Encoder `json:"encoder"` // the strong one
	Floor     float64 `json:"floor"`   // the margin of a candidate that it saw
	Intercept float64 `json:"intercept"`
	// Terms are of RefinedFeatures: the first two where known pairs were injected, all where a run fits them.
	Terms []Term `json:"terms"`
}

// RefinedFeatures are the features of Refined.
var RefinedFeatures = []feature.Feature{
	{Name: "log_odds", Version: 1, Meaning: "log odds by the features of the first encoder"},
	{Name: "refine_cosine", Version: 1, Low: -1, High: 1, Meaning: "cosine of the strong encoder's vectors"},
	{Name: "refine_distance", Version: 1, Low: -2, High: 2,
		Meaning: "distance margin of these, without the pair, among the sentences that the strong encoder has seen"},
}

// InjectedRefined are the features of a Refined that is fitted on injected pairs, whose other neighbours it never sees.
var InjectedRefined = RefinedFeatures[:2]

// Logit returns the log odds of a candidate whose log odds without the strong encoder are z.
func (r *Refined) Logit(z float64, strong []float32) float64 {
	sum := r.Intercept + r.Terms[0].of(z)
	for i := range r.Terms[1:] {
		sum += r.Terms[1+i].of(float64(strong[i]))
	}
	return sum
}

// Encoder names the encoder that a scorer was fitted on.
type Encoder struct {
	Name   string `json:"name"`
	Digest string `json:"digest"`
}

// Term is one feature's part of the logit: Weight x (value - Mean) / Deviation.
type Term struct {
	Feature   string  `json:"feature"`
	Version   int     `json:"version"`
	Mean      float64 `json:"mean"`
	Deviation float64 `json:"deviation"`
	Weight    float64 `json:"weight"`
	Limit     float64 `json:"limit,omitempty"` // deviations from the mean that count at most; 0: all
	Short     float64 `json:"short,omitempty"` // what short candidates add to the weight in their order (short.go)
}

// CoverageLimit is the limit of features of token coverage. They say nearly the same, so their weights are large and of
// either sign, and far from what the fit saw they add up to nonsense: a heading of which every word is covered was less
// likely than a sentence of which most are. Of 3.5, 4, 4.5 and 5 it is the least that costs texts as those of the fit
// nothing (bench/results/scoring-2026-11-29.md).
const CoverageLimit = 4.5

// KnownPairs describes the known pairs that a scorer was fitted on.
type KnownPairs struct {
	Pairs    string `json:"pairs"`  // their origin
	Corpus   string `json:"corpus"` // the corpora that they were injected into
	Source   string `json:"src"`    // language
	Target   string `json:"tgt"`
	Injected int    `json:"injected"` // pairs
	// number of pairs that were among each other's neighbours when both sides were injected
	Found      int  `json:"found"`
	Candidates int  `json:"candidates"` // examples, true and false
	Seen       bool `json:"seen"`       // the encoder's model card lists their source as training data
}

// ErrFeatures is the error of a scorer with features that this program lacks or computes differently.
var ErrFeatures = errors.New("features differ")

// Decode reads a scorer file. An error that is due to features wraps ErrFeatures.
func Decode(data []byte) (*Scorer, error) {
	s := &Scorer{}
	d := json.NewDecoder(bytes.NewReader(data))
	if err := d.Decode(s); err != nil {
		return nil, fmt.Errorf("not a scorer file: %w", err)
	}
	if err := s.check(); err != nil {
		return nil, err
	}
	return s, nil
}

// check returns what makes a scorer's numbers unusable, also those of what it has for unknown languages.
func (s *Scorer) check() error {
	if s.Format != Format {
		return fmt.Errorf("its format is %d, this program reads %d", s.Format, Format)
	}
	if s.K < 1 || s.K >= int(mine.Unranked) {
		return fmt.Errorf("its k is %d", s.K)
	}
	if err := checkTerms(s.Intercept, s.Terms, feature.All); err != nil {
		return err
	}
	if math.IsNaN(s.Prior) || s.Prior < 0 || s.Prior >= 1 {
		return fmt.Errorf("its prior is %v, and must be from 0 to below 1", s.Prior)
	}
	if s.Refined != nil {
		if err := checkTerms(s.Refined.Intercept, s.Refined.Terms, InjectedRefined); err != nil {
			return err
		}
	}
	u := s.Unknown
	if u == nil {
		return nil
	}
	if u.K != s.K || u.Tokens != s.Tokens || u.Refined != nil || u.Unknown != nil {
		return errors.New("what it has for unknown languages is of another k or without tokens, or of two-stage mining")
	}
	if err := u.check(); err != nil {
		return fmt.Errorf("for unknown languages: %w", err)
	}
	return nil
}

// For is the scorer that decides with an encoder, given by its digest, which knows both languages or does not. known
// says whether its probabilities are adapted as in known languages: one that was fitted to a text knows the languages.
func (s *Scorer) For(encoder string, listed bool) (of *Scorer, known bool) {
	if listed || s.Unknown == nil || s.Encoder.Digest != encoder {
		return s, true
	}
	return s.Unknown, false
}

func checkTerms(intercept float64, terms []Term, features []feature.Feature) error {
	if len(terms) != len(features) {
		return fmt.Errorf("%w: it has %d, this program %d", ErrFeatures, len(terms), len(features))
	}
	for i, t := range terms {
		f := features[i]
		if t.Feature != f.Name || t.Version != f.Version {
			return fmt.Errorf("%w: it has %s version %d where this program has %s version %d", ErrFeatures, t.Feature, t.Version, f.Name, f.Version)
		}
		if !finite(t.Mean, t.Deviation, t.Weight, t.Limit, t.Short) || t.Deviation <= 0 || t.Limit < 0 {
			return fmt.Errorf("the term of %s is not made of finite numbers, a deviation above 0 and a limit from 0", t.Feature)
		}
	}
	if !finite(intercept) {
		return errors.New("its intercept is not finite")
	}
	return nil
}

func finite(values ...float64) bool {
	return !slices.ContainsFunc(values, func(x float64) bool { return math.IsNaN(x) || math.IsInf(x, 0) })
}

// Encode returns the scorer file.
func (s *Scorer) Encode() ([]byte, error) {
	data, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encode scorer: %w", err)
	}
	return append(data, '\n'), nil
}

// Logit returns the log odds of a candidate with these feature values: those of feature.All and, if the strong encoder
// of two-stage mining has seen it, those of RefinedFeatures but the first.
func (s *Scorer) Logit(values []float32) float64 {
	z := s.Intercept
	for i := range s.Terms {
		z += s.Terms[i].of(float64(values[i]))
	}
	if s.Refined != nil && len(values) > len(s.Terms) {
		z = s.Refined.Logit(z, values[len(s.Terms):])
	}
	return z
}

// Probability returns the probability that a candidate with these feature values is a translation.
func (s *Scorer) Probability(values []float32) float32 { return float32(Logistic(s.Logit(values))) }

func (t *Term) of(value float64) float64 { return t.Weight * t.Standard(value) }

// Standard is a value's distance from the mean, in deviations, at most the limit.
func (t *Term) Standard(value float64) float64 {
	distance := (value - t.Mean) / t.Deviation
	if t.Limit > 0 {
		return max(-t.Limit, min(distance, t.Limit))
	}
	return distance
}

// Logistic returns the probability whose log odds are z.
func Logistic(z float64) float64 { return 1 / (1 + math.Exp(-z)) }

// Contribution is one feature's part of a candidate's log odds, relative to a candidate with the mean value of the fit.
type Contribution struct {
	Feature string
	Value   float32
	Logit   float64
}

// Contributions splits a candidate's log odds by feature, largest first. With the intercept they add up to Logit.
func (s *Scorer) Contributions(values []float32) (intercept float64, all []Contribution) {
	intercept = s.Intercept
	for i := range s.Terms {
		all = append(all, Contribution{s.Terms[i].Feature, values[i], s.Terms[i].of(float64(values[i]))})
	}
	if s.Refined != nil && len(values) > len(s.Terms) {
		first, strong := s.Refined.Terms[0], s.Refined.Terms[1:]
		for i := range all {
			all[i].Logit *= first.Weight / first.Deviation
		}
		intercept = s.Refined.Intercept + first.of(intercept)
		for i, value := range values[len(s.Terms):][:len(strong)] {
			all = append(all, Contribution{strong[i].Feature, value, strong[i].of(float64(value))})
		}
	}
	slices.SortStableFunc(all, func(a, b Contribution) int { return cmp.Compare(math.Abs(b.Logit), math.Abs(a.Logit)) })
	return intercept, all
}

// Languages lists the language pairs that the scorer was fitted on.
func (s *Scorer) Languages() string {
	var pairs []string
	for _, p := range s.FittedOn {
		if name := p.Source + "-" + p.Target; !slices.Contains(pairs, name) {
			pairs = append(pairs, name)
		}
	}
	return strings.Join(pairs, ", ")
}

// WithoutTokens returns the scorer without its token features: every candidate then counts as average in them.
func (s *Scorer) WithoutTokens() *Scorer {
	off := *s
	off.Tokens = false
	off.Terms = slices.Clone(s.Terms)
	for i := range off.Terms {
		if feature.All[i].Kind == feature.Tokens {
			off.Terms[i].Weight, off.Terms[i].Short = 0, 0
		}
	}
	return &off
}

// nameList collects the names of a side's sentences, each once.
type nameList struct {
	place map[string]int32 // places in names
	names []feature.Name
	texts []string            // [len(names)]
	lower map[uint32]struct{} // hashes of words that occur without a capital
}

func newNameList() nameList {
	return nameList{place: map[string]int32{}, lower: map[uint32]struct{}{}}
}

// take moves a sentence's names to the list and returns their places.
func (n *nameList) take(from *surface.Features) []int32 {
	names, lower := from.Names, from.Lower
	from.Names, from.Lower = nil, nil // they hold on to the text
	for _, word := range lower {
		n.lower[word] = struct{}{}
	}
	list := make([]int32, 0, len(names))
	for _, name := range names {
		at, known := n.place[name.Text]
		if !known {
			at = int32(len(n.names))
			text := strings.Clone(name.Text)
			n.place[text] = at
			n.texts = append(n.texts, text)
			acronym, _ := surface.Acronym(text)
			n.names = append(n.names, feature.Name{Hash: name.Hash, Stem: name.Stem, Acronym: acronym, Sounds: surface.AppendSounds(nil, text)})
		}
		if !slices.Contains(list, at) {
			list = append(list, at)
		}
	}
	return list
}

// tokenize finds the tokens of the names.
func (n *nameList) tokenize(ctx context.Context, tokens Tokenizer, language string) (all tokenizer.Sequences, err error) {
	for part := range slices.Chunk(n.texts, chunk) {
		found, err := tokens.IDs(ctx, language, part)
		if err != nil {
			return all, err
		}
		begin := len(all.IDs)
		all.IDs = append(all.IDs, found.IDs...)
		for _, end := range found.Ends {
			all.Ends = append(all.Ends, begin+end)
		}
	}
	return all, nil
}

// list returns the names with their token ids, none if they were not tokenised, and the hashes of words that occur
// without a capital, ascending.
func (n *nameList) list(ids tokenizer.Sequences) (names *feature.NameList, lower []uint32) {
	names = &feature.NameList{}
	begin := 0
	for i, name := range n.names {
		var of []int32
		if ids.Ends != nil {
			of = ids.IDs[begin:ids.Ends[i]]
			begin = ids.Ends[i]
		}
		names.Add(name, of)
	}
	lower = slices.Sorted(maps.Keys(n.lower))
	*n = nameList{}
	return names, lower
}
