package pipeline

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"bitextmine/bitext"
	"bitextmine/internal/badinput"
	"bitextmine/internal/lockfile"
	"bitextmine/pipeline/admin"
	"bitextmine/pipeline/plan"
	"bitextmine/pipeline/record"
	"bitextmine/pipeline/stage"
	"bitextmine/pipeline/view"
)

// TestSweptCells: nights go on from swept cells without searching them again, and withdrawn text still leaves cleanly.
func TestSweptCells(t *testing.T) {
	files := mineNights(t, 3)
	text, out := newText(t), filepath.Join(t.TempDir(), "out")
	for i := range 3 {
		text.putNight(files, i)
		report := mustRun(t, text.config(out))
		if got := searched(report); got != 2*i+1 {
			t.Errorf("night %d searched %d cells", i, got)
		}
		swept, err := sweepWork(t, filepath.Join(out, "work"), admin.Sweep{Keep: 1, Cells: true})
		if err != nil || swept.Outputs["search"] == 0 {
			t.Fatalf("sweep %v, error %v", swept, err)
		}
	}
	text.remove(0, nightText(1))
	if got := mustRun(t, text.config(out)); got.Bitext.SHA256 != text.fresh() {
		t.Error("after text was withdrawn the bitext differs")
	}
}

func TestSweepKeepsWhatTheLastRunNeeds(t *testing.T) {
	files := mineNights(t, 2)
	text, out := newText(t), filepath.Join(t.TempDir(), "out")
	work := filepath.Join(out, "work")
	for i := range 2 {
		text.putNight(files, i)
		mustRun(t, text.config(out))
	}
	left := filepath.Join(work, "search", ".0123.7.tmp")
	if err := os.Mkdir(left, 0o755); err != nil {
		t.Fatal(err)
	}
	if swept, err := sweepWork(t, work, admin.Sweep{Keep: 1, Older: time.Hour}); err != nil || len(swept.Outputs) > 0 || swept.Leftovers > 0 {
		t.Errorf("swept %v of what is young, error %v", swept, err)
	}
	text.remove(0, nightText(0))
	mustRun(t, text.config(out))
	before := time.Now().Add(-2 * time.Minute)
	if err := os.Chtimes(left, before, before); err != nil {
		t.Fatal(err)
	}
	swept, err := sweepWork(t, work, admin.Sweep{Keep: 1})
	if err != nil {
		t.Fatal(err)
	}
	if swept.Outputs["shard"] != 1 || swept.Outputs["encode"] != 1 || swept.Outputs["search"] != 2 || swept.Outputs["match"] != 2 || swept.Leftovers != 1 {
		t.Errorf("swept %v", swept)
	}
	for _, stage := range mustRun(t, text.config(out)).Stages {
		if stage.Cached != stage.Tasks {
			t.Errorf("%s computed %d of %d tasks again", stage.Name, stage.Tasks-stage.Cached, stage.Tasks)
		}
	}
}

// TestNightsGoOnAfterAnUnreadablePlan: runs into other directories left plans in a shared work directory that this
// program cannot read. A night goes on with a warning, and keeps what its own run needs.
func TestNightsGoOnAfterAnUnreadablePlan(t *testing.T) {
	for name, damage := range map[string]func(plan []byte) []byte{
		"emptied":         func([]byte) []byte { return nil },
		"cut short":       func(plan []byte) []byte { return plan[:len(plan)/2] },
		"another version": func([]byte) []byte { return []byte(`{"format_version":1000,"waves":"elsewhere"}`) },
	} {
		t.Run(name, func(t *testing.T) {
			dir, work := corpora(t, 40), filepath.Join(t.TempDir(), "work")
			other, cfg := testConfig(dir, filepath.Join(t.TempDir(), "other")), testConfig(dir, filepath.Join(t.TempDir(), "out"))
			other.K, other.Work, cfg.Work = 3, work, work
			note := filepath.Join(work, record.PlansNote, mustRun(t, other).PlanID+".json")
			if err := os.WriteFile(note, damage([]byte(read(t, note))), 0o600); err != nil {
				t.Fatal(err)
			}
			opts, log := optionsLogged()
			report, err := Nightly(t.Context(), cfg, opts)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(log.String(), "the plan of a run cannot be read") || !strings.Contains(log.String(), other.Out) {
				t.Errorf("the log does not name the run of the plan that cannot be read:\n%s", log.String())
			}
			if _, err := sweepWork(t, work, admin.Sweep{Keep: 1}); err != nil {
				t.Fatal(err)
			}
			again := mustNight(t, cfg)
			for _, stage := range again.Stages {
				if stage.Cached != stage.Tasks {
					t.Errorf("%s computed %d of %d tasks again", stage.Name, stage.Tasks-stage.Cached, stage.Tasks)
				}
			}
			if again.Bitext.SHA256 != report.Bitext.SHA256 {
				t.Error("the bitext differs after the sweep")
			}
		})
	}
}

func TestDiff(t *testing.T) {
	dir := corpora(t, 60)
	a, b := testConfig(dir, filepath.Join(t.TempDir(), "a")), testConfig(dir, filepath.Join(t.TempDir(), "b"))
	b.TargetText = []string{firstLines(t, dir, "en.txt", 40)}
	before, after := pairs(t, mustRun(t, a)), pairs(t, mustRun(t, b))
	want := admin.Difference{Before: len(before), After: len(after)}
	scores := map[[2][16]byte]float32{}
	for _, row := range before {
		scores[keys(row)] = row.Score
	}
	for _, row := range after {
		if score, ok := scores[keys(row)]; !ok {
			want.Added++
		} else if score != row.Score {
			want.Rescored++
		}
		delete(scores, keys(row))
	}
	want.Removed = len(scores)
	got, err := admin.Diff(t.Context(), a.Out, b.Out)
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Changes) != want.Added+want.Removed+want.Rescored || want.Removed == 0 {
		t.Errorf("%d changes for %+v", len(got.Changes), want)
	}
	for _, c := range got.Changes {
		if c.Source == "" || c.Target == "" || (c.Kind == admin.Removed) != (c.After == 0) || (c.Kind == admin.Added) != (c.Before == 0) {
			t.Errorf("change %+v", c)
		}
	}
	if kinds := slices.IndexFunc(got.Changes, func(c admin.Change) bool { return c.Kind != admin.Removed }); kinds >= 0 && kinds != want.Removed {
		t.Errorf("the first %d changes are removed pairs, not %d", kinds, want.Removed)
	}
	if got.Causes[admin.Removed][admin.GoneFile]+got.Causes[admin.Removed][admin.ChangedFile] == 0 {
		t.Errorf("causes %v", got.Causes)
	}
	for kind, n := range map[string]int{admin.Removed: want.Removed, admin.Added: want.Added} {
		for _, of := range got.Causes[kind] {
			n -= of
		}
		if n != 0 {
			t.Errorf("%s: causes %v leave %d", kind, got.Causes[kind], n)
		}
	}
	if len(got.Files) != 2 || got.Files[0].Kind == got.Files[1].Kind {
		t.Errorf("files %+v, want the one that went and the one that came", got.Files)
	}
	if got.Changes = nil; got.Before != want.Before || got.After != want.After || got.Added != want.Added || got.Removed != want.Removed || got.Rescored != want.Rescored {
		t.Errorf("difference %+v, want %+v", got, want)
	}
	if _, err := admin.Diff(t.Context(), a.Out, dir); !badinput.Is(err) || !strings.Contains(err.Error(), record.ReportName) {
		t.Errorf("error %v", err)
	}
}

// TestDiffOfScoredRuns: where a scorer decides, its probabilities are what is compared and shown.
func TestDiffOfScoredRuns(t *testing.T) {
	dir := corpora(t, 60)
	a, b := scored(testConfig(dir, filepath.Join(t.TempDir(), "a"))), scored(testConfig(dir, filepath.Join(t.TempDir(), "b")))
	a.TargetText = []string{firstLines(t, dir, "en.txt", 40)}
	mustRun(t, a)
	probabilities := map[string]float32{}
	for _, row := range pairs(t, mustRun(t, b)) {
		probabilities[row.Source.Text] = *row.Prob
	}
	got, err := admin.Diff(t.Context(), a.Out, b.Out)
	if err != nil {
		t.Fatal(err)
	}
	if got.Added == 0 {
		t.Error("nothing was added, so nothing was tested")
	}
	for _, c := range got.Changes {
		if c.Kind != admin.Removed && c.After != probabilities[c.Source] {
			t.Errorf("%+v, but its probability is %v", c, probabilities[c.Source])
		}
	}
	none := testConfig(dir, filepath.Join(t.TempDir(), "none"))
	mustRun(t, none)
	if got, err = admin.Diff(t.Context(), none.Out, b.Out); err != nil {
		t.Fatal(err)
	}
	for _, c := range got.Changes {
		if c.Kind == admin.Rescored {
			t.Errorf("%+v: a margin was compared with a probability", c)
		}
	}
}

func keys(row bitext.Row) [2][16]byte { return [2][16]byte{row.Source.Key, row.Target.Key} }

// TestTasksMakeARun: the tasks of a plan, run one by one by other workers, make all that a run needs.
func TestTasksMakeARun(t *testing.T) {
	dir := corpora(t, 100)
	want := mustRun(t, testConfig(dir, filepath.Join(t.TempDir(), "whole")))
	cfg := testConfig(dir, filepath.Join(t.TempDir(), "out"))
	estimate, err := Plan(t.Context(), cfg, options())
	if err != nil {
		t.Fatal(err)
	}
	if l := estimate.Languages; l[0].Sentences != want.Counts.SourceUnique+10 || l[1].Sentences != want.Counts.TargetUnique {
		t.Errorf("languages %+v", l)
	}
	for _, s := range estimate.Stages {
		if s.Items == 0 || s.Rate == 0 {
			t.Errorf("stage %+v has nothing to do, or no rate", s)
		}
	}
	path := record.PlanPath(estimate.Work, estimate.PlanID)
	for i := range tasksOf(estimate) {
		task := TaskConfig{Plan: path, Index: i}
		if i%2 == 1 {
			task.Step, task.End = math.MaxInt, math.MaxInt // no other task is so far
		}
		if err := RunTasks(t.Context(), task, options()); err != nil {
			t.Fatal(err)
		}
	}
	got := mustRun(t, cfg)
	for _, stage := range got.Stages {
		if stage.Cached != stage.Tasks {
			t.Errorf("%s computed %d of %d tasks again", stage.Name, stage.Tasks-stage.Cached, stage.Tasks)
		}
	}
	if got.Counts != want.Counts {
		t.Errorf("counts %+v, want %+v", got.Counts, want.Counts)
	}
	status, err := statusOf(t, estimate.Work)
	if err != nil {
		t.Fatal(err)
	}
	for _, stage := range status.Stages {
		if stage.Done != stage.Tasks || stage.Running+stage.Failed+stage.Left != 0 {
			t.Errorf("status of a finished run: %+v", stage)
		}
	}
}

func TestTaskRefuses(t *testing.T) {
	const tokens = "max_tokens: 128"
	cfg := scored(testConfig(corpora(t, 40), filepath.Join(t.TempDir(), "out")))
	cfg.Encoder = modelWith(t, tokens, tokens)
	estimate, err := Plan(t.Context(), cfg, options())
	if err != nil {
		t.Fatal(err)
	}
	path := record.PlanPath(estimate.Work, estimate.PlanID)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	other := options()
	other.Version = "another"
	for name, c := range map[string]struct {
		content string
		task    TaskConfig
		opts    Options
		says    string
	}{
		"another version":    {string(whole), TaskConfig{Plan: path}, other, "made by another version"},
		"a changed plan":     {strings.Replace(string(whole), `"k":4`, `"k":5`, 1), TaskConfig{Plan: path}, options(), "was changed or cut short"},
		"half a plan":        {string(whole[:len(whole)/2]), TaskConfig{Plan: path}, options(), "is not a plan"},
		"an index past all":  {string(whole), TaskConfig{Plan: path, Index: 1000}, options(), "tasks 0 to"},
		"a negative index":   {string(whole), TaskConfig{Plan: path, Index: -1}, options(), "tasks 0 to"},
		"an end of no steps": {string(whole), TaskConfig{Plan: path, End: 5}, options(), "end = 5 says where the tasks of --step end"},
		"no plan's place":    {string(whole), TaskConfig{Plan: "plan.json"}, options(), "WORK/plans/ID.json"},
		"a plan of no store": {string(whole), TaskConfig{Plan: filepath.Join(t.TempDir(), "work", "plans", "x.json")}, options(), "run the task in the folder that the run was started in"},
	} {
		t.Run(name, func(t *testing.T) {
			if err := os.WriteFile(path, []byte(c.content), 0o600); err != nil {
				t.Fatal(err)
			}
			err := RunTasks(t.Context(), c.task, c.opts)
			if !badinput.Is(err) || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "\n") {
				t.Errorf("error %v does not say %q", err, c.says)
			}
		})
	}
	// A task that describes text has the tokens of an encoder, which must be the plan's.
	writeFile(t, path, string(whole))
	manifest := filepath.Join(cfg.Encoder, "model.yaml")
	data, err := os.ReadFile(manifest)
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, manifest, strings.Replace(string(data), tokens, "max_tokens: 127", 1))
	p, err := stage.Decode(whole, path, options().Version)
	if err != nil {
		t.Fatal(err)
	}
	for i := range p.Len() {
		if task, _, _ := p.Task(i); task.Stage != view.Describe {
			continue
		}
		err := RunTasks(t.Context(), TaskConfig{Plan: path, Index: i}, options())
		if !badinput.Is(err) || !strings.Contains(err.Error(), "is not the one that the plan was made for") {
			t.Errorf("task %d of an encoder that is another now: error %v", i, err)
		}
	}
}

// TestStatusOfAStoppedRun: status separates a task whose process is gone from a running one, and shows why one failed.
func TestStatusOfAStoppedRun(t *testing.T) {
	cfg := testConfig(corpora(t, 40), filepath.Join(t.TempDir(), "out"))
	cfg.ShardSize = 10
	mustRun(t, cfg)
	work := filepath.Join(cfg.Out, "work")
	st, err := options().openStore(t.Context(), work)
	if err != nil {
		t.Fatal(err)
	}
	runs, err := record.History(t.Context(), st)
	if err != nil || len(runs) != 1 {
		t.Fatalf("history %v, error %v", runs, err)
	}
	p, err := stage.ReadPlan(t.Context(), st, runs[0].Plan, "test")
	if err != nil {
		t.Fatal(err)
	}
	states := []record.Holder{record.Self(), {Process: lockfile.Self()}, {Process: lockfile.Process{Host: "elsewhere", PID: 1}, Error: "no room"}}
	states[1].PID = 1 << 30
	states[0].Since = states[0].Since.Add(-time.Hour)
	for i, kind := range []string{record.RunningNote, record.RunningNote, record.FailedNote} {
		task := []*plan.Task{&p.Waves[0].Tasks[0], &p.Waves[0].Tasks[1], &p.Waves[1].Tasks[0]}[i]
		data, err := json.Marshal(states[i])
		if err != nil {
			t.Fatal(err)
		}
		if err := os.RemoveAll(filepath.Join(work, task.Stage, task.Key)); err != nil {
			t.Fatal(err)
		}
		if err := st.WriteNote(t.Context(), kind, task.Stage+"-"+task.Key, data); err != nil {
			t.Fatal(err)
		}
	}
	got, err := statusOf(t, work)
	if err != nil {
		t.Fatal(err)
	}
	encode, search := got.Stages[0], got.Stages[1]
	if encode.Running != 1 || encode.Left != 1 || search.Failed != 1 || len(got.Tasks) != 3 || got.Tasks[0].State != "running" || got.Tasks[1].State != "killed" || got.Tasks[2].Error != "no room" || got.Ended() {
		t.Errorf("status %+v", got)
	}
	if got.Tasks[0].Expected == 0 || got.Tasks[1].Expected != 0 || search.PeakMemory == 0 {
		t.Errorf("a task that runs for an hour beside others of seconds is no straggler, or nothing is known of memory: %+v", got)
	}
	opts, said := optionsLogged()
	if _, err := Run(t.Context(), cfg, opts); err != nil {
		t.Fatal(err)
	}
	if warned := said.String(); strings.Count(warned, "process was killed, or its machine stopped; if the kernel's log") != 1 || !strings.Contains(warned, "needs=") {
		t.Errorf("the run after it does not name the task that was killed, once, and what it needs: %s", warned)
	}
	if got, err = statusOf(t, work); err != nil || !got.Ended() || len(got.Tasks) != 0 {
		t.Errorf("status %+v, error %v of a run that is done", got, err)
	}
}

// TestTextReplacedMeanwhile: a file that changes under its name, or goes, after the plan was made is not cut under the
// old key, and the error is worth a retry: another run makes a new plan.
func TestTextReplacedMeanwhile(t *testing.T) {
	for name, c := range map[string]struct {
		change func(path string) error
		says   string
	}{
		"replaced": {func(path string) error { return os.WriteFile(path, []byte("Ein anderer Text.\n"), 0o600) }, "de.txt was changed while"},
		"removed":  {os.Remove, "de.txt was there when"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := corpora(t, 40)
			cfg := testConfig(dir, filepath.Join(t.TempDir(), "out"))
			if _, err := Plan(t.Context(), cfg, options()); err != nil {
				t.Fatal(err)
			}
			work := filepath.Join(cfg.Out, "work")
			if err := os.RemoveAll(filepath.Join(work, "shard")); err != nil {
				t.Fatal(err)
			}
			if err := c.change(filepath.Join(dir, "de.txt")); err != nil {
				t.Fatal(err)
			}
			plans, err := filepath.Glob(filepath.Join(work, "plans", "*.json"))
			if err != nil || len(plans) != 2 {
				t.Fatal(plans, err)
			}
			refused := 0
			for _, path := range plans {
				err := RunTasks(t.Context(), TaskConfig{Plan: path}, options())
				if err != nil && !badinput.Is(err) && strings.Contains(err.Error(), c.says) {
					refused++
				}
			}
			if left, _ := filepath.Glob(filepath.Join(work, "shard", "*")); refused != 1 || left != nil {
				t.Errorf("%d plans were refused, left %v", refused, left)
			}
			if name == "replaced" {
				mustRun(t, cfg) // a run makes a new plan
			}
		})
	}
}

func TestNoWorkDirectory(t *testing.T) {
	work := filepath.Join(t.TempDir(), "nothing")
	_, status := statusOf(t, work)
	_, swept := sweepWork(t, work, admin.Sweep{Keep: 1})
	for _, err := range []error{status, swept} {
		if !badinput.Is(err) || !strings.Contains(err.Error(), "--work") {
			t.Errorf("error %v", err)
		}
	}
	if _, err := os.Stat(work); err == nil {
		t.Error("the directory was made")
	}
}
