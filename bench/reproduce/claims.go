package main

import (
	"fmt"
	"slices"
	"strings"

	"bitextmine/bench/reproduce/statistic"
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
	within, outside       string // it is only of parts with, or without, a language; empty: of all
}

// claims are the papers' claims that this program can check. The figures in them are those of the papers. What IMASCL's
// Table 2 calls soft is Priority + TCM. Its differences are means over the language pairs of Tables 2 and 4; of figures
// that the papers do not have, those of the nearest one (FLORES and NTREX: Tatoeba). claimed is 0 where a paper gives
// no size: what is within its error is then not tested.
var claims = []claim{
	{"EMS", "Without its contrastive terms EMS is worse (89.8 to 84.3 on its Tatoeba set)", retrieval("ems", "ems-no-contrastive", 5.5)},
	{"EMS", "Without XTR EMS is worse (89.8 to 85.5)", retrieval("ems", "ems-no-xtr", 4.3)},
	{"EMS", "Without the MLP before its contrastive terms EMS is worse (89.8 to 86.3)", retrieval("ems", "ems-no-mlp", 3.5)},
	{"EMS", "EMS is better than LaBSE's loss (89.8 to 83.7)", retrieval("ems", "labse-vanilla", 6.1)},
	{"EMS", "XTR costs about 5% of a step (held here: at most 10%)", []comparison{{better: "ems", worse: "ems-no-xtr", maxRatio: 1.10}}},
	{"IMASCL", "Soft labels (teacher at 0.1) find translations better than hard ones (Tatoeba en-ko 91.6 to 86.3)", found("imascl-tcm", "imascl-hard", 2.5)},
	{"IMASCL", "Soft labels (teacher at 0.3) find translations better than hard ones (Tatoeba en-ko 91.6 to 86.3)", found("imascl-tcm-0.3", "imascl-hard", 2.5)},
	{"IMASCL", "Soft labels (teacher at 0.1) are better than hard ones at STS", similarity("imascl-tcm", "imascl-hard", 10.6, 7.2)},
	{"IMASCL", "Soft labels (teacher at 0.3) are better than hard ones at STS", similarity("imascl-tcm-0.3", "imascl-hard", 10.6, 7.2)},
	{"IMASCL", "Fine-tuning with hard labels harms STS", similarity("bag", "imascl-hard", 11.6, 6.8)},
	{"IMASCL", "Soft labels (teacher at 0.1) mine better than hard ones (BUCC en-fr 98.7 to 93.3)", mining("imascl-tcm", "imascl-hard", 5.4)},
	{"IMASCL", "Soft labels (teacher at 0.3) mine better than hard ones (BUCC en-fr 98.7 to 93.3)", mining("imascl-tcm-0.3", "imascl-hard", 5.4)},
	{"IMASCL", "Fine-tuning the default encoder with hard labels harms STS", similarity("use-static", "imascl-hard", 11.6, 6.8)},
	{"IMASCL", "TCM lifts STS of the side that is not English", []comparison{{better: "imascl-tcm", worse: "imascl", figure: stsES, claimed: 1.4}}},
	{"IMASCL", "Soft labels find translations better than MSE distillation", found("imascl-tcm", "mse-distill", 0.5)},
	{"IMASCL", "Soft labels find translations better than hard negatives (mUSE)", found("imascl-tcm", "muse", 2.8)},
	{"WACSE", "Word prediction and word ranking add to translation ranking (36 languages: +0.1)", outside(yoruba, retrieval("wacse", "wacse-tr", 0.1))},
	{"WACSE", "Word prediction and word ranking add to translation ranking in languages with little text (5 languages: 75.8 to 77.4)", scarce("wacse", "wacse-tr", 1.6)},
	{"WACSE", "Word prediction alone adds to translation ranking in such languages (8 languages: 79.8 to 80.8)", scarce("wacse-no-wtr", "wacse-tr", 1.0)},
	{"WACSE", "Word ranking alone adds to translation ranking in such languages (79.8 to 81.1)", scarce("wacse-no-awp", "wacse-tr", 1.3)},
	{"VMSST", "VMSST is better than contrastive learning (24 layers: bucc-laser 89.0 to 83.7)", retrieval("vmsst", "contrastive-dot", 5.3)},
	{"VMSST", "VMSST's space has fewer hubs (bucc-laser less bucc-cosine: 10.3 to 19.4)", []comparison{
		{better: "vmsst", worse: "contrastive-dot", figure: gap, claimed: 9.1}, {better: "vmsst", worse: "contrastive-dot", figure: skew}}},
	{"MEXMA", "Gradients of tokens are MEXMA's largest step (xsim++ 11.37 to 9.67)", retrieval("mexma", "mexma-no-tokens", 1.7)},
	{"MEXMA", "With gradients of tokens more of the nearest tokens stand in translations (97.9% to 87.6%)", []comparison{{better: "mexma", worse: "mexma-no-tokens", figure: matched, claimed: 10.3}}},
}

// said are the claims in words, in their order.
func said() (all []string) {
	for _, c := range claims {
		all = append(all, c.says)
	}
	return all
}

// retrieval compares by what text of other domains than the training's says first.
func retrieval(better, worse string, claimed float64) []comparison {
	return []comparison{{better: better, worse: worse, figure: flores, claimed: claimed}, {better: better, worse: worse, figure: ntrex, claimed: claimed}}
}

// scarce adds the domain of the training, in the languages with little text.
func scarce(better, worse string, claimed float64) []comparison {
	all := append(retrieval(better, worse, claimed), comparison{better: better, worse: worse, figure: lafand, claimed: claimed})
	for i := range all {
		all[i].within = yoruba
	}
	return all
}

// outside leaves out parts with a language.
func outside(language string, all []comparison) []comparison {
	for i := range all {
		all[i].outside = language
	}
	return all
}

// found adds the domain of the training.
func found(better, worse string, claimed float64) []comparison {
	return append(retrieval(better, worse, claimed), comparison{better: better, worse: worse, figure: tatoeba, claimed: claimed})
}

func mining(better, worse string, claimed float64) []comparison {
	return []comparison{{better: better, worse: worse, figure: buccMTEB, claimed: claimed}}
}

func similarity(better, worse string, en, es float64) []comparison {
	return []comparison{{better: better, worse: worse, figure: stsEN, claimed: en}, {better: better, worse: worse, figure: stsES, claimed: es}}
}

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

// hardened is the share of labels on the pair itself, in percent, above which soft labels cannot be told from hard
// ones.
const hardened = 90

// compare returns the last cells of a line: what was compared, and the result.
func (c comparison) compare(b budget, rows map[string][]*result) (what, numbers string, o statistic.Outcome) {
	what = fmt.Sprintf("`%s` over `%s`", c.better, c.worse)
	why := b.reason(c)
	if c.maxRatio > 0 {
		step := func(r *result) float64 { return r.Step }
		a, other := over(rows[c.better], step), over(rows[c.worse], step)
		if o = statistic.Untested; a.N > 1 && other.N > 1 && other.Mean > 0 {
			numbers = fmt.Sprintf("x%.2f", a.Mean/other.Mean)
			if o = statistic.Held; a.Mean > c.maxRatio*other.Mean {
				o = statistic.Contrary
			}
		}
		if why != "" {
			o = statistic.Untested
		}
		return what + ", " + stepTime, strings.TrimSpace(numbers + " " + why), o
	}
	f := figures[slices.IndexFunc(figures, func(f figure) bool { return f.name == c.figure })]
	by := differences(rows[c.better], rows[c.worse], c.figure, b.Teacher)
	difference, within, o := statistic.Decide(by, f.error || f.name == skew, c.claimed)
	switch len(by) {
	case 0:
	case 1:
		numbers = fmt.Sprintf("%+.2f (one seed; paper %.1f)", difference, c.claimed)
	default:
		numbers = fmt.Sprintf("%+.2f (%.2f; paper %.1f)", difference, within, c.claimed)
	}
	if share := of(rows[c.better], own); c.worse == "imascl-hard" && share.N > 0 && share.Mean > hardened {
		why = fmt.Sprintf("the teacher's labels have %.0f%% of their mass on the pair itself: they are hard ones", share.Mean)
	}
	if why != "" {
		o = statistic.Untested
		numbers = strings.TrimSpace(numbers + " " + why)
	}
	return what + ", " + c.figure, numbers, o
}

// checkClaims writes the claims whose systems are in the budget. A claim is held if every comparison is.
func checkClaims(w *strings.Builder, b budget, part []string, rows map[string][]*result) {
	fmt.Fprint(w, "| paper | claim | here | comparison | better by (error at 95%; paper) | |\n| --- | --- | --- | --- | --- | --- |\n")
	systems, has := b.systems(), slices.Concat(columns(b, part, rows, false), columns(b, part, rows, true))
	for _, c := range claims {
		if slices.ContainsFunc(c.over, func(c comparison) bool {
			return !slices.Contains(systems, c.better) || !slices.Contains(systems, c.worse)
		}) {
			continue
		}
		comparisons := slices.DeleteFunc(slices.Clone(c.over), func(c comparison) bool { return !c.of(part, has) })
		if len(comparisons) == 0 {
			continue
		}
		var lines []string
		var all []statistic.Outcome
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

// of reports whether a comparison is of a part, of whose rows these are the figures.
func (c comparison) of(part []string, has []figure) bool {
	if c.within != "" && !slices.Contains(part, c.within) || c.outside != "" && slices.Contains(part, c.outside) {
		return false
	}
	return c.maxRatio > 0 || slices.ContainsFunc(has, func(f figure) bool { return f.name == c.figure })
}

// together is the result of a claim: held if all its comparisons are, not held if one is not, otherwise not tested.
func together(all []statistic.Outcome) string {
	result := statistic.Held
	n := 0
	for _, o := range all {
		switch {
		case o == statistic.Held:
			n++
		case o == statistic.Unclear || o == statistic.Contrary:
			result = statistic.Unclear
		case result == statistic.Held:
			result = statistic.Untested
		}
	}
	if result != statistic.Held && n > 0 {
		return fmt.Sprintf("%s (held in %d of %d)", result, n, len(all))
	}
	return result.String()
}
