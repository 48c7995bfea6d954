package main

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// claim is a claim of a paper, as comparisons that must all have the claimed result.
type claim struct {
	paper, says string
	over        []comparison
}

// comparison says that one system is better than another by a figure, in the paper by about as many points as claimed.
// If maxRatio is set, it says instead that a step takes at most this many times the CPU time.
type comparison struct {
	better, worse, figure string
	claimed, maxRatio     float64
}

// claims are the papers' claims that this program can check. The figures in them are those of the papers. What IMASCL's
// Table 2 calls soft is Priority + TCM. Its differences are means over the language pairs of Tables 2 and 4; of figures
// that the papers do not have, those of the nearest one (FLORES and NTREX: Tatoeba). claimed is 0 where a paper gives
// no size: what is within its error is then not tested.
var claims = []claim{
	{"EMS", "Both losses matter: without contrastive terms (89.8 to 84.3 on its Tatoeba set)", retrieval("ems", "ems-no-contrastive", 5.5)},
	{"EMS", "Both losses matter: without XTR (to 85.5)", retrieval("ems", "ems-no-xtr", 4.3)},
	{"EMS", "The MLP before the contrastive terms matters (without it 86.3)", retrieval("ems", "ems-no-mlp", 3.5)},
	{"EMS", "EMS is better than LaBSE's loss (83.7)", retrieval("ems", "labse-vanilla", 6.1)},
	{"EMS", "XTR costs about 5% of a step (held here: at most 10%)", []comparison{{better: "ems", worse: "ems-no-xtr", maxRatio: 1.10}}},
	{"IMASCL", "Soft labels (teacher at 0.1) find translations better than hard ones (Tatoeba en-ko 91.6 to 86.3)", found("imascl-tcm", "imascl-hard", 2.5)},
	{"IMASCL", "The same with the teacher at 0.3", found("imascl-tcm-0.3", "imascl-hard", 2.5)},
	{"IMASCL", "Soft labels (teacher at 0.1) are better than hard ones at STS", similarity("imascl-tcm", "imascl-hard", 10.6, 7.2)},
	{"IMASCL", "The same with the teacher at 0.3", similarity("imascl-tcm-0.3", "imascl-hard", 10.6, 7.2)},
	{"IMASCL", "Fine-tuning with hard labels harms STS", similarity("bag", "imascl-hard", 11.6, 6.8)},
	{"IMASCL", "TCM lifts STS of the side that is not English", []comparison{{better: "imascl-tcm", worse: "imascl", figure: stsES, claimed: 1.4}}},
	{"IMASCL", "Soft labels find translations better than MSE distillation", found("imascl-tcm", "mse-distill", 0.5)},
	{"IMASCL", "Soft labels find translations better than hard negatives (mUSE)", found("imascl-tcm", "muse", 2.8)},
	{"WACSE", "Word prediction and word ranking add to translation ranking (36 languages: +0.1; 4 and 5 low-resource ones: +2.0, +2.6)", retrieval("wacse", "wacse-tr", 0.1)},
	{"VMSST", "VMSST is better than contrastive learning (24 layers: bucc-laser 89.0 to 83.7)", retrieval("vmsst", "contrastive-dot", 5.3)},
	{"VMSST", "Its space has fewer hubs (bucc-laser less bucc-cosine: 10.3 to 19.4)", []comparison{
		{better: "vmsst", worse: "contrastive-dot", figure: gap, claimed: 9.1}, {better: "vmsst", worse: "contrastive-dot", figure: skew}}},
	{"MEXMA", "Gradients of tokens are its largest step (xsim++ 11.37 to 9.67)", retrieval("mexma", "mexma-no-tokens", 1.7)},
	{"MEXMA", "With them more of the nearest tokens stand in translations (97.9% to 87.6%)", []comparison{{better: "mexma", worse: "mexma-no-tokens", figure: matched, claimed: 10.3}}},
}

// retrieval compares by what text of other domains than the training's says first.
func retrieval(better, worse string, claimed float64) []comparison {
	return []comparison{{better: better, worse: worse, figure: flores, claimed: claimed}, {better: better, worse: worse, figure: ntrex, claimed: claimed}}
}

// found adds the domain of the training.
func found(better, worse string, claimed float64) []comparison {
	return append(retrieval(better, worse, claimed), comparison{better: better, worse: worse, figure: tatoeba, claimed: claimed})
}

func similarity(better, worse string, en, es float64) []comparison {
	return []comparison{{better: better, worse: worse, figure: stsEN, claimed: en}, {better: better, worse: worse, figure: stsES, claimed: es}}
}

// outcome is the result of a comparison.
type outcome int

const (
	untested outcome = iota // it cannot be known: too few seeds, an error as large as the claim, or for a budget's reason
	held                    // the difference is as claimed and larger than its error
	unclear                 // the difference is within an error that is smaller than the claim
	contrary                // the difference has the opposite sign and is larger than its error
)

func (o outcome) String() string { return [...]string{"not tested", "held", "not held", "contrary"}[o] }

// quantiles are the 0.975 quantiles of Student's t distribution with 1 to 30 degrees of freedom.
var quantiles = []float64{12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131,
	2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042}

// differences are those of two rows' figures, better less worse, of each seed that both have. Rows of one seed share
// their batches and what they start from, so they are compared seed by seed. A row of the teacher has one seed and is
// compared with all.
func differences(better, worse []*result, figure, teacher string) (all []float64) {
	for _, a := range better {
		for _, b := range worse {
			x, ok := a.Figures[figure]
			y, also := b.Figures[figure]
			if ok && also && (a.Seed == b.Seed || a.System == teacher || b.System == teacher) {
				all = append(all, x-y)
			}
		}
	}
	return all
}

// decide compares the mean of differences, in the claim's direction, with its error at 95%: of a paired t test, t(n-1)
// s/sqrt(n), where s is the standard deviation of the differences over seeds.
func decide(differences []float64, lower bool, claimed float64) (mean, error float64, o outcome) {
	s := summarise(differences)
	if mean = s.mean; lower {
		mean = -mean
	}
	if s.n < 2 {
		return mean, 0, untested
	}
	error = quantiles[min(s.n-1, len(quantiles))-1] * s.spread / math.Sqrt(float64(s.n))
	switch {
	case mean > error:
		return mean, error, held
	case mean < -error:
		return mean, error, contrary
	case error >= claimed:
		return mean, error, untested
	}
	return mean, error, unclear
}

// hardened is the share of labels on the pair itself, in percent, above which soft labels cannot be told from hard
// ones.
const hardened = 90

// compare returns the last cells of a line: what was compared, and the result.
func (c comparison) compare(b budget, rows map[string][]*result) (what, numbers string, o outcome) {
	what = fmt.Sprintf("`%s` over `%s`", c.better, c.worse)
	why := b.reason(c)
	if c.maxRatio > 0 {
		step := func(r *result) float64 { return r.Step }
		a, other := over(rows[c.better], step), over(rows[c.worse], step)
		if o = untested; a.n > 1 && other.n > 1 && other.mean > 0 {
			numbers = fmt.Sprintf("x%.2f", a.mean/other.mean)
			if o = held; a.mean > c.maxRatio*other.mean {
				o = contrary
			}
		}
		if why != "" {
			o = untested
		}
		return what + ", " + stepTime, strings.TrimSpace(numbers + " " + why), o
	}
	f := figures[slices.IndexFunc(figures, func(f figure) bool { return f.name == c.figure })]
	by := differences(rows[c.better], rows[c.worse], c.figure, b.Teacher)
	difference, within, o := decide(by, f.error || f.name == skew, c.claimed)
	if len(by) > 1 {
		numbers = fmt.Sprintf("%+.2f (%.2f; paper %.1f)", difference, within, c.claimed)
	}
	if share := of(rows[c.better], own); c.worse == "imascl-hard" && share.n > 0 && share.mean > hardened {
		why = fmt.Sprintf("the teacher's labels have %.0f%% of their mass on the pair itself: they are hard ones", share.mean)
	}
	if why != "" {
		o = untested
		numbers = strings.TrimSpace(numbers + " " + why)
	}
	return what + ", " + c.figure, numbers, o
}

// checkClaims writes the claims whose systems are in the budget. A claim is held if every comparison is.
func checkClaims(w *strings.Builder, b budget, part []string, rows map[string][]*result) {
	fmt.Fprint(w, "| paper | claim | here | comparison | better by (error at 95%; paper) | |\n| --- | --- | --- | --- | --- | --- |\n")
	systems := b.systems()
	for _, c := range claims {
		if slices.ContainsFunc(c.over, func(c comparison) bool {
			return !slices.Contains(systems, c.better) || !slices.Contains(systems, c.worse)
		}) {
			continue
		}
		comparisons := slices.DeleteFunc(slices.Clone(c.over), func(c comparison) bool { return c.maxRatio == 0 && !shown(c.figure, part) })
		if len(comparisons) == 0 {
			continue
		}
		var lines []string
		var all []outcome
		for _, over := range comparisons {
			what, numbers, o := over.compare(b, rows)
			lines = append(lines, fmt.Sprintf("%s | %s | %s |", what, numbers, o))
			all = append(all, o)
		}
		for i, l := range lines {
			if i == 0 {
				fmt.Fprintf(w, "| %s | %s | **%s** | %s\n", c.paper, c.says, together(all), l)
				continue
			}
			fmt.Fprintf(w, "| | | | %s\n", l)
		}
	}
}

// shown reports whether a part has a figure.
func shown(name string, part []string) bool {
	return slices.ContainsFunc(figures, func(f figure) bool { return f.name == name && (f.language == "" || slices.Contains(part, f.language)) })
}

// together is the result of a claim: held if all its comparisons are, not held if one is not, otherwise not tested.
func together(all []outcome) string {
	result := held
	n := 0
	for _, o := range all {
		switch {
		case o == held:
			n++
		case o == unclear || o == contrary:
			result = unclear
		case result == held:
			result = untested
		}
	}
	if result != held && n > 0 {
		return fmt.Sprintf("%s (held in %d of %d)", result, n, len(all))
	}
	return result.String()
}
