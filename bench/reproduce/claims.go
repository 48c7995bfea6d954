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

// comparison says that one system is better than another by a figure. If maxRatio is set, it says instead that a step
// takes at most this many times the CPU time.
type comparison struct {
	better, worse, figure string
	maxRatio              float64
}

// each returns comparisons by several figures.
func each(better, worse string, names ...string) (all []comparison) {
	for _, name := range names {
		all = append(all, comparison{better: better, worse: worse, figure: name})
	}
	return all
}

// claims are the papers' claims that this program can check. The figures in them are those of the papers.
var claims = []claim{
	{"EMS", "Both losses matter: without contrastive terms (89.8 to 84.3 on its Tatoeba set)", each("ems", "ems-no-contrastive", tatoeba)},
	{"EMS", "Both losses matter: without XTR (to 85.5)", each("ems", "ems-no-xtr", tatoeba)},
	{"EMS", "The MLP before the contrastive terms matters (without it 86.3)", each("ems", "ems-no-mlp", tatoeba)},
	{"EMS", "EMS is better than LaBSE's loss (83.7)", each("ems", "labse-vanilla", tatoeba)},
	{"EMS", "XTR costs about 5% of a step (held here: at most 10%)", []comparison{{better: "ems", worse: "ems-no-xtr", maxRatio: 1.10}}},
	{"IMASCL", "Soft labels are better than hard ones at finding translations (Tatoeba en-ko 91.6 to 86.3; BUCC en-fr 98.7 to 93.3)",
		each("imascl", "imascl-hard", tatoeba, buccMTEB, buccLaser+" de", buccLaser+" fr", buccLaser+" zh", xsim)},
	{"IMASCL", "Soft labels are better than hard ones at STS", each("imascl", "imascl-hard", stsEN, stsES)},
	{"IMASCL", "Fine-tuning with hard labels harms STS", each("contrastive", "imascl-hard", stsEN, stsES)},
	{"IMASCL", "TCM lifts STS of the side that is not English", each("imascl-tcm", "imascl", stsES)},
	{"IMASCL", "Soft labels are better than MSE distillation and hard negatives on Tatoeba",
		[]comparison{{better: "imascl", worse: "mse-distill", figure: tatoeba}, {better: "imascl", worse: "muse", figure: tatoeba}}},
}

// outcome is the result of a comparison.
type outcome int

const (
	unknown  outcome = iota // a row has fewer than two seeds
	held                    // the difference is as claimed and larger than two standard errors
	unclear                 // the difference is within two standard errors
	contrary                // the difference has the opposite sign and is larger than two standard errors
)

func (o outcome) String() string { return [...]string{"not known", "held", "not held", "contrary"}[o] }

// decide compares the difference of two rows' means, in the claim's direction, with two of its standard errors: 2
// sqrt(s²/n + s²/n), where s is the standard deviation over seeds.
func decide(better, worse summary, lower bool) (difference, error float64, o outcome) {
	difference = better.mean - worse.mean
	if lower {
		difference = -difference
	}
	if better.n < 2 || worse.n < 2 {
		return difference, 0, unknown
	}
	error = 2 * math.Sqrt(better.spread*better.spread/float64(better.n)+worse.spread*worse.spread/float64(worse.n))
	switch {
	case difference > error:
		return difference, error, held
	case difference < -error:
		return difference, error, contrary
	}
	return difference, error, unclear
}

// compare returns the last cells of a line: what was compared, and the result.
func (c comparison) compare(rows map[string][]*result) (what, numbers string, o outcome) {
	what = fmt.Sprintf("`%s` over `%s`", c.better, c.worse)
	if c.maxRatio > 0 {
		step := func(r *result) float64 { return r.Step }
		a, b := of(rows[c.better], step), of(rows[c.worse], step)
		if a.n < 2 || b.n < 2 || b.mean == 0 {
			return what + ", time of a step", "", unknown
		}
		ratio := a.mean / b.mean
		if o = held; ratio > c.maxRatio {
			o = contrary
		}
		return what + ", time of a step", fmt.Sprintf("x%.2f", ratio), o
	}
	f := figures[slices.IndexFunc(figures, func(f figure) bool { return f.name == c.figure })]
	difference, two, o := decide(of(rows[c.better], byName(c.figure)), of(rows[c.worse], byName(c.figure)), f.error)
	if o != unknown {
		numbers = fmt.Sprintf("%+.2f (%.2f)", difference, two)
	}
	return what + ", " + c.figure, numbers, o
}

// checkClaims writes the claims whose systems are in the budget. A claim is held if every comparison is.
func checkClaims(w *strings.Builder, b budget, rows map[string][]*result) {
	fmt.Fprint(w, "| paper | claim | here | comparison | better by (two standard errors) | |\n| --- | --- | --- | --- | --- | --- |\n")
	systems := b.systems()
	for _, c := range claims {
		if slices.ContainsFunc(c.over, func(c comparison) bool {
			return !slices.Contains(systems, c.better) || !slices.Contains(systems, c.worse)
		}) {
			continue
		}
		var lines []string
		var all []outcome
		for _, over := range c.over {
			what, numbers, o := over.compare(rows)
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

// together is the result of a claim: held if all its comparisons are, not held if a known one is not.
func together(all []outcome) string {
	if slices.ContainsFunc(all, func(o outcome) bool { return o == unclear || o == contrary }) {
		n := 0
		for _, o := range all {
			if o == held {
				n++
			}
		}
		if n > 0 {
			return fmt.Sprintf("not held (%d of %d)", n, len(all))
		}
		return "not held"
	}
	if slices.Contains(all, unknown) {
		return "not known"
	}
	return "held"
}
