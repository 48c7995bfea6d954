package engine

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"bitextmine/internal/badinput"
	"bitextmine/pipeline/plan"
)

var update = flag.Bool("update", false, "write the golden files")

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// job is a plan of waves of so many tasks each.
func job(tasks ...int) Job {
	p := &plan.Plan{}
	for i, n := range tasks {
		stage := []string{"encode", "search", "merge", "match"}[i%4]
		wave := plan.Wave{Stage: stage, Wide: i%2 == 1, GPU: i%4 == 0}
		for range n {
			wave.Tasks = append(wave.Tasks, plan.Task{Stage: stage, Memory: 100 << 20})
		}
		p.Waves = append(p.Waves, wave)
	}
	return Job{
		Plan: p, ID: "0123456789abcdef", PlanPath: "/data/work/plans/0123456789abcdef.json", Out: "/data/out", Device: "cuda:all:float16",
		Begin: func(int) func() { return func() {} },
		Done: func(context.Context) (func(stage, key string) bool, error) {
			return func(string, string) bool { return false }, nil
		},
	}
}

func TestLocalRunsEveryTaskInItsWave(t *testing.T) {
	for _, engine := range []Local{{Cores: 1}, {Cores: 3}, {Cores: 8, MaxMemory: 250 << 20}} {
		j := job(5, 7, 0, 1)
		var wave, running, most atomic.Int64
		var mu sync.Mutex
		seen := map[int]int{}
		j.Begin = func(n int) func() {
			wave.Store(int64(n))
			return func() {
				if running.Load() != 0 {
					t.Error("a wave ended while a task ran")
				}
			}
		}
		j.Do = func(_ context.Context, index int) error {
			if now := running.Add(1); now > most.Load() {
				most.Store(now)
			}
			defer running.Add(-1)
			if first := j.Plan.First(int(wave.Load())); index < first || index >= first+len(j.Plan.Waves[wave.Load()].Tasks) {
				t.Errorf("task %d ran in wave %d", index, wave.Load())
			}
			time.Sleep(time.Millisecond)
			mu.Lock()
			defer mu.Unlock()
			seen[index]++
			return nil
		}
		if err := engine.Run(t.Context(), j); err != nil {
			t.Fatal(err)
		}
		for i := range 13 {
			if seen[i] != 1 {
				t.Errorf("task %d ran %d times", i, seen[i])
			}
		}
		if bound := int64(engine.Cores); most.Load() > bound || engine.MaxMemory > 0 && most.Load() > 2 {
			t.Errorf("%+v ran %d tasks at once", engine, most.Load())
		}
	}
}

func TestLocalStopsAtAFailure(t *testing.T) {
	j := job(50, 1)
	boom := errors.New("boom")
	var ran atomic.Int64
	j.Do = func(ctx context.Context, index int) error {
		ran.Add(1)
		if index == 3 {
			return boom
		}
		<-ctx.Done()
		return ctx.Err()
	}
	if err := (Local{Cores: 4}).Run(t.Context(), j); !errors.Is(err, boom) || ran.Load() > 10 {
		t.Errorf("error %v after %d tasks", err, ran.Load())
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := (Local{Cores: 4}).Run(ctx, job(3)); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v of a run that was stopped", err)
	}
}

func TestLocalRefusesWhatDoesNotFit(t *testing.T) {
	err := Local{Cores: 1, MaxMemory: 1 << 20}.Run(t.Context(), job(1))
	if !badinput.Is(err) || !strings.Contains(err.Error(), "--max-memory") {
		t.Errorf("error %v", err)
	}
	j := job(2)
	j.Plan.Waves[0].Tasks[1].Memory = 300 << 20
	j.Do = func(context.Context, int) error {
		t.Error("a task began before it was seen that another does not fit")
		return nil
	}
	later := plan.Wave{Stage: "later", Tasks: []plan.Task{{Stage: "later", Memory: 301 << 20, Fixed: 256 << 20}}}
	j.Plan.Waves = append(j.Plan.Waves, later)
	for bound, want := range map[int64]string{200 << 20: "raise --max-memory", 260 << 20: "raise --max-memory, lower --shard-size, or give less text"} {
		if err := (Local{Cores: 1, MaxMemory: bound}).Run(t.Context(), j); !badinput.Is(err) || !strings.Contains(err.Error(), "stage later needs") ||
			!strings.HasSuffix(err.Error(), want) {
			t.Errorf("error %v, want %s", err, want)
		}
	}
}

// TestLocalPassesOverWhatIsDone: a task that is done needs no memory, so one that would not fit neither ends the run
// nor waits for ever.
func TestLocalPassesOverWhatIsDone(t *testing.T) {
	j := job(2, 1)
	done := &j.Plan.Waves[0].Tasks[1]
	done.Key, done.Memory = "done", 1<<40
	j.Done = func(context.Context) (func(stage, key string) bool, error) {
		return func(_, key string) bool { return key == "done" }, nil
	}
	var ran atomic.Int64
	j.Do = func(context.Context, int) error { ran.Add(1); return nil }
	if err := (Local{Cores: 2, MaxMemory: 150 << 20}).Run(t.Context(), j); err != nil || ran.Load() != 3 {
		t.Errorf("%d of 3 tasks were seen to, error %v", ran.Load(), err)
	}
	j.Plan.Waves[1].Tasks[0].Memory = 200 << 20
	if err := (Local{Cores: 2, MaxMemory: 150 << 20}).Run(t.Context(), j); !badinput.Is(err) || !strings.Contains(err.Error(), "stage search needs 200.0 MiB") {
		t.Errorf("error %v", err)
	}
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs; -update writes it\n%s", name, got)
	}
}

func TestSlurmScripts(t *testing.T) {
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	s := Slurm{
		Binary: "/opt/it's mine/mine", Cores: 8, DryRun: &out,
		Options: map[string][]string{"all": {"--partition=main", "--time=8:00:00"}, "encode": {"--gres=gpu:1"}},
	}
	if err := s.Run(t.Context(), job(3, 2500, 0, 1)); err != nil {
		t.Fatal(err)
	}
	percent := job(1)
	percent.Out = "/data/100%u"
	if script, err := s.Script(percent, 0); err != nil || !strings.Contains(script, "--output='/data/100%%u/slurm/%x-%A_%a.log'") {
		t.Errorf("%v:\n%s", err, script)
	}
	golden(t, "slurm.golden", strings.ReplaceAll(out.String(), dir, "/cluster/dir"))
	for script := range strings.SplitSeq(strings.TrimSpace(out.String()), "\n\n") {
		check := exec.Command("bash", "-n")
		check.Stdin = strings.NewReader(script)
		if complaint, err := check.CombinedOutput(); err != nil {
			t.Errorf("%v: %s\n%s", err, complaint, script)
		}
	}
	s.Options["encode"] = []string{"--gres=gpu:1\nrm -rf /"}
	if err := s.Run(t.Context(), job(3)); !badinput.Is(err) {
		t.Errorf("error %v of an option with a line break", err)
	}
}

// TestSlurmRefusesControlCharacters: a line break in a path would make a line of the script out of what follows it.
func TestSlurmRefusesControlCharacters(t *testing.T) {
	for flag, change := range map[string]func(*Job){
		"--out":  func(j *Job) { j.Out = "/data/out\n#SBATCH --uid=0" },
		"--work": func(j *Job) { j.PlanPath = "/data/wo\rrk/plans/0123.json" },
	} {
		j := job(1)
		change(&j)
		script, err := Slurm{Binary: "/opt/mine", Cores: 1}.Script(j, 0)
		if !badinput.Is(err) || !strings.Contains(err.Error(), flag) || !strings.Contains(err.Error(), "control character") || strings.ContainsAny(err.Error(), "\n\r") {
			t.Errorf("%s: error %v, script\n%s", flag, err, script)
		}
	}
}

// TestSlurmReleases: tasks that SLURM could not start and holds are released three times, each time with a warning, and
// nodes that are down are named once. Commands of SLURM's names stand in for it.
func TestSlurmReleases(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	for name, script := range map[string]string{
		"sbatch":   "echo 7",
		"scontrol": `echo "$@" >> "$(dirname "$0")/said"`,
		"squeue": `cd "$(dirname "$0")"; echo x >> polls
[ "$(wc -l < polls)" -gt 6 ] && exit
echo "7_[2-3] PENDING Nodes required for job are DOWN, DRAINED or reserved for jobs in higher priority partitions"
echo "7_0 RUNNING None"
echo "7_1 PENDING launch failed requeued held"
echo "8_[0-3] PENDING Dependency"`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+script+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	var said bytes.Buffer
	j := job(4)
	j.Out = t.TempDir()
	s := Slurm{Binary: "/opt/mine", Cores: 1, Poll: time.Millisecond, Log: slog.New(slog.NewTextHandler(&said, nil))}
	if err := s.Run(t.Context(), j); err != nil {
		t.Fatal(err)
	}
	released, err := os.ReadFile(filepath.Join(dir, "said"))
	if err != nil || string(released) != strings.Repeat("release 7_1\n", attempts) {
		t.Errorf("scontrol was asked %q, %v", released, err)
	}
	for words, n := range map[string]int{"it is released": attempts, "scontrol show job": 1, "sinfo -R": 1, "level=WARN": attempts + 2} {
		if got := strings.Count(said.String(), words); got != n {
			t.Errorf("%q was said %d times, want %d, in\n%s", words, got, n, said.String())
		}
	}
}

// TestSlurmRetries runs the script itself: a task worth a retry is tried three times, one that failed for good once.
func TestSlurmRetries(t *testing.T) {
	dir := t.TempDir()
	for code, tries := range map[int]int{0: 1, 1: 3, 2: 1, 137: 3} {
		program, count := filepath.Join(dir, "mine"), filepath.Join(dir, "count")
		if err := os.WriteFile(program, fmt.Appendf(nil, "#!/bin/sh\necho \"$@\" >>%s\nexit %d\n", count, code), 0o700); err != nil {
			t.Fatal(err)
		}
		script, err := Slurm{Binary: program, Cores: 1}.Script(job(3, 4), 1)
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("bash", "-c", strings.ReplaceAll(script, "sleep $((5 * try))", ":"))
		cmd.Env = append(os.Environ(), "SLURM_ARRAY_TASK_ID=2")
		err = cmd.Run()
		calls, readErr := os.ReadFile(count)
		if readErr != nil {
			t.Fatal(readErr)
		}
		if got := strings.Count(string(calls), "\n"); got != tries || (err == nil) != (code == 0) {
			t.Errorf("exit code %d: %d tries, error %v", code, got, err)
		}
		if want := "task /data/work/plans/0123456789abcdef.json 2 --offset 3 --step 4 --end 7 --threads 1\n"; !strings.HasPrefix(string(calls), want) {
			t.Errorf("called %q, want %q", calls, want)
		}
		if err := os.Remove(count); err != nil {
			t.Fatal(err)
		}
	}
}

func TestMissingSchedulers(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	k := kubernetes(nil)
	k.DryRun = nil
	for _, engine := range []Engine{Slurm{Binary: "mine", Cores: 1}, k, Argo{k}} {
		j := job(1)
		j.Out = t.TempDir()
		if err := engine.Run(t.Context(), j); !badinput.Is(err) || !strings.Contains(err.Error(), "is not installed") {
			t.Errorf("%T: error %v", engine, err)
		}
	}
}
