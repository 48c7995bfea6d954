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
// that they do not have, those of the nearest one (xsim error: Tatoeba; bucc-laser de and zh: BUCC).
var claims = []claim{
	{"EMS", "Both losses matter: without contrastive terms (89.8 to 84.3 on its Tatoeba set)", []comparison{{better: "ems", worse: "ems-no-contrastive", figure: tatoeba, claimed: 5.5}}},
	{"EMS", "Both losses matter: without XTR (to 85.5)", []comparison{{better: "ems", worse: "ems-no-xtr", figure: tatoeba, claimed: 4.3}}},
	{"EMS", "The MLP before the contrastive terms matters (without it 86.3)", []comparison{{better: "ems", worse: "ems-no-mlp", figure: tatoeba, claimed: 3.5}}},
	{"EMS", "EMS is better than LaBSE's loss (83.7)", []comparison{{better: "ems", worse: "labse-vanilla", figure: tatoeba, claimed: 6.1}}},
	{"EMS", "XTR costs about 5% of a step (held here: at most 10%)", []comparison{{better: "ems", worse: "ems-no-xtr", maxRatio: 1.10}}},
	{"IMASCL", "Soft labels are better than hard ones at finding translations (Tatoeba en-ko 91.6 to 86.3; BUCC en-fr 98.7 to 93.3)", []comparison{
		{better: "imascl-tcm", worse: "imascl-hard", figure: tatoeba, claimed: 2.5},
		{better: "imascl-tcm", worse: "imascl-hard", figure: buccMTEB, claimed: 5.4},
		{better: "imascl-tcm", worse: "imascl-hard", figure: buccLaser + " de", claimed: 3.9},
		{better: "imascl-tcm", worse: "imascl-hard", figure: buccLaser + " fr", claimed: 5.4},
		{better: "imascl-tcm", worse: "imascl-hard", figure: buccLaser + " zh", claimed: 3.9},
		{better: "imascl-tcm", worse: "imascl-hard", figure: xsim, claimed: 2.5},
	}},
	{"IMASCL", "Soft labels are better than hard ones at STS", []comparison{
		{better: "imascl-tcm", worse: "imascl-hard", figure: stsEN, claimed: 10.6}, {better: "imascl-tcm", worse: "imascl-hard", figure: stsES, claimed: 7.2}}},
	{"IMASCL", "Fine-tuning with hard labels harms STS", []comparison{
		{better: "contrastive", worse: "imascl-hard", figure: stsEN, claimed: 11.6}, {better: "contrastive", worse: "imascl-hard", figure: stsES, claimed: 6.8}}},
	{"IMASCL", "TCM lifts STS of the side that is not English", []comparison{{better: "imascl-tcm", worse: "imascl", figure: stsES, claimed: 1.4}}},
	{"IMASCL", "Soft labels are better than MSE distillation and hard negatives on Tatoeba", []comparison{
		{better: "imascl-tcm", worse: "mse-distill", figure: tatoeba, claimed: 0.5}, {better: "imascl-tcm", worse: "muse", figure: tatoeba, claimed: 2.8}}},
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

// differences are those of two rows' numbers, better less worse, of each seed that both have. Rows of one seed share
// their batches and what they start from, so they are compared seed by seed.
func differences(better, worse []*result, number func(*result) float64) (all []float64) {
	for _, a := range better {
		for _, b := range worse {
			if a.Seed == b.Seed {
				all = append(all, number(a)-number(b))
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

// compare returns the last cells of a line: what was compared, and the result.
func (c comparison) compare(b budget, rows map[string][]*result) (what, numbers string, o outcome) {
	what = fmt.Sprintf("`%s` over `%s`", c.better, c.worse)
	if c.maxRatio > 0 {
		step := func(r *result) float64 { return r.Step }
		a, b := of(rows[c.better], step), of(rows[c.worse], step)
		if a.n < 2 || b.n < 2 || b.mean == 0 {
			return what + ", time of a step", "", untested
		}
		ratio := a.mean / b.mean
		if o = held; ratio > c.maxRatio {
			o = contrary
		}
		return what + ", time of a step", fmt.Sprintf("x%.2f", ratio), o
	}
	f := figures[slices.IndexFunc(figures, func(f figure) bool { return f.name == c.figure })]
	by := differences(rows[c.better], rows[c.worse], byName(c.figure))
	difference, within, o := decide(by, f.error, c.claimed)
	if len(by) > 1 {
		numbers = fmt.Sprintf("%+.2f (%.2f; paper %.1f)", difference, within, c.claimed)
	}
	if why := b.reason(c); why != "" {
		o = untested
		numbers = strings.TrimSpace(numbers + " " + why)
	}
	return what + ", " + c.figure, numbers, o
}

// checkClaims writes the claims whose systems are in the budget. A claim is held if every comparison is.
func checkClaims(w *strings.Builder, b budget, rows map[string][]*result) {
	fmt.Fprint(w, "| paper | claim | here | comparison | better by (error at 95%; paper) | |\n| --- | --- | --- | --- | --- | --- |\n")
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
