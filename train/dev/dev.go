// Package dev evaluates an encoder in training on test sets, with the protocols of mine eval.
package dev

import (
	"context"
	"slices"
	"strings"

	"bitextmine/corpus"
	"bitextmine/eval"
	"bitextmine/eval/testset"
	"bitextmine/index"
	"bitextmine/internal/badinput"
)

// Set is a test set and the protocol that an encoder is evaluated with.
type Set struct {
	Protocol string   `yaml:"protocol"` // tatoeba, xsim, sts, bucc-laser, bucc-cosine ...
	Dir      string   `yaml:"dir"`
	Split    string   `yaml:"split"` // split of FLORES
	Src      []string `yaml:"src"`
	Tgt      string   `yaml:"tgt"`
}

func (s Set) Validate() error {
	p, err := eval.ParseProtocol(s.Protocol)
	switch {
	case err != nil:
		return badinput.Errorf("dev: %w", err)
	case p.Name == eval.BUCCScored.Name:
		return badinput.Errorf("dev: %s needs more than vectors of sentences; take another protocol", p.Name)
	case p.Name == eval.STS.Name && s.Dir != "":
	case s.Dir == "" || s.Tgt == "":
		return badinput.Errorf("dev: %s needs dir and tgt", p.Name)
	}
	return nil
}

// Gives reports whether the figures of any of the sets may have a metric's name.
func Gives(sets []Set, metric string) bool {
	for _, s := range sets {
		if strings.HasPrefix(metric, s.Protocol+" ") {
			return true
		}
	}
	return false
}

// Evaluate returns the percentages of every set under the names of eval's rows and columns, such as "bucc-laser de-en
// f1". A stop metric must be one that is better when it is higher, so it cannot be an error rate.
func Evaluate(ctx context.Context, sets []Set, vectors eval.VectorSource, searcher index.Searcher) (map[string]float64, error) {
	figures := map[string]float64{}
	runner := &eval.Runner{Vectors: vectors, Searcher: searcher}
	for len(sets) > 0 {
		n := 1 // number of protocols with the same sentences, which are encoded once
		for n < len(sets) && sets[n].shares(sets[0]) {
			n++
		}
		reports, err := sets[0].reports(ctx, runner, sets[:n])
		if err != nil {
			return nil, err
		}
		for _, r := range reports {
			for _, row := range append(r.Rows, r.Means...) {
				for i, column := range r.Columns {
					if x, ok := row.Cells[i].(float64); ok && column.Kind == eval.Percentage {
						figures[r.Protocol.Name+" "+row.Name+" "+column.Name] = x
					}
				}
			}
		}
		sets = sets[n:]
	}
	return figures, nil
}

// shares reports whether two BUCC protocols use the same halves.
func (s Set) shares(other Set) bool {
	bucc := strings.HasPrefix(s.Protocol, "bucc") && strings.HasPrefix(other.Protocol, "bucc")
	return bucc && s.Dir == other.Dir && s.Tgt == other.Tgt && slices.Equal(s.Src, other.Src)
}

// reports evaluates with the protocols of all, which have the same sentences as s.
func (s Set) reports(ctx context.Context, runner *eval.Runner, all []Set) ([]*eval.Report, error) {
	var protocols []eval.Protocol
	for _, one := range all {
		protocol, err := eval.ParseProtocol(one.Protocol)
		if err != nil {
			return nil, err
		}
		protocols = append(protocols, protocol)
	}
	switch {
	case s.Protocol == eval.STS.Name:
		found, err := testset.FindSTS(s.Dir)
		if err != nil {
			return nil, err
		}
		report, err := runner.STS(ctx, found)
		return []*eval.Report{report}, err
	case !strings.HasPrefix(s.Protocol, "bucc"):
		target, sources, err := s.languages()
		if err != nil {
			return nil, err
		}
		found, err := testset.FindAligned(s.Dir, s.Split, sources, target)
		if err != nil {
			return nil, err
		}
		return runner.Aligned(ctx, protocols, found, eval.AlignedOptions{})
	}
	var pairs []testset.LanguagePair
	for _, source := range s.Src {
		pair, err := testset.ParsePair(source, s.Tgt)
		if err != nil {
			return nil, err
		}
		pairs = append(pairs, pair)
	}
	return runner.BUCC(ctx, protocols, s.Dir, pairs)
}

// languages returns the names by which line-aligned sets are found.
func (s Set) languages() (target string, sources []string, err error) {
	if target, err = corpus.ParseLanguage(s.Tgt); err != nil {
		return "", nil, badinput.Errorf("dev: tgt: %w", err)
	}
	for _, code := range s.Src {
		source, err := corpus.ParseLanguage(code)
		if err != nil {
			return "", nil, badinput.Errorf("dev: src: %w", err)
		}
		sources = append(sources, source)
	}
	return target, sources, nil
}
