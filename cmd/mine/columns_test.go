package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// said runs a command that must end well, and returns what it prints and what it logs.
func said(t *testing.T, args ...string) (out, log string) {
	t.Helper()
	path, before := filepath.Join(t.TempDir(), "stderr"), os.Stderr
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	os.Stderr = file
	out, err = command(t, args...)
	os.Stderr = before
	if err != nil {
		t.Fatalf("mine %s: %v", strings.Join(args, " "), err)
	}
	data, err := os.ReadFile(path)
	if err := file.Close(); err != nil {
		t.Error(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return out, string(data)
}

// TestScoreTellsPairsWithoutAText: they have no score, which a warning says.
func TestScoreTellsPairsWithoutAText(t *testing.T) {
	pairs := writerInto(t, t.TempDir())("pairs.jsonl", `{"fr":null,"es":"Hola."}`+"\n"+`{"fr":"Bonjour.","es":"Hola."}`+"\n")
	out, log := said(t, "score", pairs, "--src", "fr", "--tgt", "es", "--src-column", "fr", "--tgt-column", "es", "--encoder", "use-static")
	if !strings.Contains(log, "pairs without a text on one side have no score") || !strings.Contains(log, "pairs=1 of=2") {
		t.Errorf("the log has %q", log)
	}
	if lines := strings.Split(out, "\n"); strings.Contains(lines[0], "score") || !strings.Contains(lines[1], "score") {
		t.Errorf("%q", lines)
	}
}
