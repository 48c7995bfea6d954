package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"bitextmine/bitext/label"
	"bitextmine/internal/badinput"
)

// TestLabelsAreUsed: what people decided on a run's pairs estimates precision, and a scorer learns from it.
func TestLabelsAreUsed(t *testing.T) {
	dir := t.TempDir()
	run := filepath.Join(dir, "mined")
	must(t, "run", "--src", "de", "--tgt", "en", "--src-text", "../../fixtures/text/de.txt",
		"--tgt-text", "../../fixtures/text/en.txt", "--out", run)
	must(t, "reject", run, "--row", "0,5,9")
	must(t, "accept", run, "--row", "1,2,3,4,6,7,8,10,11,12,13,14")
	config := filepath.Join(dir, "mine.yaml")
	out := must(t, "calibrate", "--labels", run, "--for-precision", "0.7", "--write", config)
	if !strings.Contains(out, "15 labels on ") || !strings.Contains(out, "0.800 [0.548, 0.930]") {
		t.Errorf("mine calibrate --labels says:\n%s", out)
	}
	written, err := os.ReadFile(config)
	if err != nil || !regexp.MustCompile(`threshold: (0\.[89]|1\.0)`).Match(written) || strings.Contains(string(written), "scorer") {
		t.Errorf("the config is %q, error %v", written, err)
	}
	scorer := filepath.Join(dir, "scorer.json")
	must(t, "fit-scorer", "--src", "de", "--tgt", "en", "--src-text", "../../fixtures/text/de.txt",
		"--tgt-text", "../../fixtures/text/en.txt",
		"--out", run, "--labels", run, "--scorer-out", scorer)
	var fitted struct {
		FittedOn []struct {
			Pairs           string
			Injected, Found int
		} `json:"fitted_on"`
	}
	data, err := os.ReadFile(scorer)
	if err == nil {
		err = json.Unmarshal(data, &fitted)
	}
	if err != nil || len(fitted.FittedOn) != 2 || fitted.FittedOn[1].Injected != 15 || fitted.FittedOn[1].Found != 12 {
		t.Errorf("the scorer is fitted on %+v, error %v", fitted.FittedOn, err)
	}
	for _, args := range [][]string{
		{"calibrate", "--labels", dir},
		{"calibrate", "--labels", run, "--src", "de"},
		{"calibrate", "--labels", run, "--pairs", "x.tsv"},
		{"calibrate", "--labels", run, "--for-precision", "0.99"},
		{"reject", run, "--key", fmt.Sprintf("%032x:%032x", 1, 2)},
	} {
		if _, err := command(t, args...); !badinput.Is(err) {
			t.Errorf("mine %s: %v", strings.Join(args, " "), err)
		}
	}
	checkAccepted(t, run)
}

// checkAccepted: what a reviewer corrected stays when all pairs of a file are accepted.
func checkAccepted(t *testing.T, run string) {
	t.Helper()
	before, err := label.Latest(run)
	if err != nil {
		t.Fatal(err)
	}
	edited := before[slices.IndexFunc(before, func(l label.Label) bool { return l.Accepted })]
	edited.SourceText, edited.TargetText, edited.By = "Ein Haus.", "A house.", "Anna"
	if err := label.Append(run, []label.Label{edited}); err != nil {
		t.Fatal(err)
	}
	checked := filepath.Join(t.TempDir(), "checked.tsv")
	must(t, "export", run, "--out", checked, "--columns", "src_text,tgt_text,src_key,tgt_key")
	if out := must(t, "accept", run, "--file", checked); !strings.Contains(out, " pairs accepted, 12 were accepted already; the next run obeys") {
		t.Errorf("mine accept says %q", out)
	}
	after, err := label.Latest(run)
	if got, ok := label.IndexOf(after).Find(edited); err != nil || !ok || got != edited || len(after) <= len(before) {
		t.Errorf("after mine accept the label is %+v of %d, want %+v, error %v", got, len(after), edited, err)
	}
	key := edited.Source + ":" + edited.Target
	if out := must(t, "reject", run, "--key", key, "--key", key); !strings.HasPrefix(out, "1 pairs rejected") {
		t.Errorf("of a pair that is named twice mine reject says %q", out)
	}
}

// TestAcceptedCopies: a scorer does not look at text that was not translated unless the run keeps it, and mine accept
// says so.
func TestAcceptedCopies(t *testing.T) {
	dir := t.TempDir()
	write := writerInto(t, dir)
	var sides [2]string
	for i, language := range []string{"de", "en"} {
		text, err := os.ReadFile("../../fixtures/text/" + language + ".txt")
		if err != nil {
			t.Fatal(err)
		}
		sides[i] = string(text)
	}
	english := strings.SplitAfter(sides[1], "\n")[:40]
	source, target := write("a.de", sides[0]+strings.Join(english, "")), write("a.en", sides[1])
	var copies strings.Builder
	copies.WriteString("src_text\ttgt_text\n")
	for _, line := range english[:5] {
		_, text, _ := strings.Cut(strings.TrimSpace(line), "\t")
		fmt.Fprintf(&copies, "%s\t%s\n", text, text)
	}
	accepted := write("copies.tsv", copies.String())
	for _, c := range []struct {
		name, flag string
		warned     bool
	}{{"mined", "", true}, {"kept", "--keep-copies", false}, {"margin", "--scorer=none", false}} {
		run := filepath.Join(dir, c.name)
		must(t, strings.Fields("run --src de --tgt en --src-text "+source+" --tgt-text "+target+" --out "+run+" "+c.flag)...)
		code, _, log := captured(t, "accept", run, "--file", accepted)
		if code != 0 || strings.Contains(log, "5 of the 5 pairs are text that was not translated") != c.warned {
			t.Errorf("%s: exit code %d, log %s", c.name, code, log)
		}
	}
}

// TestLabelsOfNights: row numbers count in the last night, and every later night reads the labels.
func TestLabelsOfNights(t *testing.T) {
	out := filepath.Join(t.TempDir(), "nights")
	must(t, "run", "--nightly", "--src", "de", "--tgt", "en", "--src-text", "../../fixtures/text/de.txt",
		"--tgt-text", "../../fixtures/text/en.txt", "--out", out)
	must(t, "reject", out, "--row", "3")
	if _, err := os.Stat(filepath.Join(out, "labels.jsonl")); err != nil {
		t.Error(err)
	}
	if _, err := command(t, "reject", filepath.Join(out, "latest", "de-en.parquet"), "--row", "3"); !badinput.Is(err) ||
		!strings.Contains(err.Error(), "is a file") {
		t.Errorf("labels beside a file: %v", err)
	}
}
