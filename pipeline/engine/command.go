package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"

	"bitextmine/internal/atomicfile"
	"bitextmine/internal/badinput"
	"bitextmine/pipeline/plan"
	"bitextmine/pipeline/record"
)

// Command runs each wave through a launcher, a command line of the shell: one launch for each index of the wave, or one
// for the whole wave. What a launcher returns is not believed: a task is done if its output is in the store.
type Command struct {
	Line      string // {} stands for the command of one index, {tasks} for a file with the commands of all, one a line
	Jobs      int    // launches at once
	Binary    string // the program, where every launched command sees it
	Cores     int    // cores of a task
	MaxMemory int64  // bytes of a task; 0: what the plan estimates
	Log       *slog.Logger
	DryRun    io.Writer     // if set, the launches are printed and nothing runs
	Pause     time.Duration // pause before a second attempt; 0: 5 s
	Most      int           // indices of a wave; 0: as many as a job array has
}

// The places of a command line that are replaced.
const (
	oneTask  = "{}"
	allTasks = "{tasks}"
)

// attempts is how often a task is launched that is not done and has not failed for good.
const attempts = 3

// program is a command line's first word, where it surely names a program or a word of the shell.
var program = regexp.MustCompile(`^\s*([\w./+-]+)(\s|$)`)

// Check implements Engine: it refuses a command line that names no task, or both ways of naming tasks, or a program
// that is not here.
func (c Command) Check(string, string) error {
	one, all := strings.Contains(c.Line, oneTask), strings.Contains(c.Line, allTasks)
	if one == all {
		return badinput.Errorf("command is %q; give a command line of the shell with {} for the command of one task, such as "+
			"'srun --ntasks=1 {}', or with {tasks} for a file of commands, such as 'parallel < {tasks}'", c.Line)
	}
	if found := program.FindStringSubmatch(c.Line); found != nil && c.DryRun == nil {
		if exec.Command("/bin/sh", "-c", `command -v -- "$1"`, "sh", found[1]).Run() != nil {
			return badinput.Errorf("the launcher cannot be run, as there is no %s here: %s; install it, or set command to another", found[1], oneLine(c.Line))
		}
	}
	return nil
}

// Run implements Engine.
func (c Command) Run(ctx context.Context, job Job) error {
	if err := c.Check("", ""); err != nil {
		return err
	}
	for wave := range job.Plan.Waves {
		if job.empty(wave) {
			continue
		}
		done, err := c.wave(ctx, job, wave)
		if err != nil || !done && c.DryRun == nil {
			return err // if it is nil, the notes of the tasks tell why
		}
	}
	return nil
}

// wave launches what a wave has left until all of it is done, a task has failed for good, or the attempts are used up.
func (c Command) wave(ctx context.Context, job Job, wave int) (done bool, err error) {
	a := newArray(job, wave, cmp.Or(c.Most, maxArray), c.Cores, c.MaxMemory)
	a.Binary = c.Binary
	tasks := job.Plan.Waves[wave].Tasks
	if c.DryRun != nil {
		return false, c.launch(ctx, job, a, missing(a, tasks, func(string, string) bool { return false }))
	}
	if err := os.MkdirAll(filepath.Join(job.Out, "command"), 0o777); err != nil {
		return false, fmt.Errorf("make the directory of the tasks' logs: %w", err)
	}
	var failure error
	for try := 1; ; try++ {
		before, err := job.Failed(ctx)
		if err != nil {
			return false, err
		}
		there, err := job.Done(ctx)
		if err != nil {
			return false, err
		}
		left := missing(a, tasks, there)
		if len(left) == 0 {
			return true, nil
		}
		if try > attempts {
			return false, failure
		}
		if try > 1 {
			c.Log.Warn("tasks are launched again", "stage", a.Stage, "tasks", len(left), "attempt", try, "reason", failure)
			select {
			case <-ctx.Done():
				return false, ctx.Err()
			case <-time.After(cmp.Or(c.Pause, 5*time.Second) * time.Duration(try-1)):
			}
		}
		failure = c.launch(ctx, job, a, left)
		if ctx.Err() != nil {
			return false, ctx.Err()
		}
		noted, permanent, err := c.newFailures(ctx, job, tasks, before)
		switch {
		case err != nil || permanent:
			return false, err
		case noted:
			failure = nil
		case badinput.Is(failure):
			return false, failure
		case failure == nil:
			if there, err = job.Done(ctx); err != nil {
				return false, err
			}
			failure = fmt.Errorf("the launcher of %s returned 0, but %d of %d tasks left neither a result nor an error: the command "+
				"must run {} or every line of {tasks}, see that of %s, and wait for the end; its logs are in %s", a.Stage,
				len(missing(a, tasks, there)), a.Step, oneLine(c.Line), filepath.Join(job.Out, "command"))
		}
	}
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// missing lists the indices of an array that have a task without an output.
func missing(a array, tasks []plan.Task, there func(stage, key string) bool) (left []int) {
	for index := range a.Step {
		for i := index; i < len(tasks); i += a.Step {
			if !there(tasks[i].Stage, tasks[i].Key) {
				left = append(left, index)
				break
			}
		}
	}
	return left
}

// newFailures says whether tasks have noted an error since before, and one for good.
func (c Command) newFailures(ctx context.Context, job Job, tasks []plan.Task, before map[string]record.Holder,
) (noted, permanent bool, err error) {
	now, err := job.Failed(ctx)
	since := record.Since(before, now)
	for _, t := range tasks {
		if h, failed := since[t.Stage+"-"+t.Key]; failed {
			noted, permanent = true, permanent || h.Permanent
		}
	}
	return noted, permanent, err
}

// launch runs the launcher for some indices of a wave. It returns the error of a launcher that failed, the last of
// many.
func (c Command) launch(ctx context.Context, job Job, a array, left []int) error {
	commands := make([]string, len(left))
	for i, index := range left {
		words := append([]string{a.Binary, "task", a.Plan, fmt.Sprint(index)}, a.Flags()...)
		for w := range words {
			words[w] = quote(words[w])
		}
		commands[i] = strings.Join(words, " ")
	}
	logs := filepath.Join(job.Out, "command")
	if strings.Contains(c.Line, allTasks) {
		list := filepath.Join(logs, a.Stage+".tasks")
		line := strings.ReplaceAll(c.Line, allTasks, quote(list))
		if c.DryRun != nil {
			_, err := fmt.Fprintf(c.DryRun, "# %s:\n%s\n%s\n\n", list, strings.Join(commands, "\n"), line)
			return err
		}
		if err := atomicfile.WriteBytes(list, []byte(strings.Join(commands, "\n")+"\n")); err != nil {
			return err
		}
		return c.shell(ctx, line, a.Stage, filepath.Join(logs, a.Stage+".log"), a.Memory<<20)
	}
	if c.DryRun != nil {
		for _, command := range commands {
			if _, err := fmt.Fprintln(c.DryRun, strings.ReplaceAll(c.Line, oneTask, command)); err != nil {
				return err
			}
		}
		return nil
	}
	failures := make([]error, len(left))
	var g errgroup.Group
	g.SetLimit(max(c.Jobs, 1))
	for i, index := range left {
		g.Go(func() error {
			name := fmt.Sprintf("%s-%d", a.Stage, index)
			line := strings.ReplaceAll(c.Line, oneTask, commands[i])
			failures[i] = c.shell(ctx, line, name, filepath.Join(logs, name+".log"), a.Memory<<20)
			return nil // the others go on: what they finish need not be done again
		})
	}
	_ = g.Wait() // no launch returns an error
	var last error
	for _, failure := range failures {
		if failure != nil {
			last = failure
		}
	}
	return last
}

// killed are the exit codes of a shell whose command was ended by SIGKILL, as the kernel does when memory lacks.
const killed = 128 + int(syscall.SIGKILL)

// shell runs a launcher, whose tasks need so many bytes of memory, and appends what it prints to a log. If ctx ends,
// the launcher and its children get SIGTERM.
func (c Command) shell(ctx context.Context, line, name, log string, memory int64) (err error) {
	out, err := os.OpenFile(log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o666)
	if err != nil {
		return fmt.Errorf("open the log of a launcher: %w", err)
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	cmd := exec.CommandContext(ctx, "/bin/sh", "-c", line)
	cmd.Stdout, cmd.Stderr = out, out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	cmd.WaitDelay = 20 * time.Second
	failure := cmd.Run()
	var exit *exec.ExitError
	switch {
	case failure == nil || ctx.Err() != nil:
		return nil // the store tells what is left
	case errors.As(failure, &exit) && (exit.ExitCode() == 127 || exit.ExitCode() == 126):
		return badinput.Errorf("the launcher of %s cannot be run (exit code %d): %s; install it, or set command to another", name,
			exit.ExitCode(), oneLine(c.Line))
	case errors.As(failure, &exit) && (exit.ExitCode() == killed || exit.ExitCode() < 0):
		return fmt.Errorf("%s was killed (%w), which a lack of memory does: its tasks need up to %s; ask the launcher for "+
			"that, or lower --max-memory or --shard-size; see %s", name, failure, plan.Bytes(memory), log)
	}
	return fmt.Errorf("the launcher of %s failed (%w); see %s", name, failure, log)
}

var _ Engine = Command{}
