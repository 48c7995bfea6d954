package main

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"bitextmine/train/data"
)

// TestBudgets checks that the systems of every budget are presets that its settings fit, and that they differ within a
// group only in their objectives.
func TestBudgets(t *testing.T) {
	files, err := filepath.Glob("*.yaml")
	if err != nil || len(files) != 2 {
		t.Fatalf("budgets %v, %v", files, err)
	}
	for _, file := range files {
		b, err := readBudget(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, g := range b.Groups {
			for _, system := range g.Systems {
				c, err := g.preset("../../configs/train", system)
				if err != nil {
					t.Fatal(err)
				}
				if err := c.Validate(); err != nil {
					t.Errorf("%s, %s: %v", file, system, err)
				}
				if (c.Name != system && system != b.Teacher) || c.Stop.Metric != "" || c.EvalEvery != 0 {
					t.Errorf("%s, %s: figures choose what is evaluated: %+v", file, system, c.Stop)
				}
			}
		}
	}
}

func TestBudgetsThatAreNone(t *testing.T) {
	for text, want := range map[string]string{
		"groups: []": "names no system",
		"groups: [{name: a, lines: 1, systems: [x, x]}]":                                                 "twice",
		"groups: [{name: a, lines: 1, start: y, systems: [x]}]":                                          "starts from y",
		"groups: [{name: a, systems: [x]}]":                                                              "lines",
		"{teacher: y, groups: [{name: a, lines: 1, systems: [x]}]}":                                      "teacher y",
		"groups: [{name: a, lines: 1, systems: [x], colour: red}]":                                       "colour",
		"{untested: [{better: [y], worse: x, because: z}], groups: [{name: a, lines: 1, systems: [x]}]}": "untested names y",
		"{untested: [{better: [x], worse: x}], groups: [{name: a, lines: 1, systems: [x]}]}":             "needs better, worse and because",
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

// TestClaims checks that every claim uses existing figures and presets.
func TestClaims(t *testing.T) {
	b, err := readBudget("bag.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range claims {
		for _, over := range c.over {
			if !slices.Contains(b.systems(), over.better) || !slices.Contains(b.systems(), over.worse) {
				t.Errorf("%s: %s or %s is no system of the budget", c.says, over.better, over.worse)
			}
			if known := slices.ContainsFunc(figures, func(f figure) bool { return f.name == over.figure }); known == (over.maxRatio > 0) {
				t.Errorf("%s: %q is no figure", c.says, over.figure)
			}
		}
	}
}

func TestDecide(t *testing.T) {
	for _, c := range []struct {
		name        string
		differences []float64
		lower       bool
		claimed     float64
		want        outcome
	}{
		{"far above", []float64{10, 11, 12}, false, 5, held},
		{"far below", []float64{-10, -11, -12}, false, 5, contrary},
		{"an error rate far below", []float64{-10, -11, -12}, true, 5, held},
		{"within an error below the claim", []float64{0.1, -0.1, 0.2}, false, 1, unclear}, // an error of 0.38
		{"within an error above the claim", []float64{0.1, -0.1, 0.2}, false, 0.3, untested},
		{"two standard errors are not enough of three seeds", []float64{1, 2, 3}, false, 1, untested}, // 2 against 2.48
		{"one seed", []float64{10}, false, 5, untested},
		{"no seed", nil, false, 5, untested},
	} {
		if _, _, got := decide(c.differences, c.lower, c.claimed); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
	mean, within, _ := decide([]float64{10, 11, 12}, false, 1)
	if mean != 11 || math.Abs(within-4.303/math.Sqrt(3)) > 1e-12 {
		t.Errorf("a difference of %v with an error of %v", mean, within)
	}
	if _, within, _ := decide(make([]float64, 40), false, 1); within != 0 {
		t.Errorf("40 equal seeds have an error of %v", within)
	}
}

// TestDifferencesAreOfOneSeed: what all seeds share is no error, and a seed that one row lacks is left out.
func TestDifferencesAreOfOneSeed(t *testing.T) {
	row := func(of map[uint64]float64) (all []*result) {
		for seed, x := range of {
			all = append(all, &result{Seed: seed, Figures: map[string]float64{tatoeba: x}})
		}
		return all
	}
	got := differences(row(map[uint64]float64{1: 50, 2: 60, 3: 70, 4: 9}), row(map[uint64]float64{3: 69, 2: 59, 1: 49}), byName(tatoeba))
	if !slices.Equal(got, []float64{1, 1, 1}) {
		t.Errorf("differences %v", got)
	}
}

// TestSoftIsWithTCM: what the paper's Table 2 calls soft is the row with TCM, in every comparison with another loss.
func TestSoftIsWithTCM(t *testing.T) {
	for _, c := range claims {
		for _, over := range c.over {
			if over.better == "imascl" || over.better == "imascl-average" {
				t.Errorf("%s: compares %s", c.says, over.better)
			}
			if over.maxRatio == 0 && over.claimed <= 0 {
				t.Errorf("%s: no size of the difference in %s", c.says, over.figure)
			}
		}
	}
}

func TestTogether(t *testing.T) {
	for want, all := range map[string][]outcome{
		"held":                        {held, held},
		"not held (held in 1 of 2)":   {held, unclear},
		"not held":                    {untested, contrary},
		"not tested":                  {untested, untested},
		"not tested (held in 1 of 2)": {held, untested},
	} {
		if got := together(all); got != want {
			t.Errorf("%v: %s, want %s", all, got, want)
		}
	}
}

func TestReport(t *testing.T) {
	b := budget{name: "small", Groups: []group{
		{Name: "From nothing", Lines: 10, Systems: []string{"contrastive", "ems", "ems-no-xtr"}},
		{Name: "Fine-tuned", Lines: 5, Start: "contrastive", Systems: []string{"imascl-hard"}},
	}}
	row := func(step float64, values ...float64) (all []*result) {
		for i, x := range values {
			all = append(all, &result{Seed: uint64(i), Figures: map[string]float64{tatoeba: x, stsEN: 60 - x/10, stsES: 60 - x/10}, Step: step, Steps: 7, Batch: 4, Dim: 3, Words: 9, Pairs: 8})
		}
		return all
	}
	got := report(b, map[string][]*result{"contrastive": row(0.1, 50), "ems": row(0.3, 50, 51, 52), "ems-no-xtr": row(0.2, 40, 41, 42)})
	for _, want := range []string{
		"From nothing: 8 pairs (10 lines of each file at most), 7 steps of 4 pairs, 3 dimensions, 9 words.\n",
		"| `ems` | 3 | 51.00 ± 1.00 |",
		"| `contrastive` | 1 | 50.00 |",
		"| start (`contrastive`) | 1 | 50.00 |",
		"| `imascl-hard` | 0 |  |",
		"without XTR (to 85.5) | **held** | `ems` over `ems-no-xtr`, Tatoeba | +10.00 (0.00; paper 4.3) | held |",
		"at most 10%) | **not held** | `ems` over `ems-no-xtr`, time of a step | x1.50 | contrary |",
		"harms STS | **not tested** |",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the report lacks %q:\n%s", want, got)
		}
	}
	if strings.Contains(got, "MSE") {
		t.Errorf("a claim of systems that the budget lacks:\n%s", got)
	}
}

func TestSample(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "long.tsv")
	if err := os.WriteFile(file, []byte("a\nb\nc\nd\ne\nf"), 0o600); err != nil {
		t.Fatal(err)
	}
	for lines, want := range map[int]string{3: "b\nd\nf\n", 6: "a\nb\nc\nd\ne\nf\n", 10: "a\nb\nc\nd\ne\nf\n", 4: "b\nc\ne\nf\n"} {
		sources := []data.Source{{Files: []string{file}}}
		if err := sample(sources, lines, filepath.Join(dir, "of", string(rune('0'+lines)))); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(sources[0].Files[0]); err != nil || string(got) != want {
			t.Errorf("%d lines: %q, want %q, %v", lines, got, want, err)
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

func TestMeter(t *testing.T) {
	if m := (&meter{}).median(); m != 0 {
		t.Errorf("no line gives %v", m)
	}
	if m := (&meter{each: []float64{9, 1, 2}}).median(); m != 2 {
		t.Errorf("got %v", m)
	}
}
