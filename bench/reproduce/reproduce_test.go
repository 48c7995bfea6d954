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
		"groups: [{name: a, lines: 1, systems: [x, x]}]":            "twice",
		"groups: [{name: a, lines: 1, start: y, systems: [x]}]":     "starts from y",
		"groups: [{name: a, systems: [x]}]":                         "lines",
		"{teacher: y, groups: [{name: a, lines: 1, systems: [x]}]}": "teacher y",
		"groups: [{name: a, lines: 1, systems: [x], colour: red}]":  "colour",
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
	row := func(values ...float64) summary { return summarise(values) }
	for _, c := range []struct {
		name          string
		better, worse summary
		lower         bool
		want          outcome
	}{
		{"far above", row(60, 61, 62), row(50, 51, 52), false, held},
		{"far below", row(50, 51, 52), row(60, 61, 62), false, contrary},
		{"an error rate far below", row(10, 11, 12), row(20, 21, 22), true, held},
		{"within two standard errors", row(50, 51, 52), row(49.5, 50.5, 51.5), false, unclear}, // 0.5 against 1.63
		{"one seed", row(60), row(50, 51, 52), false, unknown},
		{"no seed", row(), row(50, 51), false, unknown},
	} {
		if _, _, got := decide(c.better, c.worse, c.lower); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
	difference, two, _ := decide(row(60, 61, 62), row(50, 51, 52), false)
	if difference != 10 || math.Abs(two-2*math.Sqrt(2.0/3)) > 1e-12 {
		t.Errorf("a difference of %v with two standard errors of %v", difference, two)
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
		"without XTR (to 85.5) | **held** | `ems` over `ems-no-xtr`, Tatoeba | +10.00 (1.63) | held |",
		"at most 10%) | **not held** | `ems` over `ems-no-xtr`, time of a step | x1.50 | contrary |",
		"harms STS | **not known** |",
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
