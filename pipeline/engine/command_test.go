package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"bitextmine/internal/badinput"
	"bitextmine/pipeline/record"
)

// launched is a plan of two waves of so many tasks, and a program that does them: it runs body, a script whose $1 is a
// task's index in its wave, for every task of its stride without an output, and then leaves the output.
func launched(t *testing.T, body string, tasks ...int) (Command, Job) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "it's here")
	j := job(tasks...)
	j.Out = dir
	for w := range j.Plan.Waves {
		for i := range j.Plan.Waves[w].Tasks {
			j.Plan.Waves[w].Tasks[i].Key = fmt.Sprintf("%d-%d", w, i)
		}
	}
	j.Done = func(context.Context) (func(stage, key string) bool, error) {
		return func(_, key string) bool { _, err := os.Stat(filepath.Join(dir, "done", key)); return err == nil }, nil
	}
	j.Failed = func(context.Context) (map[string]record.Holder, error) {
		failed := map[string]record.Holder{}
		notes, err := filepath.Glob(filepath.Join(dir, "failed", "*"))
		for _, note := range notes {
			content, readErr := os.ReadFile(note)
			failed["encode-"+filepath.Base(note)] = record.Holder{Error: string(content), Permanent: true}
			err = errors.Join(err, readErr)
		}
		return failed, err
	}
	for _, name := range []string{"done", "failed", "count"} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	program := filepath.Join(dir, "mine")
	script := fmt.Sprintf(`#!/bin/bash
# task PLAN INDEX --offset FIRST --step STEP --end END ...
cd "$(dirname "$0")"
wave=0; [ "$5" = 0 ] || wave=1
for ((i = $3; i < $9 - $5; i += $7)); do
	[ -e "done/$wave-$i" ] && continue
	echo x >> "count/$wave-$i"
	(set -e; set -- "$i"; %s) || exit
	touch "done/$wave-$i"
done
`, body)
	if err := os.WriteFile(program, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	return Command{Line: "{}", Jobs: 3, Binary: program, Cores: 1, Log: slog.New(slog.DiscardHandler), Pause: time.Millisecond}, j
}

// tries is how often the program worked on a task.
func tries(t *testing.T, j Job, key string) int {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(j.Out, "count", key))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	return bytes.Count(data, []byte("x"))
}

func TestCommandRunsEveryTask(t *testing.T) {
	for _, line := range []string{
		"{}", "exec nice {}", `xargs -d '\n' -P 3 -I TASK sh -c TASK < {tasks}`, `bash -c 'bash "$1"' - {tasks}`,
		`while read -r task; do echo "$task" | sh || exit; done < {tasks}`,
	} {
		c, j := launched(t, ":", 5, 7)
		c.Line, c.Most = line, 4
		if err := c.Run(t.Context(), j); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		for _, key := range []string{"0-0", "0-4", "1-0", "1-3", "1-4", "1-6"} {
			if n := tries(t, j, key); n != 1 {
				t.Errorf("%s: task %s was done %d times", line, key, n)
			}
		}
	}
}

func TestCommandTriesAgain(t *testing.T) {
	for name, c := range map[string]struct {
		line, body   string
		tries        int // tries of the first task
		says         string
		permanent    bool
		undone, none bool // a task has no output; and no error of its own, as its note tells
	}{
		"a task that fails once":       {"{}", `[ "$(wc -l < "count/$wave-$1")" != 1 ]`, 2, "", false, false, false},
		"a task that always fails":     {"{}", "exit 1", 3, "exit status 1", false, true, false},
		"a task that fails for good":   {"{}", `echo bad > "failed/$wave-$1"; exit 2`, 1, "", false, true, true},
		"a launcher that hides it":     {"{} || true", "exit 1", 3, "returned 0, but 2 of 2", false, true, false},
		"a launcher that hides one":    {"{} || true", `[ "$1" = 1 ]`, 3, "returned 0, but 1 of 2", false, true, false},
		"a launcher that runs nothing": {"true {}", ":", 0, "returned 0, but 2 of 2", false, true, false},
		"a list that nobody reads":     {"true {tasks}", ":", 0, "must run {} or every line of {tasks}", false, true, false},
		"no such launcher":             {"there-is-none {}", ":", 0, "there is no there-is-none here", true, true, false},
		"none behind a variable":       {"A=1 there-is-none {}", ":", 0, "cannot be run (exit code 127)", true, true, false},
		"a word of the shell":          {"if {}; then true; fi", ":", 1, "", false, false, false},
		"a task that the kernel kills": {"{}", "kill -9 $$", 3, "lack of memory does: its tasks need up to 381.0 MiB", false, true, false},
		"a line without a task":        {"srun", ":", 0, "command is \"srun\"", true, true, false},
		"a line with both":             {"{} {tasks}", ":", 0, "give a command line", true, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			engine, j := launched(t, c.body, 2)
			engine.Line = c.line
			err := engine.Run(t.Context(), j)
			if (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) || badinput.Is(err) != c.permanent {
				t.Errorf("error %v, want one with %q, for good: %v", err, c.says, c.permanent)
			}
			if got := tries(t, j, "0-0"); got != c.tries {
				t.Errorf("%d tries, want %d", got, c.tries)
			}
			if there, _ := j.Done(t.Context()); there("encode", "0-0") == c.undone {
				t.Errorf("the task is done: %v", !c.undone)
			}
		})
	}
}

// TestCommandGoesOnFromHere: only what is left is launched, and a wave that is not done ends the run before the next.
func TestCommandGoesOnFromHere(t *testing.T) {
	c, j := launched(t, `[ "$wave-$1" != 0-1 ]`, 3, 1)
	if err := c.Run(t.Context(), j); err == nil {
		t.Error("no error of a task that fails")
	}
	if tries(t, j, "0-0") != 1 || tries(t, j, "0-1") != attempts || tries(t, j, "0-2") != 1 || tries(t, j, "1-0") != 0 {
		t.Errorf("tasks were tried %d, %d, %d and %d times", tries(t, j, "0-0"), tries(t, j, "0-1"), tries(t, j, "0-2"), tries(t, j, "1-0"))
	}
	logs, err := os.ReadDir(filepath.Join(j.Out, "command"))
	if err != nil || len(logs) != 3 {
		t.Errorf("%d logs, error %v", len(logs), err)
	}
}

// TestCommandIsStopped: the launcher and what it started get a signal.
func TestCommandIsStopped(t *testing.T) {
	c, j := launched(t, "touch begun; exec sleep 300", 1)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		for _, err := os.Stat(filepath.Join(j.Out, "begun")); err != nil; _, err = os.Stat(filepath.Join(j.Out, "begun")) {
			time.Sleep(5 * time.Millisecond)
		}
		cancel()
	}()
	begin := time.Now()
	if err := c.Run(ctx, j); !errors.Is(err, context.Canceled) || time.Since(begin) > 15*time.Second {
		t.Errorf("error %v after %v", err, time.Since(begin))
	}
}

func TestCommandDryRun(t *testing.T) {
	var out bytes.Buffer
	for _, line := range []string{"srun --ntasks=1 {}", "parallel < {tasks}"} {
		c := Command{Line: line, Binary: "/opt/it's mine/mine", Cores: 8, MaxMemory: 2 << 30, DryRun: &out}
		if err := c.Run(t.Context(), job(2, 1)); err != nil {
			t.Fatal(err)
		}
	}
	golden(t, "command.golden", out.String())
}
