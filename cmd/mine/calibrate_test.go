package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestCalibrateWritesTheThreshold(t *testing.T) {
	dir := t.TempDir()
	set := fixtureSet(t)
	known, err := fixtureKnown(set)
	if err != nil {
		t.Fatal(err)
	}
	write := writerInto(t, dir)
	config := write("nightly.yaml", "# mine every night\nthreshold: 0.6 # for now\nk: 4\nprecision: 0.9\ncut: f0.5\n")
	// The corpus is the text without the known pairs.
	out := must(t, "calibrate", "--src", "de", "--tgt", "en", "--src-text", write("a.de", known.restSource),
		"--tgt-text", write("a.en", known.restTarget),
		"--pairs", write("known.tsv", known.pairs), "--margin", "distance", "--out", filepath.Join(dir,
			"mined"), "--config", write("before.yaml", "cut: f0.5\n"), "--write", config, "--curve", filepath.Join(dir, "curve.tsv"), "--resamples", "50")
	if !strings.Contains(out, "known pairs injected whole") || !strings.Contains(out, "\nthreshold ") {
		t.Error(out)
	}
	text, err := os.ReadFile(config)
	if err != nil || !strings.Contains(string(text), "# mine every night") ||
		!strings.Contains(string(text), "# for now") || strings.Contains(string(text), "0.6 ") ||
		!strings.Contains(string(text), "k: 4") || !strings.Contains(string(text), "margin: distance\n") {
		t.Errorf("%s (%v)", text, err)
	}
	// The config is one that a run takes, though its scorer would have asked for a probability.
	must(t, "run", "--config", config, "--src", "de", "--tgt", "en", "--out", filepath.Join(dir, "mined"))
	if curve, err := os.ReadFile(filepath.Join(dir, "curve.tsv")); err != nil || strings.Count(string(curve), "\n") < 20 {
		t.Errorf("%s (%v)", curve, err)
	}
}

// TestCalibrateOnLittleText: the program's own pairs are too many beside little text of another kind.
func TestCalibrateOnLittleText(t *testing.T) {
	dir := t.TempDir()
	var sides [2]string
	for i, language := range []string{"de", "en"} {
		data, err := os.ReadFile("../../fixtures/text/" + language + ".txt")
		if err != nil {
			t.Fatal(err)
		}
		sides[i] = filepath.Join(dir, "a."+language)
		if err := os.WriteFile(sides[i], []byte(strings.Join(strings.SplitAfter(string(data), "\n")[:300], "")), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	code, _, log := captured(t, "calibrate", "--src", "de", "--tgt", "en", "--src-text", sides[0], "--tgt-text", sides[1],
		"--out", filepath.Join(dir, "mined"), "--resamples", "2")
	if code != 0 || !strings.Contains(log, "too high or far too low; give pairs like the text (--pairs)") {
		t.Errorf("exit code %d, log %s", code, log)
	}
}

// TestCalibrateWritesNothingThatTheTextContradicts: beginnings of sentences are harder to find than the text's own.
func TestCalibrateWritesNothingThatTheTextContradicts(t *testing.T) {
	parallel, err := os.ReadFile("../../fixtures/text/parallel.tsv")
	if err != nil {
		t.Fatal(err)
	}
	begin := func(text string) string {
		return strings.Join(strings.Fields(text)[:min(4, len(strings.Fields(text)))], " ")
	}
	var source, target, known strings.Builder
	for _, line := range strings.Split(strings.TrimSpace(string(parallel)), "\n")[1:] {
		columns := strings.Split(line, "\t")
		source.WriteString(columns[2] + "\n")
		target.WriteString(columns[1] + "\n")
		known.WriteString(begin(columns[2]) + "\t" + begin(columns[1]) + "\n")
	}
	dir := t.TempDir()
	write := writerInto(t, dir)
	config := write("nightly.yaml", "threshold: 0.6\n")
	code, out, log := captured(t, "calibrate", "--src", "de", "--tgt", "en", "--src-text", write("a.de", source.String()),
		"--tgt-text", write("a.en", target.String()), "--pairs", write("known.tsv", known.String()),
		"--out", filepath.Join(dir, "mined"), "--resamples", "50", "--write", config)
	text, err := os.ReadFile(config)
	if code != exitPermanent || err != nil || string(text) != "threshold: 0.6\n" || !strings.Contains(out, "\nthreshold ") ||
		!strings.Contains(log, "neither precision nor the threshold is to be trusted") || !strings.Contains(log, "is not written into "+config) {
		t.Errorf("exit code %d, config %q (%v), log %s", code, text, err, log)
	}
}

type knownText struct{ pairs, restSource, restTarget string }

// fixtureKnown parts the program's corpora into known pairs and the sentences that are in none.
func fixtureKnown(dir string) (k knownText, err error) {
	read := func(name string) map[string]string {
		data, readErr := os.ReadFile(filepath.Join(dir, name))
		if readErr != nil {
			err = readErr
		}
		out := make(map[string]string)
		for _, line := range strings.Split(strings.TrimSpace(string(data)), "\n") {
			id, text, _ := strings.Cut(line, "\t")
			out[id] = text
		}
		return out
	}
	source, target, gold := read("de-en.train.de"), read("de-en.train.en"), read("de-en.train.gold")
	for s, t := range gold {
		k.pairs += source[s] + "\t" + target[t] + "\n"
		delete(source, s)
		delete(target, t)
	}
	for _, text := range source {
		k.restSource += text + "\n"
	}
	for _, text := range target {
		k.restTarget += text + "\n"
	}
	return k, err
}
