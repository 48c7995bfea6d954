package pipeline

import (
	"bytes"
	"context"
	"encoding/gob"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"bitextmine/internal/atomicfile"
	"bitextmine/internal/badinput"
	"bitextmine/internal/usage"
	"bitextmine/pipeline/admin"
	"bitextmine/pipeline/night"
	"bitextmine/pipeline/record"
	"bitextmine/pipeline/stage"
	"bitextmine/pipeline/store"
	"bitextmine/pipeline/store/storetest"
)

// faulty is a backend whose n-th operation fails with err, counted from 1 over all methods; 0 means none.
type faulty struct {
	store.Backend
	fail  int64
	err   error
	every bool // every operation from the n-th on fails, as on a failed disk
	done  atomic.Int64
}

// operations is the number of operations so far.
func (f *faulty) operations() int64 { return f.done.Load() }

func (f *faulty) next() error {
	if n := f.done.Add(1); f.fail > 0 && (n == f.fail || f.every && n > f.fail) {
		return f.err
	}
	return nil
}

// Read implements store.Backend.
func (f *faulty) Read(ctx context.Context, name string) ([]byte, error) {
	if err := f.next(); err != nil {
		return nil, err
	}
	return f.Backend.Read(ctx, name)
}

// Write implements store.Backend.
func (f *faulty) Write(ctx context.Context, name string, data []byte) error {
	if err := f.next(); err != nil {
		return err
	}
	return f.Backend.Write(ctx, name, data)
}

// Scratch implements store.Backend.
func (f *faulty) Scratch(name string) (string, error) {
	if err := f.next(); err != nil {
		return "", err
	}
	return f.Backend.Scratch(name)
}

// Publish implements store.Backend.
func (f *faulty) Publish(ctx context.Context, name, dir string, files []store.File, record []byte) error {
	if err := f.next(); err != nil {
		return err
	}
	return f.Backend.Publish(ctx, name, dir, files, record)
}

// Fetch implements store.Backend.
func (f *faulty) Fetch(ctx context.Context, name string, files []store.File) (string, error) {
	if err := f.next(); err != nil {
		return "", err
	}
	return f.Backend.Fetch(ctx, name, files)
}

// Remove implements store.Backend.
func (f *faulty) Remove(ctx context.Context, name string) error {
	if err := f.next(); err != nil {
		return err
	}
	return f.Backend.Remove(ctx, name)
}

// onFaulty is options whose store fails as f says.
func onFaulty(f *faulty) Options {
	opts := options()
	opts.OpenStore = func(_ context.Context, location string, log *slog.Logger) (*store.Store, error) {
		var err error
		f.Backend, err = store.OpenDirectory(location)
		return store.New(f, log), err
	}
	return opts
}

// unpublishable is a backend that publishes nothing, for a reason that the user must mend.
type unpublishable struct{ store.Backend }

func (unpublishable) Publish(context.Context, string, string, []store.File, []byte) error {
	return badinput.Errorf("the bucket may not be written")
}

// TestFailuresAroundATask: a task that cannot be published, or not begin, leaves a note of it that says whether a retry
// would fail, too.
func TestFailuresAroundATask(t *testing.T) {
	cfg := testConfig(corpora(t, 40), filepath.Join(t.TempDir(), "out"))
	estimate, err := Plan(t.Context(), cfg, options())
	if err != nil {
		t.Fatal(err)
	}
	st, err := options().openStore(t.Context(), estimate.Work)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	}()
	p, err := stage.ReadPlan(t.Context(), st, estimate.PlanID, options().Version)
	if err != nil {
		t.Fatal(err)
	}
	p.Encoder = filepath.Join(t.TempDir(), "gone")
	data, gone, err := p.Encode()
	if err == nil {
		err = st.WriteNote(t.Context(), record.PlansNote, gone+".json", data)
	}
	if err != nil {
		t.Fatal(err)
	}
	locked, newer, little := options(), options(), TaskConfig{}
	locked.OpenStore = func(_ context.Context, location string, log *slog.Logger) (*store.Store, error) {
		back, err := store.OpenDirectory(location)
		return store.New(unpublishable{back}, log), err
	}
	newer.Version = "another"
	task, _, _ := p.Task(0)
	little.MaxMemory = fmt.Sprintf("%dKiB", task.Memory>>10-1)
	t.Cleanup(func() { usage.LimitHeap(0) })
	for _, c := range []struct {
		plan string
		opts Options
		task TaskConfig
		says string
	}{
		{estimate.PlanID, locked, TaskConfig{}, "may not be written"},
		{gone, options(), TaskConfig{}, "gone"},
		{estimate.PlanID, newer, TaskConfig{}, "another version"},
		{estimate.PlanID, options(), little, "needs"},
	} {
		c.task.Plan = record.PlanPath(estimate.Work, c.plan)
		name := task.Stage + "-" + task.Key
		if err := st.DeleteNote(t.Context(), record.FailedNote, name); err != nil {
			t.Fatal(err)
		}
		err := RunTasks(t.Context(), c.task, c.opts)
		failed, unread := record.Holders(t.Context(), st, record.FailedNote)
		if how := failed[name]; unread != nil || !badinput.Is(err) || !how.Permanent || !strings.Contains(how.Error, c.says) {
			t.Errorf("%s: error %v, note %+v, %v", c.says, err, how, unread)
		}
		if running, err := record.Holders(t.Context(), st, record.RunningNote); err != nil || len(running) > 0 {
			t.Errorf("%s: running %v, error %v", c.says, running, err)
		}
	}
}

// TestEveryStoreOperationMayFail: whichever operation fails, the run ends with its error or without need of it, and
// once the fault is gone the next one ends with the same bytes.
func TestEveryStoreOperationMayFail(t *testing.T) {
	text := newText(t)
	files := mineNights(t, 1)
	text.putNight(files, 0)
	want := text.fresh()
	for _, fault := range []error{syscall.EIO, syscall.ENOSPC} {
		for _, every := range []bool{false, true} {
			step := int64(1)
			if testing.Short() {
				step = 7
			}
			for n := int64(1); ; n += step {
				cfg := text.config(filepath.Join(t.TempDir(), "out"))
				f := &faulty{fail: n, err: fmt.Errorf("operation %d: %w", n, fault), every: every}
				_, err := Run(t.Context(), cfg, onFaulty(f))
				if f.operations() < n {
					if n < 20 {
						t.Fatalf("a run has only %d operations", n)
					}
					break
				}
				if err != nil && !errors.Is(err, fault) {
					t.Fatalf("operation %d: error %v instead of %v", n, err, fault)
				}
				if every && err == nil && f.operations() > n { // the last notes for gc that it has ended
					t.Fatalf("operation %d and all after failed, and the run did not", n)
				}
				if err != nil {
					if found, _ := filepath.Glob(filepath.Join(cfg.Out, "*.parquet")); found != nil {
						t.Fatalf("operation %d failed and left %v", n, found)
					}
				}
				if got := mustRun(t, cfg); got.Bitext.SHA256 != want {
					t.Fatalf("after a fault of operation %d the bytes differ", n)
				}
				if step < 5 {
					step++ // the first ones differ most
				}
			}
		}
	}
}

// TestTwoWorkersOnABucket: two machines run every task of a plan at once, over a real server.
func TestTwoWorkersOnABucket(t *testing.T) {
	t.Run("S3", func(t *testing.T) { twoWorkers(t, storetest.S3(t)) })
	t.Run("GCS", func(t *testing.T) { twoWorkers(t, storetest.GCS(t)) })
}

func twoWorkers(t *testing.T, location string) {
	t.Setenv("MINE_CACHE", t.TempDir())
	text := newText(t)
	for side, files := range mineNights(t, 2) {
		for i, content := range files {
			text.put(side, nightText(i), content)
		}
	}
	want := text.fresh()
	cfg := text.config(filepath.Join(t.TempDir(), "out"))
	cfg.Work = location
	estimate, err := Plan(t.Context(), cfg, options())
	if err != nil {
		t.Fatal(err)
	}
	path := record.PlanPath(estimate.Work, estimate.PlanID)
	for i := range tasksOf(estimate) {
		var group sync.WaitGroup
		for machine := range 2 {
			opts := options()
			opts.OpenStore = func(ctx context.Context, location string, log *slog.Logger) (*store.Store, error) {
				return store.OpenCached(ctx, location, filepath.Join(os.Getenv("MINE_CACHE"), strconv.Itoa(machine)), log)
			}
			group.Go(func() {
				if err := RunTasks(t.Context(), TaskConfig{Plan: path, Index: i}, opts); err != nil {
					t.Errorf("machine %d, task %d: %v", machine, i, err)
				}
			})
		}
		group.Wait()
	}
	got := mustRun(t, cfg)
	if got.Bitext.SHA256 != want {
		t.Error("the bytes differ from those of a run in a directory")
	}
	for _, stage := range got.Stages {
		if stage.Cached != stage.Tasks {
			t.Errorf("%s computed %d of %d tasks again", stage.Name, stage.Tasks-stage.Cached, stage.Tasks)
		}
	}
	text.put(0, "another.txt", []byte("Ein Satz, den es noch nicht gab.\n"))
	if got := mustRun(t, cfg); got.Bitext.SHA256 != text.fresh() || searched(got) != 2 {
		t.Errorf("a night on the bucket searched %d cells, or its bytes differ", searched(got))
	}
	if swept, err := sweepWork(t, cfg.Work, admin.Sweep{Keep: 1, Cells: true}); err != nil || swept.Outputs["search"] != 6 {
		t.Errorf("swept %v, error %v", swept, err)
	}
	if status, err := statusOf(t, cfg.Work); err != nil || status.Stages[3].Done != 1 {
		t.Errorf("status %+v, error %v", status, err)
	}
}

// childConfig is the variable that makes this test binary a program that runs one configuration.
const childConfig = "MINE_TEST_CHILD"

// child runs as a process of its own that may be killed.
func child(text string) int {
	var cfg Config
	if err := gob.NewDecoder(hex.NewDecoder(strings.NewReader(text))).Decode(&cfg); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	if _, err := Nightly(context.Background(), cfg, options()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	fmt.Println(peakMemory())
	return 0
}

// TestKilledAnywhere kills a nightly run without warning at random moments, again and again on the same directory, and
// lets one end now and then: the bytes are always the same, and whatever has a final name is whole. MINE_TEST_KILLS
// sets how many.
func TestKilledAnywhere(t *testing.T) {
	kills := 12
	if text := os.Getenv("MINE_TEST_KILLS"); text != "" {
		var err error
		if kills, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
	}
	text := newText(t)
	for side, files := range mineNights(t, 3) {
		for i, content := range files {
			text.put(side, nightText(i), content)
		}
	}
	want := text.fresh()
	random := rand.New(rand.NewPCG(9, uint64(kills)))
	out := filepath.Join(t.TempDir(), "out")
	begin := time.Now()
	if err := start(t, text.config(out)).Wait(); err != nil {
		t.Fatal(err)
	}
	whole := time.Since(begin)
	killed, done := 0, 0
	for killed < kills {
		out := filepath.Join(t.TempDir(), "out")
		for round := 0; ; round++ {
			cmd := start(t, text.config(out))
			timer := time.AfterFunc(time.Duration(random.Int64N(int64(whole))), func() { _ = cmd.Process.Kill() })
			err := cmd.Wait()
			timer.Stop()
			whole := checkWhole(t, out, want)
			if err == nil {
				if !whole {
					t.Fatal("a run ended well without a bitext")
				}
				done++
				break
			}
			if killed++; killed >= kills || round > 20 {
				break
			}
		}
		if got := mustNight(t, text.config(out)); got.Bitext.SHA256 != want {
			t.Fatal("after kills the bytes differ")
		}
	}
	t.Logf("%d kills, %d runs to the end, %v for a whole run", killed, done, whole.Round(time.Millisecond))
}

// start runs a nightly run as a process of its own.
func start(t *testing.T, cfg Config) *exec.Cmd {
	t.Helper()
	cmd := command(t, cfg)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd
}

// command is a nightly run as a process of its own. At its end it prints the most memory that was resident, in bytes.
func command(t *testing.T, cfg Config) *exec.Cmd {
	t.Helper()
	var text bytes.Buffer
	if err := gob.NewEncoder(hex.NewEncoder(&text)).Encode(cfg); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childConfig+"="+text.String())
	return cmd
}

// checkWhole verifies every output and every bitext under a final name; it reports whether there is a bitext.
func checkWhole(t *testing.T, out, want string) bool {
	t.Helper()
	records, err := filepath.Glob(filepath.Join(out, "work", "*", "[0-9a-f]*", "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range records {
		dir := filepath.Dir(path)
		var record store.Output
		data, err := os.ReadFile(filepath.Join(dir, "task.json"))
		if err != nil || json.Unmarshal(data, &record) != nil {
			t.Fatalf("%s has no whole record: %v", dir, err)
		}
		for _, file := range record.Files {
			if size, sum, err := atomicfile.Digest(filepath.Join(dir, file.Name)); err != nil || size != file.Size || sum != file.SHA256 {
				t.Fatalf("%s/%s is not whole: %v", dir, file.Name, err)
			}
		}
	}
	bitexts, err := filepath.Glob(filepath.Join(out, "runs", "0*", "*.parquet"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range bitexts {
		if _, sum, err := atomicfile.Digest(path); err != nil || sum != want {
			t.Fatalf("%s is not whole: %v", path, err)
		}
	}
	if target, err := os.Readlink(filepath.Join(out, night.LatestName)); err == nil {
		if _, err := os.Stat(filepath.Join(out, target, night.SummaryName)); err != nil {
			t.Fatalf("latest leads to %s: %v", target, err)
		}
	} else if !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return strings.Join(bitexts, "") != ""
}
