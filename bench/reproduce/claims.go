package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"bitextmine/bench/reproduce/statistic"
)

// claim is a claim of a paper, as comparisons that must all have the claimed result.
type claim struct {
	paper, says string
	over        []comparison
	elsewhere   string // what would decide it if no budget here can
}

// comparison says that one system is better than another by the paper's metric, in the paper by about as many points as
// claimed. If maxRatio is set, it says instead that a step takes at most this many times the CPU time.
type comparison struct {
	better, worse, protocol string
	set                     string // only on this set; empty: on all sets of the protocol
	less                    string // the claim is of this protocol's figure less protocol's, which is smaller
	claimed, maxRatio       float64
}

// claims are the papers' claims that this program can check. The papers give the figures in them. Priority + TCM is
// called soft in IMASCL's Table 2, and its differences are means over the language pairs of Tables 2 and 4. claimed is
// 0 where a paper gives no size.
var claims = []claim{
	{"EMS", "Without its contrastive terms EMS is worse (89.8 to 84.3 on its Tatoeba set)", accurate("ems", "ems-no-contrastive", 5.5), gpuEMS},
	{"EMS", "Without XTR EMS is worse (89.8 to 85.5)", accurate("ems", "ems-no-xtr", 4.3), gpuEMS},
	{"EMS", "Without the MLP before its contrastive terms EMS is worse (89.8 to 86.3)", accurate("ems", "ems-no-mlp", 3.5), gpuEMS},
	{"EMS", "EMS is better than LaBSE's loss (89.8 to 83.7)", accurate("ems", "labse-vanilla", 6.1), gpuEMS},
	{"EMS", "XTR costs about 5% of a step (held here: at most 10%)", []comparison{{better: "ems", worse: "ems-no-xtr", maxRatio: 1.10}}, ""},
	{"IMASCL", "Soft labels find translations better than hard ones (Tatoeba: +2.5, the mean of 4 pairs)", accurate("imascl-tcm", "imascl-hard", 2.5), gpuIMASCL},
	{"IMASCL", "Soft labels are better than hard ones at STS (en +10.6; ko, fr and ru +7.2)", similar("imascl-tcm", "imascl-hard", 10.6, 7.2), gpuIMASCL},
	{"IMASCL", "Fine-tuning with hard labels harms STS (en -11.6; ko, fr and ru -6.8)", similar("start", "imascl-hard", 11.6, 6.8), gpuIMASCL},
	{"IMASCL", "Soft labels mine better than hard ones (accuracy on BUCC: +3.9, the mean of en-fr and en-ru)", []comparison{{better: "imascl-tcm", worse: "imascl-hard", protocol: "bucc-mteb", claimed: 3.9}}, gpuIMASCL},
	{"IMASCL", "TCM lifts STS of the side that is not English (+1.4)", []comparison{{better: "imascl-tcm", worse: "imascl", protocol: "sts", set: "es", claimed: 1.4}}, gpuIMASCL},
	{"IMASCL", "Soft labels find translations better than MSE distillation (+0.5)", accurate("imascl-tcm", "mse-distill", 0.5), gpuIMASCL},
	{"IMASCL", "Soft labels find translations better than hard negatives (mUSE, +2.8)", accurate("imascl-tcm", "muse", 2.8), gpuIMASCL},
	{"WACSE", "WACSE is better than DAP (Tatoeba, 5 languages: 73.4 to 76.0, 36: 92.0 to 92.1; STS22: 51.7 to 58.7)", nil, gpuWACSE},
	{"WACSE", "Word prediction and ranking add to translation ranking (36 languages: 90.7 to 91.1, Table 9)", nil, gpuWACSE},
	{"WACSE", "The same in languages with little text (5 languages: 75.8 to 77.4)", accurate("wacse", "wacse-tr", 1.6), gpuWACSE},
	{"WACSE", "Word prediction alone adds to it in such languages (8 languages: 79.8 to 80.8)", accurate("wacse-no-wtr", "wacse-tr", 1.0), gpuWACSE},
	{"WACSE", "Word ranking alone adds to it in such languages (79.8 to 81.1)", accurate("wacse-no-awp", "wacse-tr", 1.3), gpuWACSE},
	{"VMSST", "VMSST is better than contrastive learning (24 layers from nothing: BUCC by margin 89.0 to 83.7)", []comparison{{better: "vmsst", worse: "contrastive-dot", protocol: "bucc-laser", claimed: 5.3}}, gpuVMSST},
	{"VMSST", "VMSST is better than contrastive learning at semantic similarity and retrieval of questions (24 layers: score 52.4 to 58.1)", nil, gpuVMSST},
	{"VMSST", "VMSST's space has fewer hubs (the same: BUCC by margin less by cosine: 10.3 to 19.4)", []comparison{{better: "vmsst", worse: "contrastive-dot", protocol: "bucc-cosine", less: "bucc-laser", claimed: 9.1}}, gpuVMSST},
	{"MEXMA", "Gradients of tokens lower the error of xsim++ (11.37 to 9.67 without KoLeo, Table 5)", []comparison{{better: "mexma-no-koleo", worse: "mexma-no-tokens", protocol: "xsim++", claimed: 1.7}}, gpuMEXMA},
	// of no paper: the effects that count were set before any row
	{noPaper, "Pairs that 500 known pairs' encoder mines add to these (at least 2 points count)", accurate("round-1", "known", 2), ""},
	{noPaper, "A second round of mining adds to the first (1)", accurate("round-2", "round-1", 1), ""},
	{noPaper, "Pairs by the scorer are worth more than by the margin (1)", accurate("round-1-scorer", "round-1", 1), ""},
	{noPaper, "Hard negatives add to the second round (1)", accurate("round-2-negatives", "round-2", 1), ""},
}

// noPaper stands for the paper of a claim that none makes.
const noPaper = "(none)"

// What a paper's own comparison takes. EMS says so itself (20 V100 days until a model has converged); for the others
// it is the arithmetic of their steps at 120 TFLOP/s, 40% of an A100, whatever they were trained on.
const (
	gpuEMS    = "480 V100 hours a row"
	gpuIMASCL = "1 A100 hour a row"
	gpuWACSE  = "3 A100 hours a row"
	gpuVMSST  = "450 A100 hours a row"
	gpuMEXMA  = "600 A100 hours a row"
)

// common is the end of the names of rows that have one pooling for all systems, the mean of tokens.
const common = "-mean"

// accurate compares by the accuracy of the nearest neighbour by cosine in both directions, Tatoeba's metric.
func accurate(better, worse string, claimed float64) []comparison {
	return []comparison{{better: better, worse: worse, protocol: "tatoeba", claimed: claimed}}
}

func similar(better, worse string, en, es float64) []comparison {
	return []comparison{{better: better, worse: worse, protocol: "sts", set: "en", claimed: en},
		{better: better, worse: worse, protocol: "sts", set: "es", claimed: es}}
}

// pooled are a claim's comparisons with the rows of the common pooling.
func (c claim) pooled() claim {
	c.over = slices.Clone(c.over)
	for i := range c.over {
		c.over[i].better += common
		c.over[i].worse += common
	}
	return c
}

// judgement is the result of a comparison in a part of a budget.
type judgement struct {
	comparison
	measure string // the paper's metric on a set here, or the time of a step
	effect  statistic.Effect
	ratio   float64
	outcome statistic.Outcome
	because string   // why it is not tested
	needed  int      // how many seeds it takes
	apart   []uint64 // seeds that are left out, because their rows are on different pairs
}

// The rule's bounds.
const (
	// share of labels on the pair itself, in percent, above which soft labels cannot be told from hard ones
	hardened = 90
	// accuracy, in percent, under which a row has not trained
	least = 20
	// points of accuracy under its start at which a row has not trained, but lost what it had
	lost = 10
	// share of answers, in percent, under which a row that differs from its start in them stayed there
	moved = 1
	// an accuracy of both rows, in percent, that leaves nothing to gain
	full = 99.5
)

// start is the row that a system starts from, if it is one of the budget.
func (b budget) start(system string) string {
	if g, s, err := b.of(system); err == nil {
		return cmp.Or(s.Start, g.Start, b.Teacher)
	}
	return ""
}

// judge decides a comparison on every set of its metric.
func (c comparison) judge(b budget, t table) (all []judgement) {
	if c.better == "start" {
		c.better = b.start(c.worse)
	}
	if c.maxRatio > 0 {
		return []judgement{c.cost(b, t)}
	}
	var names []string
	for _, system := range []string{c.better, c.worse} {
		for _, r := range t.rows(system) {
			for _, m := range r.Measures {
				if m.Protocol == c.protocol && (c.set == "" || c.set == m.Set) && !slices.Contains(names, m.name()) {
					names = append(names, m.name())
				}
			}
		}
	}
	slices.Sort(names)
	for _, name := range names {
		all = append(all, c.on(b, t, name))
	}
	return all
}

// cost compares the time of a step, seed by seed, which is judged at the paper's size alone. All seeds must be on one
// side: a machine's other work changes a step's time by more than a small cost does.
func (c comparison) cost(b budget, t table) judgement {
	j := judgement{comparison: c, measure: "time of a step", needed: b.needed()}
	var ratios []float64
	for seed, x := range t[c.better] {
		if y := t[c.worse][seed]; y != nil && x.Step > 0 && y.Step > 0 {
			ratios = append(ratios, x.Step/y.Step)
		}
	}
	if len(ratios) == 0 {
		j.because = "no rows"
		return j
	}
	slices.Sort(ratios)
	j.effect.Seeds = len(ratios)
	j.ratio = ratios[len(ratios)/2]
	switch least, most := ratios[0], ratios[len(ratios)-1]; {
	case !b.PaperSize:
		j.because = "a cost is judged at the paper's size"
	case len(ratios) < j.needed:
		j.because = fmt.Sprintf("%d of %d seeds have rows", len(ratios), j.needed)
	case most <= c.maxRatio:
		j.outcome = statistic.Held
	case least > c.maxRatio:
		j.outcome = statistic.Contrary
	default:
		j.because = fmt.Sprintf("seeds differ, from x%.3f to x%.3f", least, most)
	}
	return j
}

// seeds are the pairs of rows of one seed. Rows of one seed share their batches and what they start from. A start that
// has one seed alone is compared with all rows that start from it. The seeds apart have rows on different pairs where
// the budget gives both systems the same.
func (c comparison) seeds(b budget, t table, name string) (all []statistic.Seed, apart []uint64) {
	for _, seed := range slices.Sorted(maps.Keys(t[c.worse])) {
		better, worse := t[c.better][seed], t[c.worse][seed]
		if better == nil && len(t[c.better]) == 1 && c.better == b.start(c.worse) {
			better = t.any(c.better)
		}
		if better == nil {
			continue
		}
		if better.Pairs != worse.Pairs && b.sharePairs(c.better, c.worse) {
			apart = append(apart, seed)
			continue
		}
		x, ok := better.of(name)
		y, also := worse.of(name)
		if !ok || !also || !slices.Equal(x.Of, y.Of) {
			continue
		}
		s := statistic.Seed{Better: x.Items, Worse: y.Items}
		if c.less != "" {
			of := strings.Replace(name, c.protocol, c.less, 1)
			x, ok := better.of(of)
			y, also := worse.of(of)
			if !ok || !also {
				continue
			}
			s = statistic.Seed{Better: slices.Concat(s.Better, y.Items), Worse: slices.Concat(s.Worse, x.Items)}
		}
		all = append(all, s)
	}
	return all, apart
}

// sharePairs reports whether a budget trains two systems on the same pairs.
func (b budget) sharePairs(x, y string) bool {
	g, s, err := b.of(x)
	h, other, failed := b.of(y)
	return err == nil && failed == nil && g.Name == h.Name && s.Mined == nil && other.Mined == nil
}

// on decides a comparison on one set.
func (c comparison) on(b budget, t table, name string) judgement {
	seeds, apart := c.seeds(b, t, name)
	j := judgement{comparison: c, measure: name, effect: statistic.Compare(seeds), needed: b.needed(), apart: apart}
	if c.less != "" { // the mean over twice as many figures is half of the difference of differences
		j.measure = fmt.Sprintf("%s less %s", name, c.less)
		j.effect = j.effect.Times(2)
	}
	moving, unknown := c.settled(b, t, name)
	if j.because = cmp.Or(b.reason(c), c.excused(b, t, name), moving); j.because == "" {
		j.outcome = j.effect.Outcome(c.claimed)
		switch {
		case j.effect.Seeds < j.needed: // who stops as soon as a result is clear finds what chance made clear
			j.outcome, j.because = statistic.Untested, fmt.Sprintf("%d of %d seeds have rows", j.effect.Seeds, j.needed)
		case j.outcome == statistic.Untested:
			j.because = "its interval has both nothing and the claimed effect"
		case j.outcome == statistic.NotHeld && unknown != "":
			j.outcome, j.because = statistic.Untested, unknown
		case j.outcome == statistic.Smaller && unknown != "":
			j.outcome, j.because = statistic.Held, "its size is not judged, since "+unknown
		}
	}
	return j
}

// needed is how many seeds a comparison takes.
func (b budget) needed() int { return max(len(strings.Fields(b.Seeds)), 2) }

// excused is why rows judge nothing, or empty: a row did not train, all rows are at the end of the scale, or soft
// labels are hard ones.
func (c comparison) excused(b budget, t table, name string) string {
	for _, system := range []string{c.better, c.worse} {
		if why := b.untrained(t, system); why != "" {
			return why
		}
		for _, r := range t.rows(system) {
			if edge := r.edge(); edge != "" {
				return fmt.Sprintf("`%s` did best with the %s rate that was tried, %g", system, edge, r.Rate)
			}
		}
	}
	if soft := t.any(c.better); soft != nil && soft.Own > hardened && c.worse != b.start(c.better) {
		return fmt.Sprintf("the teacher's labels have %.0f%% of their mass on the pair itself: they are hard ones", soft.Own)
	}
	if c.byAnswers() {
		number := func(r *result) (float64, bool) {
			m, ok := r.of(name)
			return m.figure(), ok
		}
		a, other := t.values(c.better, number), t.values(c.worse, number)
		if len(a) > 0 && len(other) > 0 && min(a[0], other[0]) > full {
			return "both rows find everything"
		}
	}
	return ""
}

// byAnswers reports whether the metric is a share of right answers.
func (c comparison) byAnswers() bool { return c.protocol == "tatoeba" || c.protocol == "bucc-mteb" }

// untrained is why a system's rows judge nothing, or empty. Retrieval by cosine says whether a row trained.
func (b budget) untrained(t table, system string) string {
	start := b.start(system)
	first, last := 0.0, 0.0 // losses of all seeds: that of one depends on which batches its log's lines are of
	for _, r := range t.rows(system) {
		most, compared := 0.0, false // share of answers that are not the start's
		for _, m := range r.Measures {
			if m.Protocol != "tatoeba" {
				continue
			}
			if x := m.figure(); x < least {
				return fmt.Sprintf("`%s` did not train: it finds %.1f%% on %s", system, x, m.Set)
			} else if start != "" && start != system {
				was, ok := t.before(start, r.Seed).of(m.name())
				if !ok {
					return fmt.Sprintf("no row of `%s`, which `%s` starts from, says whether it trained on %s", start, system, m.Set)
				}
				if was.figure()-x > lost {
					return fmt.Sprintf("`%s` did not train: it lost %.0f points of its start on %s", system, was.figure()-x, m.Set)
				}
				most, compared = max(most, m.unlike(was)), true
			}
		}
		if compared && most < moved {
			return fmt.Sprintf("`%s` stayed where it started: at most %.1f%% of its answers are others", system, most)
		}
		first, last = first+r.Losses[0], last+r.Losses[1]
	}
	if last > first {
		return fmt.Sprintf("the loss of `%s` did not fall", system)
	}
	return ""
}

// any reports whether there are rows to compare.
func (j judgement) any() bool { return j.effect.Seeds > 0 || j.ratio > 0 }

// bagged is the vector of rows whose encoder is a bag, which no paper's is.
const bagged = "bag"

// verdict is the result of a claim in a part of a budget.
type verdict struct {
	claim
	budget, vectors string
	part            string // languages, if the budget has several parts
	judgements      []judgement
	outcome         statistic.Outcome
}

// verdicts returns the results of claims whose systems are in the budget, of rows with the paper's vectors and with
// common ones.
func (b budget) verdicts(part []string, t table) (all []verdict) {
	systems := append(b.systems(), "start")
	for _, c := range claims {
		for _, pooled := range []bool{false, true} {
			v := verdict{claim: c, budget: b.name, vectors: "the paper's"}
			if c.paper == noPaper {
				v.vectors = "mean"
			}
			if len(b.Parts) > 1 {
				v.part = strings.Join(part, " ")
			}
			if pooled {
				v.claim, v.vectors = c.pooled(), "mean"
			}
			for _, over := range v.over {
				known := slices.Contains(systems, over.better) && slices.Contains(systems, over.worse)
				if known && (over.maxRatio == 0 || b.PaperSize) {
					v.judgements = append(v.judgements, over.judge(b, t)...)
				}
			}
			for _, j := range v.judgements {
				if r := t.any(j.better); r != nil && r.Vector == bagged && !pooled {
					v.vectors = "a bag's"
				}
			}
			if slices.ContainsFunc(v.judgements, judgement.any) {
				v.outcome = together(v.judgements)
				all = append(all, v)
			}
		}
	}
	return all
}

// together is the result of a claim: that of its comparisons if all agree; not held if one is not; held if all are,
// some smaller than in the paper; otherwise not tested.
func together(all []judgement) statistic.Outcome {
	worst := statistic.Held
	for _, j := range all {
		switch {
		case j.outcome == statistic.Contrary || j.outcome == statistic.NotHeld:
			return statistic.NotHeld
		case j.outcome == statistic.Untested:
			worst = statistic.Untested
		case j.outcome == statistic.Smaller && worst == statistic.Held:
			worst = statistic.Smaller
		}
	}
	return worst
}
