package pipeline

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"bitextmine/bitext/exchange"
	"bitextmine/internal/badinput"
	"bitextmine/pipeline/setting"
	"bitextmine/score"
)

// TestCutOfOddText: text that is too little, wholly translated, not translated, repeated, or of names and numbers alone
// gives a sane number of pairs, and run.json says what was assumed.
func TestCutOfOddText(t *testing.T) {
	known, err := exchange.FixturePairs("de", "en")
	if err != nil {
		t.Fatal(err)
	}
	side := func(from, to, of int) (lines []string) {
		for _, pair := range known[from:to] {
			lines = append(lines, [2]string{pair.Source, pair.Target}[of])
		}
		return lines
	}
	names := func(what string) (lines []string) {
		for i := range 300 {
			lines = append(lines, fmt.Sprintf("%s Nr. %d, %d.%d.%d", what, i*7, i%28+1, i%12+1, 1900+i%120))
		}
		return lines
	}
	repeated := side(0, 100, 0)
	for range 4 {
		repeated = append(repeated, repeated[:100]...)
	}
	for name, c := range map[string]struct {
		source, target []string
		low, high      int // kept
		by, assumed    string
	}{
		"few sentences":     {side(0, 20, 0), side(0, 20, 1), 10, 20, "scorer", "too few"},
		"a small side":      {side(0, 100, 0), side(0, 100, 1), 80, 100, "shift", "few: the share"},
		"all translated":    {side(0, 216, 0), side(0, 216, 1), 195, 216, "shift", ""},
		"none translated":   {side(0, 108, 0), side(108, 216, 1), 0, 1, "shift", ""},
		"repeated":          {repeated, side(0, 100, 1), 80, 100, "shift", ""},
		"names and numbers": {names("Müller Berlin"), names("Taylor London"), 0, 300, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for file, lines := range map[string][]string{"de.txt": c.source, "en.txt": c.target} {
				if err := os.WriteFile(filepath.Join(dir, file), []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			report := mustRun(t, scored(testConfig(dir, filepath.Join(t.TempDir(), "out"))))
			if n := report.Counts.Kept; n < c.low || n > c.high {
				t.Errorf("%d pairs are kept, wanted %d to %d: %s", n, c.low, c.high, report.Cut)
			}
			if report.Cut == nil || c.by != "" && report.Cut.By != c.by || !strings.Contains(strings.Join(report.Cut.Assumed, " "), c.assumed) {
				t.Errorf("cut %+v", report.Cut)
			}
		})
	}
}

// TestSwappedSides: a run whose sides are swapped stops with a sentence that says so, unless it is told to go on.
func TestSwappedSides(t *testing.T) {
	known, err := exchange.FixturePairs("de", "en")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	var de, en strings.Builder
	for _, pair := range known[:100] {
		fmt.Fprintln(&de, pair.Target)
		fmt.Fprintln(&en, pair.Source)
	}
	for file, text := range map[string]string{"de.txt": de.String(), "en.txt": en.String()} {
		if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cfg := testConfig(dir, filepath.Join(t.TempDir(), "out"))
	if _, err := Run(t.Context(), cfg, options()); !badinput.Is(err) || !strings.Contains(err.Error(), "--swapped") {
		t.Errorf("error %v", err)
	}
	cfg.Swapped = true
	if report := mustRun(t, cfg); !strings.Contains(strings.Join(report.Warnings, " "), "swap") {
		t.Errorf("warnings %v", report.Warnings)
	}
}

// TestUnknownLanguage: where the encoder does not know a language, pairs are kept for precision alone, and a warning
// names encoders that know it.
func TestUnknownLanguage(t *testing.T) {
	cfg := scored(testConfig(corpora(t, 300), filepath.Join(t.TempDir(), "out")))
	cfg.Source = "eu"
	report, log := runLogged(t, cfg)
	if said := strings.Join(report.Warnings, " "); !strings.Contains(log, "few pairs are found") || !strings.Contains(said, "was not trained on eu") {
		t.Errorf("log %s", log)
	}
	if report.Counts.Kept > 0 && report.Cut.Precision < score.MinUnknownPrecision || report.Cut.Recall > 0 || !strings.Contains(strings.Join(report.Cut.Assumed, " "), "does not know") {
		t.Errorf("%d pairs kept, cut %+v", report.Counts.Kept, report.Cut)
	}
	if cfg.Threshold != setting.AutoThreshold {
		t.Error("the threshold was given")
	}
}
