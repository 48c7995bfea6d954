package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	shownCommand = regexp.MustCompile("(?:^(?: {4}|bin/|MINE/bin/)|`)(?:bin/)?mine ([a-z][^`]*)")
	shownFlag    = regexp.MustCompile(`(?:^|\s)--([a-z][a-z-]*)`)
	words        = regexp.MustCompile(`^[a-z-]+$`)
)

// TestDocumentedCommands: every call of the program that a page shows has a command and flags that there are.
func TestDocumentedCommands(t *testing.T) {
	pages, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	calls := 0
	for _, page := range append(pages, "../../README.md", "../../fixtures/models/README.md", "../../bench/results/README.md") {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		number := 0
		for line := range strings.Lines(string(text)) {
			number++
			for _, m := range shownCommand.FindAllStringSubmatch(strings.TrimRight(line, "\n"), -1) {
				call, _, _ := strings.Cut(m[1], " # ")
				var names []string
				for _, word := range strings.Fields(call) {
					if !words.MatchString(word) {
						break
					}
					names = append(names, word)
				}
				cmd, _, err := newRoot().Find(names)
				if err != nil || cmd.Name() == "mine" {
					t.Errorf("%s:%d shows mine %s, which is no command: %v", page, number, m[1], err)
					continue
				}
				calls++
				for _, flag := range shownFlag.FindAllStringSubmatch(call, -1) {
					if cmd.Flags().Lookup(flag[1]) == nil && cmd.InheritedFlags().Lookup(flag[1]) == nil {
						t.Errorf("%s:%d shows %s with --%s, which it does not have", page, number, cmd.CommandPath(), flag[1])
					}
				}
			}
		}
	}
	if calls < 100 {
		t.Errorf("found only %d calls on the pages", calls)
	}
}
