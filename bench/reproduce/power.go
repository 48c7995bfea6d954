package main

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"bitextmine/bench/reproduce/sample"
	"bitextmine/bench/reproduce/statistic"
	"bitextmine/eval"
	"bitextmine/eval/testset"
	"bitextmine/internal/badinput"
	"bitextmine/train"
)

// power says for every comparison of a budget, before anything is trained, how small an effect it can tell from
// nothing, and returns an error if none can tell the paper's. rows is the folder of the rows that are there: a start
// among them may leave little to gain.
func (b budget) power(w io.Writer, seeds int, rows string) error {
	some, tested := b.PaperSize, false
	for _, part := range b.Parts {
		t, err := readTable(rows, b, part)
		if err != nil {
			return err
		}
		for _, over := range b.comparisons() {
			if why := b.reason(over); why != "" {
				_, _ = fmt.Fprintf(w, "%s, %s over %s: not tested: %s\n", strings.Join(part, " "), over.better, over.worse, why)
				continue
			}
			tested = true
			for _, set := range judged(b.Sets, part) {
				if set.Protocol != over.protocol || over.set == "es" && !slices.Contains(part, "es") {
					continue
				}
				n, err := items(set, over.set)
				if err != nil {
					return err
				}
				can, told := b.Expect.can(over.claimed, seeds, n)
				can += over.ceiling(b, t, set)
				some = some || told
				_, _ = fmt.Fprintf(w, "%s, %s over %s, %s %s: %s\n", strings.Join(part, " "), over.better, over.worse, set.Protocol, strings.TrimSpace(set.Dir+" "+over.set), can)
			}
		}
	}
	if !some && !tested {
		return badinput.Errorf("the budget %s tests no claim, as untested in its file says: give -anyway for its rows, or another budget", b.name)
	}
	if !some {
		return badinput.Errorf("the budget %s cannot tell any claim of its systems, number of seeds: %d: give more -seeds, or -anyway", b.name, seeds)
	}
	return nil
}

// ceiling warns of a start that leaves no room for the claimed effect on a set; empty: it leaves some, or is not known.
// The worse system may still lose what it had.
func (c comparison) ceiling(b budget, t table, set train.DevSet) string {
	start := t.any(b.start(c.worse))
	if start == nil || !c.byAnswers() {
		return ""
	}
	m, ok := start.of(measure{Protocol: set.Protocol, Set: nameOf(set)}.name())
	if x := m.figure(); ok && x+c.claimed > 100 {
		return fmt.Sprintf("; `%s`, the start, finds %.1f%% already, so %.1f points cannot be gained", start.System, x, c.claimed)
	}
	return ""
}

// comparisons lists the comparisons of all claims whose systems are in the budget, but for costs.
func (b budget) comparisons() (all []comparison) {
	systems := b.systems()
	for _, c := range claims {
		for _, over := range c.over {
			if over.better == "start" {
				over.better = b.start(over.worse)
			}
			if over.maxRatio == 0 && slices.Contains(systems, over.better) && slices.Contains(systems, over.worse) {
				all = append(all, over)
			}
		}
	}
	return all
}

// can says whether seeds and items tell the paper's effect.
func (e expectation) can(claimed float64, seeds, items int) (text string, told bool) {
	least := e.detectable(seeds, items)
	text = fmt.Sprintf("%d seeds and %d items tell %.1f points in four of five experiments, the paper's are %.1f: ", seeds, items, least, claimed)
	if seeds < 2 {
		text = fmt.Sprintf("one seed does not say how much seeds differ, the paper's points are %.1f: ", claimed)
	}
	if least <= claimed {
		return text + "they can tell", true
	}
	for more := seeds + 1; more <= 100; more++ {
		if e.detectable(more, items) <= claimed {
			return text + fmt.Sprintf("they cannot tell, %d seeds can", more), false
		}
	}
	return text + "they cannot tell, nor can more seeds", false
}

// detectable is the effect that is larger than its error in four of five experiments.
func (e expectation) detectable(seeds, items int) float64 {
	if seeds < 2 {
		return math.Inf(1)
	}
	bySeed, byItem := e.Spread/math.Sqrt(float64(seeds)), 10*math.Sqrt(e.Differ/float64(items))
	const four = 0.84 // quantile of the normal distribution at 80%
	return (statistic.Quantile(bySeed, byItem, seeds) + four) * math.Hypot(bySeed, byItem)
}

// items is the number of a set's items: lines of all languages, gold pairs, or of STS the pairs of a language.
func items(s train.DevSet, language string) (n int, err error) {
	p, err := eval.ParseProtocol(s.Protocol)
	if err != nil {
		return 0, err
	}
	switch p.Data() {
	case eval.STSSets:
		sets, err := testset.FindSTS(s.Dir)
		for _, files := range sets {
			if err == nil && languageOf(files.Year+" "+files.Name) == language {
				set, failed := testset.ReadSTS(files)
				n, err = n+len(set.Scores), failed
			}
		}
		return n, err
	case eval.AlignedSets:
		return n, eachAligned(s, func(_ testset.LanguagePair, src, _ testset.Side, _ int) error { n += len(src.Texts); return nil })
	}
	for _, language := range s.Src {
		pair, err := testset.ParsePair(language, s.Tgt)
		if err != nil {
			return 0, err
		}
		halves, err := testset.FindBUCC(s.Dir, pair)
		if err != nil {
			return 0, err
		}
		if err := sample.Lines(halves[0].Gold, 0, func(string) error { n++; return nil }); err != nil {
			return 0, err
		}
	}
	return n, nil
}
