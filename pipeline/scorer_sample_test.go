package pipeline

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"bitextmine/bitext"
	"bitextmine/fixtures"
	"bitextmine/mine"
)

// TestSmallCorpora: among a few dozen sentences without a translation hardly any pair is likely, and those with one are
// found.
func TestSmallCorpora(t *testing.T) {
	matched := [2]map[string]bool{{}, {}}
	var gold [][2]string
	err := eachLine("text/de-en.gold", func(f []string) {
		matched[0][f[0]], matched[1][f[1]] = true, true
		gold = append(gold, [2]string{f[0], f[1]})
	})
	if err != nil {
		t.Fatal(err)
	}
	texts, unpaired := [2]map[string]string{{}, {}}, [2][]string{}
	for side, name := range []string{"text/de.txt", "text/en.txt"} {
		err := eachLine(name, func(f []string) {
			texts[side][f[0]] = f[1]
			if !matched[side][f[0]] {
				unpaired[side] = append(unpaired[side], f[1])
			}
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	slices.Reverse(unpaired[1]) // the near misses of a text stand at about the same place
	for _, c := range []struct{ alone, translated, maxKept, minRight int }{{20, 0, 1, 0}, {40, 0, 2, 0}, {60, 0, 3, 0}, {45, 15, 17, 12}} {
		t.Run(fmt.Sprintf("%d and %d pairs", c.alone, c.translated), func(t *testing.T) {
			dir := t.TempDir()
			for side, name := range []string{"de.txt", "en.txt"} {
				lines := slices.Clone(unpaired[side][:c.alone])
				for _, pair := range gold[:c.translated] {
					lines = append(lines, texts[side][pair[side]])
				}
				if err := os.WriteFile(filepath.Join(dir, name), []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			right, kept := 0, 0
			for _, row := range pairs(t, mustRun(t, scored(testConfig(dir, filepath.Join(t.TempDir(), "out"))))) {
				kept++
				for _, pair := range gold[:c.translated] {
					if row.Source.Text == texts[0][pair[0]] && row.Target.Text == texts[1][pair[1]] {
						right++
					}
				}
			}
			if kept > c.maxKept || right < c.minRight {
				t.Errorf("%d pairs kept, %d of them right: want at most %d and at least %d", kept, right, c.maxKept, c.minRight)
			}
		})
	}
}

// eachLine calls each with the fields of a fixture's lines.
func eachLine(name string, each func(fields []string)) error {
	data, err := fixtures.Text.ReadFile(name)
	for line := range strings.Lines(string(data)) {
		each(strings.Split(strings.TrimSuffix(line, "\n"), "\t"))
	}
	return err
}

// TestHardNegatives mines the fixture's text with the margin and with the scorer, as many pairs each, and counts near
// misses by kind.
func TestHardNegatives(t *testing.T) {
	hard := map[string]string{}
	if err := eachLine("text/hard.tsv", func(f []string) { hard[f[0]+" "+f[1]] = f[2] }); err != nil {
		t.Fatal(err)
	}
	cfg := testConfig("", filepath.Join(t.TempDir(), "out"))
	cfg.SourceText, cfg.TargetText = []string{"fixtures:text/de.txt"}, []string{"fixtures:text/en.txt"}
	cfg.KeepBelow = true
	count := func(cfg Config) map[string]int {
		kinds, kept := map[string]int{}, 0
		for _, row := range pairs(t, mustRun(t, cfg)) {
			if oneToOne(row) && kept < 216 {
				kept++
				kinds[hard[row.Source.Doc+" "+row.Target.Doc]]++
			}
		}
		return kinds
	}
	margin := count(cfg)
	cfg.Out = filepath.Join(t.TempDir(), "scored")
	scorer := count(scored(cfg))
	total := func(kinds map[string]int) (n int) {
		for kind, c := range kinds {
			if kind != "" {
				n += c
			}
		}
		return n
	}
	t.Logf("near misses among the best 216 pairs, by kind: margin %v, scorer %v", margin, scorer)
	if total(scorer) > total(margin) {
		t.Errorf("the scorer takes %d near misses, the margin %d", total(scorer), total(margin))
	}
	of := 0
	for _, kind := range hard {
		if kind == "number" || kind == "entity" {
			of++
		}
	}
	if taken := scorer["number"] + scorer["entity"]; 10*taken > of {
		t.Errorf("the scorer takes %d of %d near misses with another number or name, more than a tenth", taken, of)
	}
}

// oneToOne says that no better pair took a sentence of the row.
func oneToOne(row bitext.Row) bool {
	return row.Keep || len(row.Reasons) == 1 && row.Reasons[0] == mine.BelowThreshold.String()
}
