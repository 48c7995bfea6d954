package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"bitextmine/internal/badinput"
)

// TestAlignTakesARun: its bitext, as mine filter and mine export take it; what is no run is said without the output.
func TestAlignTakesARun(t *testing.T) {
	run := filepath.Join(t.TempDir(), "mined")
	must(t, "run", "--src", "de", "--tgt", "en", "--out", run)
	if got, want := must(t, "align", run), must(t, "align", filepath.Join(run, "de-en.parquet")); got != want || got == "" {
		t.Errorf("of the run %q, of its bitext %q", got, want)
	}
	for _, args := range [][]string{{"align", t.TempDir()}, {"report", "nope", "--output", filepath.Join(run, "report.html")}} {
		if _, err := command(t, args...); !badinput.Is(err) || !strings.HasPrefix(err.Error(), args[1]+" ") {
			t.Errorf("mine %v: %v", args, err)
		}
	}
	if _, err := command(t, "report", run, "--output", ""); !badinput.Is(err) || !strings.Contains(err.Error(), "--output") {
		t.Errorf("a report without a file: %v", err)
	}
}

// TestAlignAndAER: mine align writes links, and mine eval aer measures them and aligns sets of its own.
func TestAlignAndAER(t *testing.T) {
	dir := t.TempDir()
	write := writerInto(t, dir)
	pairs := write("pairs.tsv", strings.Repeat("das Haus\tthe house\ndas Buch\tthe book\n", 3))
	links, gold := filepath.Join(dir, "pairs.pharaoh"), write("pairs.gold", strings.Repeat("1-1 2-2\n", 6))
	must(t, "align", pairs, "--src", "de", "--tgt", "en", "--out", links)
	if data, err := os.ReadFile(links); err != nil || string(data) != strings.Repeat("0-0 1-1\n", 6) {
		t.Fatalf("%q, %v", data, err)
	}
	out := must(t, "eval", "aer", "--hyp", links, "--gold", gold, "--format", "tsv")
	if !strings.Contains(out, "pairs.gold\t0\t100\t100\t12\t12\t6\t0\t0\n") {
		t.Errorf("%q", out)
	}
	write("set.src-tgt", "das Haus ||| the house\n")
	write("set.gold", "1-1 2-2\n")
	write("other.src-tgt", "a ||| b\n")
	write("other.gold", "1-1\n")
	out = must(t, "eval", "aer", "--dir", dir, "--only", "set", "--bitext", pairs, "--format", "tsv")
	if !strings.Contains(out, "set grow-diag-final-and\t0\t") || strings.Contains(out, "other") {
		t.Errorf("%q", out)
	}
	scored := write("scored.tsv", strings.Repeat("1.04\tdas Haus\tthe house\n1.02\tdas Buch\tthe book\n", 3))
	must(t, "align", scored, "--src-column", "2", "--tgt-column", "3", "--out", links)
	if data, err := os.ReadFile(links); err != nil || string(data) != strings.Repeat("0-0 1-1\n", 6) {
		t.Errorf("of numbered columns %q, %v", data, err)
	}
	if out := must(t, "score", scored, "--src", "de", "--tgt", "en", "--src-column", "2", "--tgt-column", "3"); strings.Count(out, "das Haus\tthe house\t") != 3 {
		t.Errorf("of numbered columns %q", out)
	}
	encoded := filepath.Join(dir, "encoded.pharaoh")
	must(t, "align", pairs, "--src", "de", "--tgt", "en", "--encoder", "use-static", "--symmetry", "itermax", "--out", encoded)
	tokens := write("tokens", strings.Repeat("das haus ||| the house\n", 6))
	out = must(t, "eval", "aer", "--hyp", encoded, "--gold", gold, "--tokens", tokens, "--format", "tsv")
	if !strings.Contains(out, "pairs.gold\t0\t") {
		t.Errorf("%q", out)
	}
	units := write("units.xliff", `<xliff version="1.2"><file source-language="de" target-language="en"><body>`+
		`<trans-unit id="1"><source>das Haus</source><target>the house</target></trans-unit></body></file></xliff>`)
	must(t, "eval", "aer", "--dir", dir, "--bitext", units, "--src", "de", "--tgt", "en")
	const unsure = "nothing says that both count the same words"
	for _, more := range [][]string{nil, {"--tokens", tokens}} {
		out = must(t, append([]string{"eval", "aer", "--hyp", links, "--gold", gold}, more...)...)
		if strings.Contains(out, unsure) != (more == nil) {
			t.Errorf("with %v: %s", more, out)
		}
	}
	if _, err := command(t, "align", pairs, "--iterations", "0"); err == nil || !strings.Contains(err.Error(), "name one with --encoder") {
		t.Errorf("no iteration and no encoder: %v", err)
	}
	for _, args := range [][]string{
		{"align"},
		{"align", pairs, "--src-text", pairs},
		{"align", "pairs.tmx"},
		{"align", pairs, "--src-column", "src_text"},
		{"align", pairs, "--tgt-column", "deu"},
		{"filter", pairs, "--src-column", "src_text"},
		{"align", scored},
		{"score", scored, "--src", "de", "--tgt", "en"},
		{"align", scored, "--src-column", "2"},
		{"score", scored, "--src", "de", "--tgt", "en", "--src-column", "2", "--tgt-column", "2"},
		{"align", pairs, "--words", "letters"},
		{"align", pairs, "--symmetry", "grow"},
		{"align", pairs, "--p0", "1"},
		{"align", pairs, "--iterations", "0"},
		{"align", pairs, "--symmetry", "itermax"},
		{"align", pairs, "--floor", "0.1"},
		{"align", pairs, "--encoder", "use-static", "--layer", "third"},
		{"eval", "aer", "--hyp", links, "--gold", gold, "--encoder", "use-static"},
		{"eval", "aer", "--hyp", links, "--gold", gold, "--tokens", pairs},
		{"eval", "aer", "--hyp", links, "--gold", gold, "--iterations", "3"},
		{"eval", "aer", "--dir", dir, "--hyp-base", "1"},
		{"eval", "aer", "--dir", dir, "--words", "spaces"},
		{"eval", "aer", "--dir", dir, "--gold-base", "0"},
		{"eval", "aer", "--dir", dir, "--bitext", units, "--src", "fr", "--tgt", "en"},
		{"eval", "aer"},
		{"eval", "aer", "--hyp", links},
		{"eval", "aer", "--dir", dir, "--gold", gold},
		{"eval", "aer", "--dir", dir, "--tokens", tokens},
		{"eval", "aer", "--hyp", links, "--gold", gold, "--only", "set"},
		{"eval", "aer", "--hyp", links, "--gold", gold, "--gold-base", "2"},
		{"eval", "aer", "--dir", dir, "--only", "third"},
	} {
		if _, err := command(t, args...); !badinput.Is(err) {
			t.Errorf("mine %s: %v", strings.Join(args, " "), err)
		}
	}
}
