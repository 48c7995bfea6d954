package engine

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"text/template"
	"time"
	"unicode"

	"bitextmine/internal/badinput"
)

// EveryStage stands for all stages among the keys of options.
const EveryStage = "all"

// Slurm runs each wave as a job array; each waits for the one before to succeed.
type Slurm struct {
	Binary    string              // the program, where every node sees it
	Cores     int                 // cores of a task
	MaxMemory int64               // bytes of a task; 0: what the plan estimates
	Options   map[string][]string // sbatch options by stage, and those of EveryStage
	Log       *slog.Logger
	DryRun    io.Writer     // if set, scripts are printed and nothing runs
	Poll      time.Duration // 0: 5 s
}

// maxArray is a size of array that every cluster takes: MaxArraySize is 1001 unless an administrator says otherwise.
const maxArray = 1000

// A task that failed but is worth a retry, or was killed, is tried again in place: a requeued one would wait two
// minutes. --requeue is for lost nodes.
var slurmScript = template.Must(template.New("script").Funcs(template.FuncMap{"quote": quote}).Parse(`#!/bin/bash
#SBATCH --job-name={{.Name}}
#SBATCH --array=0-{{.Last}}
#SBATCH --cpus-per-task={{.Cores}}
#SBATCH --mem={{.Memory}}M
#SBATCH --requeue
#SBATCH --kill-on-invalid-dep=yes
#SBATCH --open-mode=append
#SBATCH --chdir={{.Dir | quote}}
#SBATCH --output={{.Log | quote}}
{{range .Options}}#SBATCH {{.}}
{{end}}for try in 1 2 3; do
	{{.Binary | quote}} task {{.Plan | quote}} "$SLURM_ARRAY_TASK_ID"{{range .Flags}} {{.}}{{end}}
	code=$?
	case $code in 0 | 2) exit $code ;; esac
	sleep $((5 * try))
done
exit 1
`))

// array describes the tasks of one wave for its script or manifest. Its indices are strides over the wave's tasks.
type array struct {
	Name, Stage, Plan, Binary string
	First, End, Step, Last    int
	Cores                     int
	Memory                    int64 // MiB
	Bound                     int64 // MiB that the task is told to keep; 0: what its job or pod has
	Options                   []string
	Device                    string
	Dir, Log                  string
}

// newArray lays a wave's tasks on at most most indices.
func newArray(job Job, wave, most, cores int, maxMemory int64) array {
	tasks, first := job.Plan.Waves[wave].Tasks, job.Plan.First(wave)
	size := min(len(tasks), most)
	memory := maxMemory
	if memory == 0 {
		for _, t := range tasks {
			memory = max(memory, t.Memory)
		}
		memory += memory/4 + 256<<20 // the program itself, its libraries, an encoder's weights
	}
	stage, device := job.Plan.Waves[wave].Stage, ""
	if job.Plan.Waves[wave].GPU {
		device = job.Device
	}
	return array{
		Name: fmt.Sprintf("mine-%s-%.8s", stage, job.ID), Stage: stage, Plan: job.PlanPath,
		First: first, End: first + len(tasks), Step: size, Last: size - 1, Cores: cores, Memory: memory >> 20, Bound: maxMemory >> 20, Device: device,
	}
}

// Flags are flags of mine task, after the plan and the index.
func (a array) Flags() []string {
	all := []string{"--offset", fmt.Sprint(a.First), "--step", fmt.Sprint(a.Step), "--end", fmt.Sprint(a.End),
		"--threads", fmt.Sprint(a.Cores)}
	if a.Bound > 0 {
		all = append(all, "--max-memory", fmt.Sprintf("%dMiB", a.Bound))
	}
	if a.Device != "" {
		all = append(all, "--device", a.Device)
	}
	return all
}

// Check implements Engine.
func (s Slurm) Check(out, work string) error {
	dir, err := os.Getwd()
	if err == nil {
		err = s.fits(dir, out, work)
	}
	if err == nil && s.DryRun == nil {
		err = installed("sbatch")
	}
	return err
}

// fits refuses what cannot stand in a batch script.
func (s Slurm) fits(dir, out, work string) error {
	for _, word := range []struct{ what, value string }{
		{"the current directory", dir}, {"the program", s.Binary}, {"--out", out}, {"--work", work},
	} {
		if strings.ContainsFunc(word.value, unicode.IsControl) {
			return badinput.Errorf("%s is %q, which has a control character that would end a line of the batch script; use a path without one",
				word.what, word.value)
		}
	}
	for _, stage := range slices.Sorted(maps.Keys(s.Options)) {
		for _, option := range s.Options[stage] {
			if !strings.HasPrefix(option, "-") || strings.ContainsAny(option, "\n\r") {
				return badinput.Errorf("slurm_options: %q under %s is no option of sbatch; give one such as --partition=gpu", option, stage)
			}
		}
	}
	return nil
}

// Script returns the batch script of a wave.
func (s Slurm) Script(job Job, wave int) (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	a := newArray(job, wave, maxArray, s.Cores, s.MaxMemory)
	a.Binary, a.Dir = s.Binary, dir
	a.Log = filepath.Join(strings.ReplaceAll(job.Out, "%", "%%"), "slurm", "%x-%A_%a.log") // a path's own % is no pattern
	if err := s.fits(dir, job.Out, job.PlanPath); err != nil {
		return "", err
	}
	a.Options = slices.Concat(s.Options[EveryStage], s.Options[a.Stage])
	var out bytes.Buffer
	if err := slurmScript.Execute(&out, a); err != nil {
		return "", err
	}
	return out.String(), nil
}

// Run implements Engine: it submits every wave and waits until none is queued or running. Whether all tasks succeeded,
// the store tells.
func (s Slurm) Run(ctx context.Context, job Job) error {
	if s.DryRun == nil {
		if err := os.MkdirAll(filepath.Join(job.Out, "slurm"), 0o777); err != nil {
			return fmt.Errorf("make the directory of the tasks' logs: %w", err)
		}
	}
	var jobs []string
	for wave := range job.Plan.Waves {
		if job.empty(wave) {
			continue
		}
		script, err := s.Script(job, wave)
		if err != nil {
			return errors.Join(err, s.cancel(jobs))
		}
		if s.DryRun != nil {
			if _, err := fmt.Fprintf(s.DryRun, "%s\n", script); err != nil {
				return err
			}
			continue
		}
		args := []string{"--parsable"}
		if len(jobs) > 0 {
			args = append(args, "--dependency=afterok:"+jobs[len(jobs)-1])
		}
		id, err := command(ctx, script, "sbatch", args...)
		if err != nil {
			return errors.Join(err, s.cancel(jobs))
		}
		id, _, _ = strings.Cut(id, ";") // the answer is JOB;CLUSTER
		jobs = append(jobs, id)
	}
	return s.wait(ctx, jobs)
}

// wait polls the queue. If ctx ends first, the jobs are cancelled.
func (s Slurm) wait(ctx context.Context, jobs []string) error {
	if len(jobs) == 0 {
		return nil
	}
	poll := s.Poll
	if poll == 0 {
		poll = 5 * time.Second
	}
	said := map[string]int{}
	for failures := 0; ; {
		queued, err := command(ctx, "", "squeue", "--noheader", "--format=%i %T %r", "--states=PENDING,RUNNING,SUSPENDED,CONFIGURING,COMPLETING,REQUEUED,REQUEUE_HOLD,RESIZING,SIGNALING,STAGE_OUT,STOPPED", "--jobs="+strings.Join(jobs, ","))
		switch {
		case ctx.Err() != nil:
			return errors.Join(ctx.Err(), s.cancel(jobs))
		case err != nil && strings.Contains(err.Error(), "Invalid job id"):
			return nil // the controller has forgotten jobs that ended
		case err != nil:
			if failures++; failures > 60 { // a controller that restarts must not cost a night
				return err
			}
		case queued == "":
			return nil
		default:
			failures = 0
			s.look(ctx, queued, said)
		}
		select {
		case <-ctx.Done():
			return errors.Join(ctx.Err(), s.cancel(jobs))
		case <-time.After(poll):
		}
	}
}

// Reasons for which squeue says that a job waits. SLURM holds what it could not start, as when a node was lost just
// then, until the owner releases it; nodes that are down or drained wait for an administrator.
const (
	heldReason = "launch failed requeued held"
	downReason = "Nodes required for job are DOWN"
)

// look releases what SLURM holds in a list of the queue, as often as a task is tried, and warns of what waits for
// somebody else. said counts what was said of each job.
func (s Slurm) look(ctx context.Context, queued string, said map[string]int) {
	for line := range strings.Lines(queued) {
		id, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		_, reason, _ := strings.Cut(rest, " ")
		switch {
		case reason == heldReason && said[id] < attempts:
			said[id]++
			s.Log.Warn("SLURM could not start a task and held it; it is released", "job", id, "attempt", said[id]+1)
			if _, err := command(ctx, "", "scontrol", "release", id); err != nil {
				s.Log.Warn("a task that SLURM holds could not be released", "job", id, "reason", err)
			}
		case reason == heldReason && said[id] == attempts:
			said[id]++
			s.Log.Warn("SLURM could not start a task and holds it: see why with scontrol show job, then scontrol release it", "job", id)
		case strings.HasPrefix(reason, downReason) && said[downReason] == 0:
			said[downReason]++
			s.Log.Warn("tasks wait for nodes that are down, drained or reserved: see sinfo -R, or give another partition in slurm_options",
				"job", id)
		}
	}
}

func (s Slurm) cancel(jobs []string) error {
	if len(jobs) == 0 {
		return nil
	}
	_, err := command(context.Background(), "", "scancel", jobs...)
	return err
}

// installed refuses a scheduler's program that is not there.
func installed(name string) error {
	if _, err := exec.LookPath(name); err != nil {
		return badinput.Errorf("%s is not installed here; run where the cluster's commands are, or choose --engine local", name)
	}
	return nil
}

// command runs a scheduler's program and returns what it prints.
func command(ctx context.Context, input, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Stdin = strings.NewReader(input)
	var out, complaint bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &complaint
	err := cmd.Run()
	if errors.Is(err, exec.ErrNotFound) {
		return "", cmp.Or(installed(name), err)
	}
	if err != nil {
		return "", fmt.Errorf("%s: %w: %s", name, err, strings.Join(strings.Fields(complaint.String()), " "))
	}
	return strings.TrimSpace(out.String()), nil
}

// quote makes a word of a shell script, or of an option of sbatch, which reads quotes as a shell does.
func quote(word string) string { return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'" }

var _ Engine = Slurm{}
