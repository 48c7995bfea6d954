package bitextmine

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestREADMECommands runs the commands of the sh blocks of README.md, and then of docs/tutorial.md, as they stand
// there, one after another, in a fresh checkout.
func TestREADMECommands(t *testing.T) {
	if testing.Short() {
		t.Skip("the program is built and run; not in -short")
	}
	clone := checkout(t)
	var commands []string
	for _, page := range []string{"README.md", "docs/tutorial.md"} {
		some := shellCommands(strings.Join(readLines(t, page), "\n"))
		if len(some) < 5 {
			t.Fatalf("%s has only the commands %q", page, some)
		}
		commands = append(commands, some...)
	}
	for _, command := range commands {
		if strings.HasPrefix(command, "make test") {
			continue // it runs this test
		}
		cmd := exec.Command("bash", "-c", command)
		cmd.Dir = clone
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", command, err, out)
		}
	}
	for _, path := range []string{"mined/de-en.parquet", "mined-text/de-en.parquet", "trained/model/model.onnx", "mined-again/de-en.parquet",
		"crawl/labels.jsonl", "dataset/README.md", "strict.de", "strict.tmx", "own/model/model.onnx", "crawl-again/de-en.parquet"} {
		if _, err := os.Stat(filepath.Join(clone, path)); err != nil {
			t.Errorf("after the commands: %v", err)
		}
	}
}

// checkout copies the repository's files, as they are in the working tree, into a directory of the test.
func checkout(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	args := append([]string{"--no-dereference", "--parents", "--target-directory", dir}, tracked(t)...)
	if out, err := exec.Command("cp", args...).CombinedOutput(); err != nil {
		t.Fatalf("copy the repository: %v: %s", err, out)
	}
	return dir
}

// shellCommands returns the lines of a Markdown text's sh blocks.
func shellCommands(markdown string) (commands []string) {
	inside := false
	for line := range strings.Lines(markdown) {
		line = strings.TrimSpace(line)
		switch {
		case line == "```sh":
			inside = true
		case line == "```":
			inside = false
		case inside && line != "":
			commands = append(commands, line)
		}
	}
	return commands
}
