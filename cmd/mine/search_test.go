package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"bitextmine/internal/badinput"
)

// TestSearch: words of the sample's bitext are looked up as a translator would.
func TestSearch(t *testing.T) {
	dir := t.TempDir()
	run := filepath.Join(dir, "mined")
	must(t, "run", "--src", "de", "--tgt", "en", "--out", run)
	lines := filepath.Join(dir, "lines")
	must(t, "run", "--src", "de", "--tgt", "en", "--src-text", "fixtures:text/parallel.tsv", "--tgt-text", "fixtures:text/parallel.tsv",
		"--src-text-column", "de", "--tgt-text-column", "en", "--out", lines)
	if out := must(t, "search", "Danzig", "--run", lines); !strings.Contains(out, "       text/parallel.tsv:2 | text/parallel.tsv:2\n") {
		t.Errorf("the file is not said: %s", out)
	}
	index := filepath.Join(run, "concordance")
	if err := os.WriteFile(index, nil, 0o600); err != nil { // as where an index cannot be made
		t.Fatal(err)
	}
	must(t, "search", "Prozent", "--run", run, "--regexp", "--in", "de")
	if err := os.Remove(index); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args []string
		says []string
	}{
		{[]string{"Gemeinden", "--in", "de"}, []string{"Die Gemeinde Ahrensbök", "The municipality of Ahrensbök",
			"de-00026 | en-00532", "3 of 3 pairs"}},
		{[]string{"the old", "--phrase"}, []string{"6 of 6 pairs"}},
		{[]string{"gemiende", "--fuzzy", "--limit", "1"}, []string{"1 of 3 pairs"}},
		{[]string{`\b12 Prozent`, "--regexp"}, []string{"12 Prozent gestiegen", "1 of 1 pairs"}},
		{[]string{"Strom", "--in", "de", "--collocates", "5"}, []string{"electricity", "log-likelihood"}},
		{[]string{`"the old"`}, []string{"6 of 6 pairs"}},
		{[]string{"Gemeinde -Ahrensbök"}, []string{"2 of 2 pairs"}},
		{[]string{"nothingofthekind"}, []string{"0 of 0 pairs"}},
	} {
		out := must(t, append([]string{"search", "--run", run}, c.args...)...)
		for _, want := range c.says {
			if !strings.Contains(out, want) {
				t.Errorf("mine search %q does not say %q:\n%s", c.args, want, out)
			}
		}
	}
	out := must(t, "search", "Gemeinde", "--bitext", filepath.Join(run, "de-en.parquet"), "--json")
	var hit struct {
		Texts [2]string
		Marks [2][]struct{ Start, End int }
		Prob  float32
		Key   string
	}
	first, _, _ := strings.Cut(out, "\n")
	if err := json.Unmarshal([]byte(first), &hit); err != nil || len(hit.Marks[0]) == 0 || hit.Prob < 0.5 {
		t.Errorf("%s: %+v, error %v", first, hit, err)
	}
	must(t, "reject", run, "--key", hit.Key)
	if out := must(t, "search", "Gemeinde", "--run", run); strings.Count(out, "\n       rejected\n") != 1 {
		t.Errorf("the rejected pair is not said to be: %s", out)
	}
	last := 1.0
	for line := range strings.Lines(must(t, "search", "the", "--run", run, "--limit", "500")) {
		var probability float64
		if _, err := fmt.Sscanf(line, "%f ", &probability); err == nil && strings.HasPrefix(line, "0.") {
			if probability > last {
				t.Errorf("a pair of %v after one of %v", probability, last)
			}
			last = probability
		}
	}
	if last == 1 {
		t.Error("no pair has the word")
	}
	for _, args := range [][]string{
		{"search"},
		{"search", "two", "queries"},
		{"search", "x", "--run", dir},
		{"search", "x", "--run", run, "--in", "fr"},
		{"search", "x", "--run", run, "--phrase", "--fuzzy"},
		{"search", "(", "--run", run, "--regexp"},
		{"search", " ", "--run", run}, {"search", "!?", "--run", run}, {"search", "--run", run, "--", "-x"}, {"search", "x", "--run", run, "--regexp", "--index", dir},
		{"search", "x", "--run", run, "--collocates", "3", "--skip", "1"},
		{"search", "x", "--bitext", filepath.Join(dir, "none.parquet")},
		{"search", "x", "--run", run, "--index", run},
		{"search", "x", "--run", filepath.Join(run, "de-en.parquet")},
		{"search", "x", "--bitext", filepath.Join(run, "run.json")},
		{"search", "x", "--run", run, "--bitext", filepath.Join(run, "de-en.parquet")},
		{"search", "x", "--run", run, "--collocates", "-3"},
	} {
		if _, err := command(t, args...); !badinput.Is(err) {
			t.Errorf("mine %s: %v", strings.Join(args, " "), err)
		}
	}
	own := filepath.Join(dir, "own.parquet")
	must(t, "export", run, "--columns", "score", "--out", own)
	if _, err := command(t, "search", "x", "--bitext", own); err == nil || !strings.Contains(err.Error(), "src_lang, tgt_lang, prob") {
		t.Errorf("of a file without several columns: %v", err)
	}
}
