package bitextmine

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestREADMECommands runs the commands of README.md's sh blocks as they stand there, one after another, in a fresh
// checkout.
func TestREADMECommands(t *testing.T) {
	if testing.Short() {
		t.Skip("the program is built and run; not in -short")
	}
	clone := checkout(t)
	commands := shellCommands(strings.Join(readLines(t, "README.md"), "\n"))
	if len(commands) < 5 {
		t.Fatalf("README.md has only the commands %q", commands)
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
	for _, path := range []string{"mined/de-en.parquet", "mined-text/de-en.parquet", "trained/model/model.onnx", "mined-again/de-en.parquet"} {
		if _, err := os.Stat(filepath.Join(clone, path)); err != nil {
			t.Errorf("after README's commands: %v", err)
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
