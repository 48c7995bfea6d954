package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"bitextmine/bench/reproduce/statistic"
	"bitextmine/bench/reproduce/verdict"
)

// TestBudgets checks that the systems of every budget are presets that its settings fit, and that they differ within a
// group only in their objectives.
func TestBudgets(t *testing.T) {
	files, err := filepath.Glob("*.yaml")
	if err != nil || len(files) != 7 {
		t.Fatalf("budgets %v, %v", files, err)
	}
	for _, file := range files {
		b, err := readBudget(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, g := range b.Groups {
			for _, system := range g.Systems {
				c, err := g.preset("../../configs/train", system, b.Parts[0])
				if err != nil {
					t.Fatal(err)
				}
				if err := c.Validate(); err != nil {
					t.Errorf("%s, %s: %v", file, system.Name, err)
				}
				if c.Name != system.Name || c.Stop.Metric != "" || c.EvalEvery != 0 || len(c.Bitext.Sources) != len(b.Parts[0]) {
					t.Errorf("%s, %s: figures choose what is evaluated, or other bitext is read: %+v", file, system.Name, c)
				}
			}
		}
		if b.MiningPart > 1 != slices.Contains([]string{"transformer-short.yaml", "strong.yaml"}, file) {
			t.Errorf("%s is judged on one in %d of the mining sets", file, b.MiningPart)
		}
		for _, s := range slices.Concat(judged(b.Sets, b.Parts[0]), judged(b.Choose.Sets, b.Parts[0])) {
			if err := s.Validate(); err != nil {
				t.Errorf("%s: %v", file, err)
			}
		}
	}
}

func TestBudgetsThatAreNone(t *testing.T) {
	const rest = "parts: [[de]], seeds: 1, sets: [{protocol: sts, dir: sts}]"
	for text, want := range map[string]string{
		"{" + rest + ", groups: []}":                                                                                   "names no system",
		"{parts: [[de]], groups: [{name: a, lines: 1, systems: [x]}]}":                                                 "needs parts, sets and seeds",
		"{" + rest + ", groups: [{name: a, lines: 1, systems: [x, {name: x}]}]}":                                       "twice",
		"{" + rest + ", groups: [{name: a, lines: 1, start: y, systems: [x]}]}":                                        "starts from y",
		"{" + rest + ", mining_part: -2, groups: [{name: a, lines: 1, systems: [x]}]}":                                 "mining_part is -2",
		"{" + rest + ", groups: [{name: a, systems: [x]}]}":                                                            "lines",
		"{" + rest + ", groups: [{name: a, lines: 1, half: 3, systems: [x]}]}":                                         "half 3",
		"{" + rest + ", groups: [{name: a, lines: 1, rates: [1e-3], systems: [x]}]}":                                   "choose.sets",
		"{" + rest + ", teacher: y, groups: [{name: a, lines: 1, systems: [x]}]}":                                      "teacher y",
		"{" + rest + ", groups: [{name: a, lines: 1, systems: [x], colour: red}]}":                                     "colour",
		"{" + rest + ", groups: [{name: a, lines: 1, systems: [{name: x, colour: red}]}]}":                             "colour",
		"{" + rest + ", untested: [{better: [y], worse: x, because: z}], groups: [{name: a, lines: 1, systems: [x]}]}": "untested names y",
		"{" + rest + ", untested: [{better: [x], worse: x}], groups: [{name: a, lines: 1, systems: [x]}]}":             "needs better, worse and because",
	} {
		path := filepath.Join(t.TempDir(), "budget.yaml")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := readBudget(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", text, err, want)
		}
	}
}

// TestClaims checks that every claim uses existing figures and the systems of one budget.
func TestClaims(t *testing.T) {
	known := map[string]string{}
	for _, file := range []string{"imascl.yaml", "transformer.yaml", "wacse.yaml", "strong.yaml"} {
		b, err := readBudget(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, system := range b.systems() {
			known[system] += file + " "
		}
	}
	for _, c := range claims {
		for _, over := range c.over {
			if !slices.ContainsFunc(strings.Fields(known[over.better]), func(b string) bool { return slices.Contains(strings.Fields(known[over.worse]), b) }) {
				t.Errorf("%s: %s and %s are no systems of one budget", c.says, over.better, over.worse)
			}
			if is := slices.ContainsFunc(figures, func(f figure) bool { return f.name == over.figure }); is == (over.maxRatio > 0) {
				t.Errorf("%s: %q is no figure", c.says, over.figure)
			}
		}
	}
}

// TestDifferencesAreOfOneSeed: what all seeds share is no error, and a seed that one row lacks is left out. The
// teacher, which has one seed, is compared with all.
func TestDifferencesAreOfOneSeed(t *testing.T) {
	row := func(system string, of map[uint64]float64) (all []*result) {
		for seed, x := range of {
			all = append(all, &result{System: system, Seed: seed, Figures: map[string]float64{tatoeba: x}})
		}
		return all
	}
	got := differences(row("a", map[uint64]float64{1: 50, 2: 60, 3: 70, 4: 9}), row("b", map[uint64]float64{3: 69, 2: 59, 1: 49}), tatoeba, "bag")
	if !slices.Equal(got, []float64{1, 1, 1}) {
		t.Errorf("differences %v", got)
	}
	got = differences(row("bag", map[uint64]float64{1: 52}), row("b", map[uint64]float64{3: 50, 2: 50, 1: 50}), tatoeba, "bag")
	if !slices.Equal(got, []float64{2, 2, 2}) {
		t.Errorf("differences from the teacher %v", got)
	}
	if got := differences(row("a", map[uint64]float64{1: 1}), row("b", map[uint64]float64{1: 2}), flores, ""); got != nil {
		t.Errorf("differences of a figure that no row has: %v", got)
	}
}

// TestSoftIsWithTCM: what the paper's Table 2 calls soft is the row with TCM, in every comparison with another loss.
func TestSoftIsWithTCM(t *testing.T) {
	for _, c := range claims {
		for _, over := range c.over {
			if over.better == "imascl" || over.better == "imascl-average" {
				t.Errorf("%s: compares %s", c.says, over.better)
			}
			if over.maxRatio == 0 && over.claimed <= 0 && over.figure != skew {
				t.Errorf("%s: no size of the difference in %s", c.says, over.figure)
			}
		}
	}
}

func TestTogether(t *testing.T) {
	for want, all := range map[string][]statistic.Outcome{
		"held":                        {statistic.Held, statistic.Held},
		"not held (held in 1 of 2)":   {statistic.Held, statistic.Unclear},
		"not held":                    {statistic.Untested, statistic.Contrary},
		"not tested":                  {statistic.Untested, statistic.Untested},
		"not tested (held in 1 of 2)": {statistic.Held, statistic.Untested},
	} {
		if got := together(all); got != want {
			t.Errorf("%v: %s, want %s", all, got, want)
		}
	}
}

func TestReport(t *testing.T) {
	named := func(names ...string) (all []system) {
		for _, name := range names {
			all = append(all, system{Name: name})
		}
		return all
	}
	b := budget{name: "small", Teacher: "bag", Parts: [][]string{{"es"}}, Groups: []group{
		{Name: "From nothing", Lines: 10, Rates: []float64{0.5, 0.25}, Systems: named("bag", "ems", "ems-no-xtr")},
		{Name: "Fine-tuned", Lines: 5, Half: 2, Start: "bag", Rates: []float64{0.1, 0.25, 0.5}, Systems: named("imascl-hard", "imascl-tcm", "muse")},
	}, Untested: []untestable{{Better: []string{"ems"}, Worse: "ems-no-xtr", Figures: []string{ntrex}, Because: "of the moon"}}}
	row := func(system string, step, share float64, values ...float64) (all []*result) {
		for i, x := range values {
			all = append(all, &result{System: system, Seed: uint64(i), Figures: map[string]float64{flores: x, ntrex: x, stsEN: 60 - x/10, stsES: 60 - x/10}, Step: step,
				Steps: 7, Batch: 4, Dim: 3, Words: 9, Pairs: 8, Rate: 0.25})
			if share > 0 {
				all[i].Figures[own] = share
			}
		}
		return all
	}
	rows := map[string][]*result{"bag": row("bag", 0.1, 0, 50), "ems": row("ems", 0.3, 0, 40, 41, 42), "ems-no-xtr": row("ems-no-xtr", 0.2, 0, 50, 51, 52),
		"imascl-hard": row("imascl-hard", 0.1, 0, 30, 31, 32), "imascl-tcm": row("imascl-tcm", 0.1, 95, 20, 21, 22)}
	got := report(b, b.Parts[0], rows)
	for _, want := range []string{
		"From nothing: 8 pairs (10 lines of each file at most), 7 steps of 4 pairs, 3 dimensions, 9 words.\n",
		"Fine-tuned: 8 pairs (5 lines of each file at most, of the even ones), 7 steps of 4 pairs, 3 dimensions, 9 words; each starts from `bag`.\n",
		"| `ems` | 3 | 41.00 ± 1.00 |",
		"| `bag` | 1 | 50.00 |",
		"| 0.25 (edge) | 300.0 ± 0.0 |",
		"| `imascl-hard` | 3 |  | 0.25 | 100.0 ± 0.0 |",
		"Without XTR EMS is worse (89.8 to 85.5) | **not tested (held in 1 of 2)** | `ems` over `ems-no-xtr`, FLORES | +10.00 (0.00; paper 4.3) | held |",
		"`ems` over `ems-no-xtr`, NTREX | +10.00 (0.00; paper 4.3) of the moon | not tested |",
		"at most 10%) | **not held** | `ems` over `ems-no-xtr`, time of a step | x1.50 | contrary |",
		"| `imascl-tcm` over `imascl-hard`, FLORES | +10.00 (0.00; paper 2.5) the teacher's labels have 95% of their mass on the pair itself: they are hard ones | not tested |",
		"harms STS | **not held** | `bag` over `imascl-hard`, STS en | -1.90 (0.25; paper 11.6) | contrary |",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the report lacks %q:\n%s", want, got)
		}
	}
	if strings.Contains(got, "MSE") || strings.Contains(got, "bucc") || strings.Contains(got, "| `muse` |") {
		t.Errorf("a claim of systems that the budget lacks, a column of languages that the part lacks, or a row without seeds:\n%s", got)
	}
	b.Untested[0].Figures = []string{stepTime}
	if got := report(b, b.Parts[0], rows); !strings.Contains(got, "| **not tested** | `ems` over `ems-no-xtr`, time of a step | x1.50 of the moon | not tested |") {
		t.Errorf("a budget cannot say that it does not test a step's time:\n%s", got)
	}
	single := map[string][]*result{"ems": row("ems", 0.3, 0, 40), "ems-no-xtr": row("ems-no-xtr", 0.2, 0, 50)}
	if got := report(b, b.Parts[0], single); !strings.Contains(got, "| **not tested** | `ems` over `ems-no-xtr`, FLORES | +10.00 (one seed; paper 4.3) | not tested |") {
		t.Errorf("rows of one seed are not compared:\n%s", got)
	}
	dir := t.TempDir()
	if err := plots(dir, b, b.Parts[0], rows); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(filepath.Join(dir, "flores-es.svg")); err != nil || !strings.Contains(string(text), "imascl-tcm") {
		t.Errorf("no plot of FLORES: %v", err)
	}
}

// TestGather: a column is the mean of its figures, and is left out where one is missing.
func TestGather(t *testing.T) {
	found := map[string]float64{"flores devtest xsim average error": 7}
	for _, year := range []int{2013, 2016} {
		found[fmt.Sprintf("sts sts %d mean spearman", year)] = float64(year)
	}
	if got := gather(found); len(got) != 2 || got[flores] != 7 || got[stsEN] != 2014.5 {
		t.Errorf("%v", got)
	}
	delete(found, "sts sts 2016 mean spearman")
	if got := gather(found); len(got) != 1 {
		t.Errorf("%v", got)
	}
	if got := named("ntrex", "", "xsim average error"); got != "ntrex xsim average error" {
		t.Errorf("%q", got)
	}
}

func TestFill(t *testing.T) {
	page := filepath.Join(t.TempDir(), "page.md")
	if err := os.WriteFile(page, []byte("before\n<!-- bag -->\nold\n<!-- end of bag -->\nafter\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := verdict.Fill(page, "bag", "new\n"); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(page); err != nil || string(got) != "before\n<!-- bag -->\n\nnew\n\n<!-- end of bag -->\nafter\n" {
		t.Errorf("%q, %v", got, err)
	}
	if err := verdict.Fill(page, "transformer", "new\n"); err == nil || !strings.Contains(err.Error(), "<!-- transformer -->") {
		t.Errorf("a page without marks: %v", err)
	}
}

// TestSummary: the table of docs/reproduction.md is that of the rows, and a claim on two parts is one line.
func TestSummary(t *testing.T) {
	page := "<!-- bag -->\n| EMS | Without XTR EMS is worse (89.8 to 85.5) | **held** | `ems` over `ems-no-xtr`, FLORES | +1.50 (0.30; paper 4.3) | held |\n" +
		"| EMS | Without XTR EMS is worse (89.8 to 85.5) | **not held (held in 1 of 2)** | `ems` over `ems-no-xtr`, FLORES | -0.20 (0.30; paper 4.3) | not held |\n"
	want := "| EMS | Without XTR EMS is worse (89.8 to 85.5) | `bag` | held in 1 of 2 | +1.50, -0.20 FLORES | 4.3 |\n"
	if got := verdict.Table(page, said()); !strings.HasSuffix(got, want) {
		t.Errorf("%s", got)
	}
	rows, err := os.ReadFile("../results/reproduction.md")
	if err != nil {
		t.Fatal(err)
	}
	doc, err := os.ReadFile("../../docs/reproduction.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(doc), verdict.Table(string(rows), said())) {
		t.Error("docs/reproduction.md has another table than bench/results/reproduction.md: go run ./bench/reproduce -summarise -doc bench/results/reproduction.md -claims docs/reproduction.md")
	}
}
