package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"bitextmine/internal/badinput"
)

// TestScoreTellsPairsWithoutAText: they have no score, which a warning says.
func TestScoreTellsPairsWithoutAText(t *testing.T) {
	pairs := writerInto(t, t.TempDir())("pairs.jsonl", `{"fr":null,"es":"Hola."}`+"\n"+`{"fr":"Bonjour.","es":"Hola."}`+"\n")
	code, out, log := captured(t, "score", pairs, "--src", "fr", "--tgt", "es", "--src-column", "fr", "--tgt-column", "es", "--encoder", "use-static")
	if code != 0 || !strings.Contains(log, "pairs without a text on one side have no score") || !strings.Contains(log, "pairs=1 of=2") {
		t.Errorf("the log has %q", log)
	}
	if lines := strings.Split(out, "\n"); strings.Contains(lines[0], "score") || !strings.Contains(lines[1], "score") {
		t.Errorf("%q", lines)
	}
}

// TestColumnsOfLanguages: the two columns that are chosen among those of many languages are the texts of what export
// and filter write, and where nothing names columns every command says so.
func TestColumnsOfLanguages(t *testing.T) {
	dir := t.TempDir()
	write := writerInto(t, dir)
	rows := write("rows.jsonl", `{"de":"Guten Tag.","es":"Hola.","fr":"Bonjour.","links":3}`+"\n"+`{"de":"Hallo.","es":null,"fr":"Salut.","links":1}`+"\n")
	columns := []string{"--src-column", "fr", "--tgt-column", "es", "--src", "fr", "--tgt", "es"}
	exported, filtered, again := filepath.Join(dir, "x.tsv"), filepath.Join(dir, "x.parquet"), filepath.Join(dir, "again.tsv")
	must(t, append([]string{"export", rows, "--out", exported}, columns...)...)
	if data, err := os.ReadFile(exported); err != nil || string(data) != "src_text\ttgt_text\tde\tlinks\nBonjour.\tHola.\tGuten Tag.\t3\n" {
		t.Errorf("%q, %v", data, err)
	}
	code, scored, log := captured(t, "score", exported, "--src", "fr", "--tgt", "es", "--encoder", "use-static")
	if code != 0 || !strings.HasPrefix(scored, "src_text\ttgt_text\tde\tlinks\tscore\t") || strings.Contains(log, "WARN") {
		t.Errorf("%q, with the log %q", scored, log)
	}
	must(t, append([]string{"filter", rows, "--config", "none", "--out", filtered}, columns...)...)
	must(t, "export", filtered, "--columns", "links", "--out", again)
	if data, err := os.ReadFile(again); err != nil || string(data) != "src_text\ttgt_text\tlinks\nBonjour.\tHola.\t3\n" {
		t.Errorf("%q, %v", data, err)
	}
	must(t, "filter", filtered, "--config", "none", "--out", filepath.Join(dir, "y.parquet"))

	header := write("header.tsv", "de\tes\tfr\nGuten Tag.\tHola.\tBonjour.\n")
	for _, args := range [][]string{
		{"filter", header}, {"align", header}, {"score", header, "--src", "de", "--tgt", "es", "--encoder", "use-static"},
	} {
		if code, _, log := captured(t, args...); code != 0 || !strings.Contains(log, "no line names the 3 columns: the first two are taken for the texts") {
			t.Errorf("mine %s logs %q", args[0], log)
		}
	}
}

// TestTMXOfOtherLanguages: neither rules nor columns are blamed for languages that the file does not have.
func TestTMXOfOtherLanguages(t *testing.T) {
	dir := t.TempDir()
	memory := writerInto(t, dir)("a.tmx", `<tmx><tu><tuv xml:lang="de"><seg>eins</seg></tuv><tuv xml:lang="en"><seg>one</seg></tuv></tu></tmx>`)
	for _, args := range [][]string{{"filter", "--out", filepath.Join(dir, "a.parquet")}, {"export", "--out", filepath.Join(dir, "a.tsv")}} {
		_, err := command(t, append(args, memory, "--src", "fr", "--tgt", "en")...)
		if !badinput.Is(err) || err.Error() != memory+" has units in de, en and none in fr: name its languages (--src, --tgt)" {
			t.Errorf("mine %s: %v", args[0], err)
		}
	}
}
