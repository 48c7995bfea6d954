package main

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"bitextmine/bench/reproduce/sample"
	"bitextmine/bench/reproduce/statistic"
	"bitextmine/eval/report"
	"bitextmine/internal/badinput"
	"bitextmine/pipeline/setting"
	"bitextmine/train"
)

const presets = "../../configs/train"

// TestBudgets checks that the systems of every budget are presets that its settings fit, that they have one tokenizer
// with a first token, and that figures choose no checkpoint.
func TestBudgets(t *testing.T) {
	files, err := filepath.Glob("*.yaml")
	if err != nil || len(files) < 7 {
		t.Fatalf("budgets %v, %v", files, err)
	}
	for _, file := range files {
		b, err := readBudget(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range b.Parts {
			if err := b.tokenizer(presets, part); err != nil {
				t.Error(err)
			}
		}
		for _, g := range b.Groups {
			for _, system := range g.Systems {
				c, err := b.preset(presets, g, system, b.Parts[0])
				if err != nil {
					t.Fatal(err)
				}
				if err := c.Validate(); err != nil {
					t.Errorf("%s, %s: %v", file, system.Name, err)
				}
				if b.PaperSize && c.EvalEvery < c.Steps {
					t.Errorf("%s, %s: checkpoints are written in the time of its steps", file, system.Name)
				}
				if c.Tokenizer.BOS == nil || c.Tokenizer.EOS == nil || c.Stop.Metric != "" || len(c.Bitext.Sources) != len(b.Parts[0]) {
					t.Errorf("%s, %s: no special tokens, figures choose what is evaluated, or other bitext is read: %+v", file, system.Name, c)
				}
			}
		}
		for _, s := range slices.Concat(judged(b.Sets, b.Parts[0]), judged(b.Choose.Sets, b.Parts[0])) {
			if err := s.Validate(); err != nil {
				t.Errorf("%s: %v", file, err)
			}
		}
		for _, s := range b.Choose.Sets {
			if s.Split == "devtest" || slices.ContainsFunc(b.Sets, func(judged train.DevSet) bool { return judged.Dir == s.Dir && judged.Split == s.Split }) {
				t.Errorf("%s chooses on %+v, which rows are judged on", file, s)
			}
		}
	}
}

// TestVectors: the rows that judge a paper's claims have its vector, and others one for all.
func TestVectors(t *testing.T) {
	for file, want := range map[string]map[string]string{
		"wacse.yaml": {"wacse": "cls", "wacse-mean": "mean"},
		"mexma.yaml": {"mexma-no-tokens": "cls", "mexma-no-tokens-mean": "mean"},
		"vmsst.yaml": {"vmsst": "mean, linear 256", "vmsst-mean": "mean"},
	} {
		b, err := readBudget(file)
		if err != nil {
			t.Fatal(err)
		}
		for name, vectors := range want {
			g, s, err := b.of(name)
			if err != nil {
				t.Fatal(err)
			}
			if c, err := b.preset(presets, g, s, b.Parts[0]); err != nil || vector(c) != vectors {
				t.Errorf("%s: %q, want %q, %v", name, vector(c), vectors, err)
			}
		}
	}
}

const start = "parts: [[de]], seeds: 1, sets: [{protocol: sts, dir: sts}]"

const rest = start + ", expect: {differ: 1, spread: 1}, hours: 1"

func TestBudgetsThatAreNone(t *testing.T) {
	for text, want := range map[string]string{
		"{" + rest + ", groups: []}":                                                                                                   "names no system",
		"{parts: [[de]], groups: [{name: a, lines: 1, systems: [x]}]}":                                                                 "needs parts, sets and seeds",
		"{" + start + ", groups: [{name: a, lines: 1, systems: [x]}]}":                                                                 "expect.differ",
		"{" + rest + ", groups: [{name: a, lines: 1, systems: [x, {name: x}]}]}":                                                       "twice",
		"{" + rest + ", groups: [{name: a, lines: 1, start: y, systems: [x]}]}":                                                        "starts from y",
		"{" + rest + ", groups: [{name: a, lines: 1, systems: [{name: x, start: y}]}]}":                                                "starts from y",
		"{" + rest + ", groups: [{name: a, systems: [x]}]}":                                                                            "lines",
		"{" + rest + ", groups: [{name: a, lines: 1, half: 3, systems: [x]}]}":                                                         "half 3",
		"{" + rest + ", groups: [{name: a, lines: 1, rates: [1e-3], systems: [x]}]}":                                                   "choose.sets",
		"{" + rest + ", teacher: y, groups: [{name: a, lines: 1, systems: [x]}]}":                                                      "teacher y",
		"{" + rest + ", groups: [{name: a, lines: 1, systems: [x], colour: red}]}":                                                     "colour",
		"{" + rest + ", groups: [{name: a, lines: 1, systems: [{name: x, colour: red}]}]}":                                             "colour",
		"{" + rest + ", groups: [{name: a, lines: 1, systems: [{name: x, mined: {from: y, by: margin}}]}]}":                            "mined needs by",
		"{" + rest + ", groups: [{name: a, lines: 1, systems: [x, {name: z, mined: {from: x, by: luck}}]}]}":                           "mined needs by",
		"{" + rest + ", untested: [{better: [y], worse: x, because: z}], groups: [{name: a, lines: 1, systems: [x]}]}":                 "untested names y",
		"{" + rest + ", untested: [{better: [x], worse: x, protocol: xsim, because: z}], groups: [{name: a, lines: 1, systems: [x]}]}": "untested names xsim",
		"{" + rest + ", untested: [{better: [x], worse: x}], groups: [{name: a, lines: 1, systems: [x]}]}":                             "needs because, and both better and worse or neither",
	} {
		path := filepath.Join(t.TempDir(), "budget.yaml")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := readBudget(path); err == nil || !badinput.Is(err) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", text, err, want)
		}
	}
	b := budget{Groups: []group{{Name: "a", Lines: 1, Systems: []system{{Name: "wacse"}, {Name: "bag-sample"}}}}}
	if err := b.tokenizer(presets, []string{"de"}); !badinput.Is(err) || !strings.Contains(err.Error(), "bag-sample has another tokenizer") {
		t.Errorf("a budget of two tokenizers: %v", err)
	}
}

// TestClaims checks that every comparison is of systems of one budget that has its protocol.
func TestClaims(t *testing.T) {
	files, err := filepath.Glob("*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for _, file := range files {
		b, err := readBudget(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range claims {
			known[c.says] = known[c.says] || slices.ContainsFunc(c.over, b.measures)
		}
	}
	for _, c := range claims {
		if !known[c.says] && len(c.over) > 0 {
			t.Errorf("no budget compares what %q does", c.says)
		}
		for _, o := range c.over {
			if o.claimed == 0 && o.maxRatio == 0 {
				t.Errorf("%q does not say how large the paper's effect is", c.says)
			}
		}
	}
}

// right is a row's answers: so many of n are right.
func right(n, of int) statistic.Items {
	list := make([]float64, of)
	for i := range n {
		list[i] = 1
	}
	return statistic.Items{list}
}

// rows are a system's rows of 5 seeds, whose accuracies differ a little.
func rows(system string, accuracy int, change func(*result)) map[uint64]*result {
	all := map[uint64]*result{}
	for seed := range uint64(5) {
		r := &result{System: system, Seed: seed, Losses: [2]float64{2, 1}, Step: 0.1, Vector: "mean",
			Measures: []measure{{"tatoeba", "flores devtest", []string{"de-en"}, []statistic.Items{right(10*accuracy+int(seed%2), 1000)}}}}
		if change != nil {
			change(r)
		}
		all[seed] = r
	}
	return all
}

// chosen makes a row one whose rate is the best of three, by rows that find so much on FLORES dev after half of the
// steps and after all.
func chosen(half, all int) func(*result) {
	return func(r *result) {
		r.Rate, r.tried, r.Device = 0.1, []float64{0.01, 0.1, 1}, "cuda"
		r.half, r.chosen = found("tatoeba", "flores dev", half), found("tatoeba", "flores dev", all)
	}
}

// found is a row with one measure.
func found(protocol, set string, percent int) *result {
	return &result{Measures: []measure{{protocol, set, []string{"de-en"}, []statistic.Items{right(10*percent, 1000)}}}}
}

// TestRule: what rows judge, by the rule that the page states.
func TestRule(t *testing.T) {
	b := budget{name: "toy", Seeds: "1 2 3 4 5", Choose: choice{Measure: "tatoeba flores dev"}, Groups: []group{{Name: "a", Systems: []system{{Name: "bag"}}}, {Name: "b", Start: "bag", Rates: []float64{0, 1}, Lines: 7,
		Systems: []system{{Name: "ems"}, {Name: "ems-no-xtr"}, {Name: "imascl-tcm"}, {Name: "imascl-hard"}}}}}
	hard := func(r *result) { r.Own = 95 }
	similar := func(r *result) { r.Measures[0].Protocol, r.Measures[0].Set = "sts", "en" }
	rising := func(r *result) { r.Losses = [2]float64{1, 2} }
	other := func(r *result) { r.Pairs = r.Seed / 3 } // seeds 3 and 4
	unknown := func(r *result) { r.tried, r.Rate = []float64{0.01, 0.1, 1}, 0.1 }
	// rows that are judged by STS, and of half of the steps by it, too, or by FLORES dev alone
	moved := func(half, all int) func(*result) {
		return func(r *result) {
			chosen(half, all)(r)
			similar(r)
			r.half.Measures, r.chosen.Measures = found("sts", "en", half).Measures, found("sts", "en", all).Measures
		}
	}
	elsewhere := func(r *result) { chosen(60, 62)(r); similar(r) }
	for name, c := range map[string]struct {
		t       table
		says    string
		want    statistic.Outcome
		because string
	}{
		"held":             {table{"ems": rows("ems", 70, nil), "ems-no-xtr": rows("ems-no-xtr", 66, nil)}, "Without XTR", statistic.Held, ""},
		"smaller":          {table{"ems": rows("ems", 70, nil), "ems-no-xtr": rows("ems-no-xtr", 69, nil)}, "Without XTR", statistic.Smaller, ""},
		"not held":         {table{"ems": rows("ems", 70, nil), "ems-no-xtr": rows("ems-no-xtr", 75, nil)}, "Without XTR", statistic.NotHeld, ""},
		"a start":          {table{"bag": {1: rows("bag", 70, similar)[1]}, "imascl-hard": rows("imascl-hard", 62, similar)}, "Fine-tuning with hard labels", statistic.Smaller, ""},
		"one seed":         {table{"ems": {1: rows("ems", 70, nil)[1]}, "ems-no-xtr": rows("ems-no-xtr", 62, nil)}, "Without XTR", statistic.Untested, "1 of 5 seeds"},
		"no training":      {table{"ems": rows("ems", 70, nil), "ems-no-xtr": rows("ems-no-xtr", 1, nil)}, "Without XTR", statistic.Untested, "did not train: it finds 1.0%"},
		"lost":             {table{"bag": rows("bag", 90, nil), "ems": rows("ems", 70, nil), "ems-no-xtr": rows("ems-no-xtr", 66, nil)}, "Without XTR", statistic.Untested, "lost 20 points"},
		"stayed":           {table{"ems": rows("ems", 60, nil), "ems-no-xtr": rows("ems-no-xtr", 66, nil)}, "Without XTR", statistic.Untested, "stayed where it started"},
		"no start":         {table{"bag": {}, "ems": rows("ems", 70, nil), "ems-no-xtr": rows("ems-no-xtr", 66, nil)}, "Without XTR", statistic.Untested, "no row of `bag`"},
		"loss rose":        {table{"ems": rows("ems", 70, rising), "ems-no-xtr": rows("ems-no-xtr", 66, nil)}, "Without XTR", statistic.Untested, "did not fall"},
		"hard labels":      {table{"imascl-tcm": rows("imascl-tcm", 70, hard), "imascl-hard": rows("imascl-hard", 66, nil)}, "Soft labels find translations better than hard", statistic.Untested, "hard ones"},
		"rate at the edge": {table{"ems": rows("ems", 70, func(r *result) { r.tried = []float64{0, 1} }), "ems-no-xtr": rows("ems-no-xtr", 66, nil)}, "Without XTR", statistic.Untested, "the lowest rate that was tried, 0"},
		"no half":          {table{"ems": rows("ems", 70, unknown), "ems-no-xtr": rows("ems-no-xtr", 66, nil)}, "Without XTR", statistic.Untested, "half of the steps"},
		"still moving":     {table{"ems": rows("ems", 70, chosen(58, 70)), "ems-no-xtr": rows("ems-no-xtr", 66, chosen(59, 66))}, "Without XTR", statistic.Untested, "still moved by +5.0 points"},
		"settled":          {table{"ems": rows("ems", 70, chosen(58, 70)), "ems-no-xtr": rows("ems-no-xtr", 66, chosen(56, 66))}, "Without XTR", statistic.Held, ""},
		"settled, smaller": {table{"ems": rows("ems", 70, chosen(68, 70)), "ems-no-xtr": rows("ems-no-xtr", 69, chosen(66, 69))}, "Without XTR", statistic.Smaller, ""},
		"no room":          {table{"ems": rows("ems", 70, chosen(97, 98)), "ems-no-xtr": rows("ems-no-xtr", 70, chosen(97, 98))}, "Without XTR", statistic.Untested, "both find 98.0% on flores dev, which leaves no room"},
		"no room, size":    {table{"ems": rows("ems", 70, chosen(97, 98)), "ems-no-xtr": rows("ems-no-xtr", 69, chosen(97, 98))}, "Without XTR", statistic.Held, "its size is not judged, since both find"},
		"STS, settled":     {table{"imascl-tcm": rows("imascl-tcm", 70, moved(69, 70)), "imascl-hard": rows("imascl-hard", 66, moved(66, 66))}, "Soft labels are better than hard ones at STS", statistic.Smaller, ""},
		"STS, moving":      {table{"imascl-tcm": rows("imascl-tcm", 70, moved(50, 70)), "imascl-hard": rows("imascl-hard", 66, moved(66, 66))}, "Soft labels are better than hard ones at STS", statistic.Untested, "still moved by +20.0 points"},
		"STS, unknown":     {table{"imascl-tcm": rows("imascl-tcm", 70, elsewhere), "imascl-hard": rows("imascl-hard", 66, elsewhere)}, "Soft labels are better than hard ones at STS", statistic.Held, "no row of half of the steps says by this metric"},
		"STS, not as much": {table{"imascl-tcm": rows("imascl-tcm", 66, elsewhere), "imascl-hard": rows("imascl-hard", 66, elsewhere)}, "Soft labels are better than hard ones at STS", statistic.Untested, "no row of half of the steps says by this metric"},
		"STS, contrary":    {table{"imascl-tcm": rows("imascl-tcm", 62, elsewhere), "imascl-hard": rows("imascl-hard", 66, elsewhere)}, "Soft labels are better than hard ones at STS", statistic.NotHeld, ""},
		"end of scale":     {table{"ems": rows("ems", 99, func(r *result) { r.Measures[0].Items[0] = right(1000, 1000) }), "ems-no-xtr": rows("ems-no-xtr", 99, func(r *result) { r.Measures[0].Items[0] = right(998, 1000) })}, "Without XTR", statistic.Untested, "find everything"},
		"other metric":     {table{"ems": rows("ems", 70, func(r *result) { r.Measures[0].Protocol = "xsim" }), "ems-no-xtr": rows("ems-no-xtr", 66, nil)}, "Without XTR", statistic.Untested, "no verdict"},
		"seeds missing":    {table{"ems": {1: rows("ems", 70, nil)[1], 2: rows("ems", 70, nil)[2]}, "ems-no-xtr": rows("ems-no-xtr", 66, nil)}, "Without XTR", statistic.Untested, "2 of 5 seeds"},
		"other pairs":      {table{"ems": rows("ems", 70, other), "ems-no-xtr": rows("ems-no-xtr", 66, nil)}, "Without XTR", statistic.Untested, "3 of 5 seeds have rows"},
		"cost, too few":    {table{"ems": rows("ems", 70, nil), "ems-no-xtr": rows("ems-no-xtr", 66, nil)}, "XTR costs", statistic.Untested, "no verdict"},
	} {
		if c.t["bag"] == nil {
			c.t["bag"] = rows("bag", 60, nil)
		}
		at := slices.IndexFunc(b.verdicts(nil, c.t), func(v verdict) bool { return strings.HasPrefix(v.says, c.says) })
		if c.because == "no verdict" {
			if at >= 0 {
				t.Errorf("%s: a cost of a small budget, or what no row has, is judged", name)
			}
			continue
		}
		if at < 0 {
			t.Errorf("%s: no verdict", name)
			continue
		}
		v := b.verdicts(nil, c.t)[at]
		if v.outcome != c.want || !strings.Contains(v.judgements[0].because, c.because) {
			t.Errorf("%s: %s, %q, want %s, %q", name, v.outcome, v.judgements[0].because, c.want, c.because)
		}
	}
	b.Untested = []untestable{{Because: "a bag is not the paper's encoder"}}
	held := table{"bag": rows("bag", 60, nil), "ems": rows("ems", 70, nil), "ems-no-xtr": rows("ems-no-xtr", 66, nil)}
	if v := b.verdicts(nil, held)[0]; v.outcome != statistic.Untested || v.judgements[0].because != b.Untested[0].Because || v.judgements[0].effect.Mean < 3 {
		t.Errorf("an encoder that is not the paper's: %+v", v)
	}
	b.Untested = []untestable{{Better: []string{"ems"}, Worse: "ems-no-xtr", Protocol: "tatoeba", Because: "z"}, {Better: []string{"imascl-tcm"}, Worse: "imascl-hard", Protocol: "sts", Because: "z"}}
	for protocol, want := range map[string]string{"tatoeba": "z", "xsim": ""} {
		if got := b.reason(comparison{better: "ems", worse: "ems-no-xtr", protocol: protocol}); got != want {
			t.Errorf("by %s: %q, want %q", protocol, got, want)
		}
	}
	b.PaperSize = true
	costs := claims[slices.IndexFunc(claims, func(c claim) bool { return strings.HasPrefix(c.says, "XTR costs") })]
	for _, c := range []struct {
		first, each float64 // seconds of a step of the first seed, and what each later one takes longer
		outcome     statistic.Outcome
		size        string
	}{{0.13, 0, statistic.NotHeld, "x1.300"}, {0.105, 0, statistic.Held, "x1.050"}, {0.105, 0.004, statistic.Untested, "x1.130"}} {
		v := b.verdicts(nil, table{"ems": rows("ems", 70, func(r *result) { r.Step = c.first + c.each*float64(r.Seed) }), "ems-no-xtr": rows("ems-no-xtr", 66, nil)})
		at := slices.IndexFunc(v, func(v verdict) bool { return strings.HasPrefix(v.says, "XTR costs") })
		if v[at].outcome != c.outcome || v[at].judgements[0].size() != c.size || costs.would(v, []budget{b}) != "" {
			t.Errorf("%+v: %+v, would take %q", c, v[at], costs.would(v, []budget{b}))
		}
	}
	few := table{"ems": {1: rows("ems", 70, nil)[1]}, "ems-no-xtr": rows("ems-no-xtr", 66, nil)}
	if j := costs.over[0].judge(b, few)[0]; j.outcome != statistic.Untested || j.because != "1 of 5 seeds have rows" {
		t.Errorf("a cost that lacks a seed: %+v", j)
	}
}

// TestTables: the pages' tables of toy rows.
func TestTables(t *testing.T) {
	b := budget{name: "toy", Choose: choice{Measure: "tatoeba flores dev"}, Groups: []group{{Name: "From nothing", Lines: 7, Systems: []system{{Name: "ems"}, {Name: "ems-no-xtr"}}}}}
	tab := table{"ems": rows("ems", 70, chosen(70, 70)), "ems-no-xtr": rows("ems-no-xtr", 66, chosen(66, 66))}
	tab["ems"][0].Step = 0 // a training that was resumed at its end
	got := partTables(b, nil, tab)
	for _, want := range []string{"From nothing: 0 pairs (7 lines of each file at most)", "; trained on cuda.", "| `ems` | mean | 5 | 0 | 70.04 ± 0.05 |  | 0.1 | 2.00 to 1.00 | 100 ± 0 |",
		"| EMS | Without XTR EMS is worse (89.8 to 85.5) | the paper's | **held** | `ems` over `ems-no-xtr` | tatoeba flores devtest | +4.00 ±"} {
		if !strings.Contains(got, want) {
			t.Errorf("the tables lack %q:\n%s", want, got)
		}
	}
	all := summary(b.verdicts(nil, tab), []budget{b})
	for _, want := range []string{"| EMS | Without XTR EMS is worse (89.8 to 85.5) | `toy`, the paper's | **held** | +4.00 ±", "(flores devtest) | 4.3 |", "**not tested**, would take at the paper's size 3 A100 hours a row"} {
		if !strings.Contains(all, want) {
			t.Errorf("the summary lacks %q:\n%s", want, all)
		}
	}
	full := table{"ems": rows("ems", 70, chosen(98, 98)), "ems-no-xtr": rows("ems-no-xtr", 69, chosen(98, 98))}
	if got, want := summary(b.verdicts(nil, full), []budget{b}), "| **held**: its size is not judged, since both find 98.0% on flores dev"; !strings.Contains(got, want) {
		t.Errorf("the summary lacks %q:\n%s", want, got)
	}
	for _, r := range tab["ems"] {
		r.tried = r.tried[:2]
	}
	if got := partTables(b, nil, tab); !strings.Contains(got, " | 0.1 (highest) | ") {
		t.Errorf("the tables do not say that no higher rate was tried:\n%s", got)
	}
	b.Parts = [][]string{{"de"}, {"fr"}}
	for _, want := range []string{"| `toy` fr, the paper's | **not tested**: `ems` did best with the highest rate that was tried, 0.1; would take at the paper's size 480 V100 hours a row | +4.00 ±"} {
		if got := summary(b.verdicts([]string{"fr"}, tab), []budget{b}); !strings.Contains(got, want) {
			t.Errorf("the summary of undecided claims lacks %q:\n%s", want, got)
		}
	}
	b.Sets, b.Untested = []train.DevSet{{Protocol: "tatoeba"}}, []untestable{{Because: "a toy"}}
	if got, want := summary(nil, []budget{b}), "| **not tested** (`toy`: a toy), would take at the paper's size 480 V100 hours a row |"; strings.Count(got, want) != 1 {
		t.Errorf("the summary of a budget that cannot decide a claim lacks %q:\n%s", want, got)
	}
	if set := (judgement{comparison: comparison{protocol: "bucc-mteb"}, measure: "bucc-mteb bucc"}).set(); set != "a BUCC-style set" {
		t.Errorf("a set that is made like BUCC's is called %q", set)
	}
	if n := strings.Count(all, "\n"); n != len(claims)+2 {
		t.Errorf("%d lines, want one for each of %d claims:\n%s", n-2, len(claims), all)
	}
}

// TestHubs: an effect that is a difference of differences is twice the mean over both, and so are its standard errors.
func TestHubs(t *testing.T) {
	b := budget{name: "toy", Seeds: "1 2 3 4 5", Groups: []group{{Name: "a", Systems: []system{{Name: "vmsst"}, {Name: "contrastive-dot"}}}}}
	by := func(cosine, laser int) func(*result) {
		return func(r *result) {
			r.Measures = append(found("bucc-cosine", "bucc", cosine+int(r.Seed%2)).Measures, found("bucc-laser", "bucc", laser).Measures...)
		}
	}
	over := comparison{better: "vmsst", worse: "contrastive-dot", protocol: "bucc-cosine", less: "bucc-laser", claimed: 9}
	e := over.on(b, table{"vmsst": rows("vmsst", 0, by(80, 90)), "contrastive-dot": rows("contrastive-dot", 0, by(65, 85))}, "bucc-cosine bucc").effect
	if want := statistic.Quantile(e.BySeed, e.BySentence, 5) * math.Hypot(e.BySeed, e.BySentence); math.Abs(e.Mean-10) > 1e-9 || math.Abs(e.Error/want-1) > 1e-9 {
		t.Errorf("%+v, want a mean of 10 and the error %v of its two parts", e, want)
	}
}

// TestPairs: rows on different pairs are not compared, and the tables say so; those of systems that mine are.
func TestPairs(t *testing.T) {
	b := budget{name: "toy", Seeds: "1 2 3 4 5", Groups: []group{{Name: "Rounds", Lines: 7, Systems: []system{{Name: "known"}, {Name: "round-1", Mined: &mined{}}, {Name: "ems"}, {Name: "ems-no-xtr"}}}}}
	more := func(r *result) { r.Pairs = 100 + r.Seed }
	tab := table{"known": rows("known", 66, nil), "round-1": rows("round-1", 70, more), "ems": rows("ems", 70, func(r *result) { r.Pairs = r.Seed / 3 }), "ems-no-xtr": rows("ems-no-xtr", 66, nil)}
	got := partTables(b, nil, tab)
	for _, want := range []string{"Rounds: 0 to 104 pairs", "| `known` | mean | 5 | 0 |", "| `round-1` | mean | 5 | 100 to 104 |", "| `round-1` over `known` | tatoeba flores devtest | +4.00 ± ",
		" of 3 seeds | ", "not tested: 3 of 5 seeds have rows; left out, as their rows are on different pairs: seeds 3 4 |"} {
		if !strings.Contains(got, want) {
			t.Errorf("the tables lack %q:\n%s", want, got)
		}
	}
	if strings.Count(got, "left out") != 1 {
		t.Errorf("rows that mine are left out, too:\n%s", got)
	}
}

// TestRates: the best rate is chosen among rows on the same pairs, and what was tried on others is not one of those
// tried.
func TestRates(t *testing.T) {
	tried := func(rate float64, percent int, pairs uint64) *result {
		r := found("tatoeba", "flores dev", percent)
		r.Rate, r.Pairs = rate, pairs
		return r
	}
	all := []*result{tried(0.1, 60, 5), tried(0.2, 70, 5), tried(0.3, 70, 5)}
	if rate, err := best(all, "tatoeba flores dev"); rate != 0.2 || err != nil {
		t.Errorf("%v, %v", rate, err)
	}
	if _, err := best(all, "xsim flores dev"); !badinput.Is(err) {
		t.Errorf("no such measure: %v", err)
	}
	r := result{Rate: 0.2}
	if r.choose(append(all, tried(0.4, 65, 6)), tried(0.2, 50, 5)); len(r.tried) != 3 || r.chosen != all[1] || r.half == nil {
		t.Errorf("%+v", r)
	}
	r = result{Rate: 0.2}
	if r.choose(all, tried(0.2, 50, 6)); r.half != nil {
		t.Errorf("a row of half of the steps on other pairs: %+v", r.half)
	}
	if _, err := best(append(all, tried(0.4, 80, 6)), "tatoeba flores dev"); !badinput.Is(err) || !strings.Contains(err.Error(), "0.1 on 5 pairs and with 0.4 on 6") {
		t.Errorf("rates on other pairs: %v", err)
	}
}

// TestRowFile: a row is read as it was written, and a damaged one is refused by its name.
func TestRowFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a", "ems.seed-1.json")
	if r, err := read(path); r != nil || err != nil {
		t.Fatalf("%v, %v", r, err)
	}
	want := rows("ems", 70, nil)[1]
	if err := want.write(path); err != nil {
		t.Fatal(err)
	}
	got, err := read(path)
	if err != nil || got.Measures[0].figure() != want.Measures[0].figure() || got.Seed != 1 {
		t.Errorf("%+v, %v", got, err)
	}
	for _, text := range []string{"{", `{"measures": [{"of": ["a"], "items": []}]}`, `{"measures": [{"of": ["a"], "items": [["!"]]}]}`} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := read(path); !badinput.Is(err) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// TestMeasures: STS is the sets of the years that count, in Spanish only where Spanish is trained on.
func TestMeasures(t *testing.T) {
	r := &report.Report{Protocol: "sts"}
	for _, name := range []string{"2012 MSRpar", "2013 FNWN", "2016 headlines", "2017 track3.es-es"} {
		r.Rows = append(r.Rows, report.Row{Name: name, Items: [][]float64{{1}, {1}}})
	}
	for language, want := range map[string]string{"es": "sts en 2, sts es 1", "fr": "sts en 2"} {
		var got []string
		for _, m := range measures(r, train.DevSet{Protocol: "sts", Dir: "sts"}, []string{language}) {
			got = append(got, m.name()+" "+string('0'+rune(len(m.Items))))
		}
		if strings.Join(got, ", ") != want {
			t.Errorf("%s: %q", language, got)
		}
	}
}

// TestPages: docs/reproduction.md and bench/results/reproduction.md have what the rows' files say.
func TestPages(t *testing.T) {
	claims, tables, err := decide("../results/reproduction", ".")
	if err != nil {
		t.Fatal(err)
	}
	for page, want := range map[string]string{"../../docs/reproduction.md": claims, "../results/reproduction.md": tables} {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(text), strings.TrimSpace(want)) {
			t.Errorf("%s has other verdicts than the rows: make verdicts", page)
		}
	}
}

func TestFill(t *testing.T) {
	page := filepath.Join(t.TempDir(), "page.md")
	if err := os.WriteFile(page, []byte("before\n<!-- bag -->\nold\n<!-- end of bag -->\nafter\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := fill(page, "bag", "new\n"); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(page); err != nil || string(got) != "before\n<!-- bag -->\n\nnew\n\n<!-- end of bag -->\nafter\n" {
		t.Errorf("%q, %v", got, err)
	}
	if err := fill(page, "transformer", "new\n"); err == nil || !strings.Contains(err.Error(), "<!-- transformer -->") {
		t.Errorf("a page without marks: %v", err)
	}
}

// FuzzRow: no file of a row makes reading panic, and what is read has figures.
func FuzzRow(f *testing.F) {
	raw, err := json.Marshal(rows("ems", 70, nil)[0])
	if err != nil {
		f.Fatal(err)
	}
	f.Add(raw)
	f.Fuzz(func(t *testing.T, raw []byte) {
		path := filepath.Join(t.TempDir(), "row.json")
		if err := os.WriteFile(path, raw, 0o600); err != nil {
			t.Fatal(err)
		}
		r, err := read(path)
		if err != nil {
			return
		}
		for _, m := range r.Measures {
			_ = m.figure()
		}
	})
}

// TestMiningArgs: mine run has every flag that hidden text is mined with.
func TestMiningArgs(t *testing.T) {
	known := map[string]bool{}
	for _, s := range slices.Concat(setting.List[setting.Languages](), setting.List[setting.Input](),
		setting.List[setting.Encoding](), setting.List[setting.Output](), setting.List[setting.Decision]()) {
		known[s.Flag] = true
	}
	for _, by := range []string{"margin", "scorer"} {
		for _, arg := range miningArgs("yo", sample.Hidden{English: "text.en", Other: "text.other"}, by, "row", "out") {
			if flag, is := strings.CutPrefix(arg, "--"); is && !known[flag] {
				t.Errorf("by %s: mine run has no flag %s", by, arg)
			}
		}
	}
}
