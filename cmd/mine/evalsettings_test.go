package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"bitextmine/fixtures"
	"bitextmine/internal/badinput"
)

// TestEvalSaysHow: a report says what it was made with, and notes what is not usual.
func TestEvalSaysHow(t *testing.T) {
	dir := fixtureSet(t)
	var got struct {
		Settings map[string]any
		Notes    []string
		Rows     []any
	}
	out := must(t, "eval", "bucc-st", "--src", "de,de", "--dir", dir, "--search", "ivf:4", "--dtype", "float16", "--format", "json")
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]any{"encoder": fixtures.Encoder, "directory": dir, "target": "en", "dtype": "float16", "search": "ivf:4"} {
		if got.Settings[name] != want {
			t.Errorf("%s is %v, want %v", name, got.Settings[name], want)
		}
	}
	recall, measured := got.Settings["recall"].(float64)
	if digest, _ := got.Settings["digest"].(string); len(digest) < 32 || !measured || recall <= 0 || len(got.Rows) != 1 {
		t.Error(out)
	}
	notes := strings.Join(got.Notes, "\n")
	if !strings.Contains(notes, "the search is approximate (ivf:4)") || !strings.Contains(notes, "not the default: dtype float16") || strings.Contains(out, "is exact") {
		t.Error(notes)
	}
	out = must(t, "eval", "bucc-mteb", "--src", "de", "--dir", dir, "--search", "ivf:5000") // more lists than sentences
	if !strings.Contains(out, "ivf:5000 searched all exactly") {
		t.Error(out)
	}
	out = must(t, "eval", "bucc-st", "--src", "de", "--dir", dir)
	if strings.Contains(out, "approximate") || strings.Contains(out, "not the default") || strings.Contains(out, "does not list") {
		t.Error(out)
	}
	flores := t.TempDir()
	into := writerInto(t, flores)
	for _, name := range []string{"deu_Latn.dev", "eng_Latn.dev", "yor_Latn.dev"} {
		into(name, "A word.\nAnother word.\n")
	}
	out = must(t, "eval", "tatoeba", "--src", "de,yo", "--split", "dev", "--dir", flores)
	if !strings.Contains(out, "not the default: split dev") || !strings.Contains(out, "does not list: yo\n") {
		t.Error(out)
	}
}

// TestEvalSaysWhichSet: in a call over two kinds of sets, each report names its own.
func TestEvalSaysWhichSet(t *testing.T) {
	into, dir := writerInto(t, t.TempDir()), fixtureSet(t)
	source, target := into("a.de", "Ein Wort.\nNoch eines.\n"), into("a.en", "A word.\nAnother one.\n")
	var got []struct {
		Protocol string
		Settings map[string]any
	}
	out := must(t, "eval", "bucc-laser", "xsim", "--src", "de", "--tgt", "en", "--dir", dir, "--src-text", source, "--tgt-text", target,
		"--format", "json")
	if err := json.Unmarshal([]byte(out), &got); err != nil || len(got) != 2 {
		t.Fatalf("%v: %s", err, out)
	}
	for i, want := range []map[string]any{{"directory": dir, "src_text": nil, "tgt_text": nil}, {"directory": nil, "src_text": source, "tgt_text": target}} {
		for name, value := range want {
			if got[i].Settings[name] != value {
				t.Errorf("%s: %s is %v, want %v", got[i].Protocol, name, got[i].Settings[name], value)
			}
		}
	}
}

// TestEvalWritesNegatives: what is written can be encoded elsewhere, in the order in which rows are expected.
func TestEvalWritesNegatives(t *testing.T) {
	dir := t.TempDir()
	into := writerInto(t, dir)
	into("deu_Latn.devtest", "Es kamen 20 Leute.\nEs war gut.\n")
	into("eng_Latn.devtest", "20 people came.\nIt was good.\n")
	negatives := filepath.Join(dir, "negatives.en")
	must(t, "eval", "xsim++", "--src", "de", "--dir", dir, "--negatives-out", negatives)
	text, err := os.ReadFile(negatives)
	lines := strings.Count(string(text), "\n")
	if err != nil || lines < 1 || strings.Contains(string(text), "20 people came.\n") {
		t.Fatalf("%q, %v", text, err)
	}
	for name, from := range map[string]string{"de.npy": "deu_Latn.devtest", "en.npy": "eng_Latn.devtest"} {
		must(t, "encode", "--lang", "en", filepath.Join(dir, from), "--out", filepath.Join(dir, name))
	}
	given := []string{"eval", "xsim++", "--src", "de", "--dir", dir, "--src-emb", filepath.Join(dir, "de.npy"), "--tgt-emb", filepath.Join(dir, "all.npy")}
	must(t, "encode", "--lang", "en", filepath.Join(dir, "eng_Latn.devtest"), "--out", filepath.Join(dir, "all.npy"))
	if _, err := command(t, given...); !badinput.Is(err) || !strings.Contains(err.Error(), "--negatives-out") {
		t.Errorf("vectors without the negatives': %v", err)
	}
	into("all.en", "20 people came.\nIt was good.\n"+string(text))
	must(t, "encode", "--lang", "en", filepath.Join(dir, "all.en"), "--out", filepath.Join(dir, "all.npy"))
	must(t, given...)
	if _, err := command(t, "eval", "xsim", "--dir", dir, "--negatives-out", negatives); !badinput.Is(err) {
		t.Errorf("--negatives-out without xsim++: %v", err)
	}
}
