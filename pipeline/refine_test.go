package pipeline

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"bitextmine/bitext"
	"bitextmine/corpus"
	"bitextmine/encode"
	"bitextmine/encode/embedding"
	"bitextmine/encode/encodetest"
	"bitextmine/encode/model"
	"bitextmine/mine"
	"bitextmine/pipeline/admin"
	"bitextmine/pipeline/plan"
	"bitextmine/pipeline/record"
	"bitextmine/pipeline/setting"
	"bitextmine/pipeline/stage"
	"bitextmine/score"
)

// strong is the encoder that refines in these tests. That it is no better than the first changes nothing.
var strong = encodetest.Bag()

// refined is two-stage mining with a floor that some candidates are below.
func refined(cfg Config) Config {
	cfg.Refine, cfg.RefineFloor, cfg.Threshold = strong, 1.02, 0.9
	return cfg
}

// learning is two-stage mining that learns in the text what the strong encoder adds to the program's scorer.
func learning(cfg Config) Config {
	cfg = scored(cfg)
	cfg.Refine, cfg.RefineDoubt = strong, 0.01
	return cfg
}

// twoStage are the ways in which two-stage mining decides.
var twoStage = map[string]func(Config) Config{"by margin": refined, "by a scorer": learning}

// watched records what a strong encoder is given, and fails as it is told.
type watched struct {
	mu    sync.Mutex
	texts map[string]int // how often each was encoded
	fail  error
}

func (w *watched) options() Options {
	opts := options()
	opts.OpenEncoder = func(m *model.Model, o encode.Options) (stage.Encoder, error) {
		encoder, err := openShared(m, o)
		if m.Name == encodetest.BagName {
			encoder = watchedEncoder{encoder, w}
		}
		return encoder, err
	}
	return opts
}

type watchedEncoder struct {
	stage.Encoder
	*watched
}

func (w watchedEncoder) EncodeFile(ctx context.Context, path string, dtype embedding.DType, source encode.Source, progress func(int)) (embedding.Meta, error) {
	texts := source.Texts
	source.Texts = func(yield func(string, error) bool) {
		for text, err := range texts {
			w.mu.Lock()
			w.texts[text]++
			failure := w.fail
			w.mu.Unlock()
			if !yield(text, errors.Join(err, failure)) {
				return
			}
		}
	}
	return w.Encoder.EncodeFile(ctx, path, dtype, source, progress)
}

func (w *watched) run(t *testing.T, cfg Config) *record.Report {
	t.Helper()
	report, err := Run(t.Context(), cfg, w.options())
	if err != nil {
		t.Fatal(err)
	}
	return report
}

func watch() *watched { return &watched{texts: map[string]int{}} }

// TestWeightsCountForTheBound: what an encoder's weights take is part of what its tasks need, so that --max-memory
// bounds the process; keys do not depend on it.
func TestWeightsCountForTheBound(t *testing.T) {
	r := request(1, 1, nil)
	r.Settings.Refine, r.Settings.RefineFloor, r.Refiner = "strong", 1.02, &plan.Refiner{Name: "strong", Dim: 256}
	least := func(w stage.Weights) (map[string]int64, map[string][]string) {
		r.Weights = w
		p, needs := build(t, r), map[string]int64{}
		for _, wave := range p.Waves {
			for _, task := range wave.Tasks {
				needs[wave.Stage] = max(needs[wave.Stage], task.Fixed)
			}
		}
		return needs, keysOf(p)
	}
	before, keys := least(stage.Weights{})
	after, same := least(stage.Weights{Encoder: 10 << 20, Refiner: 500 << 20})
	if !reflect.DeepEqual(keys, same) {
		t.Error("keys depend on the weights")
	}
	for of, more := range map[string]int64{"encode": 10 << 20, "refine": 510 << 20, "merge": 0} {
		if after[of]-before[of] != more {
			t.Errorf("%s needs %d bytes more, want %d", of, after[of]-before[of], more)
		}
	}
	for name, held := range map[string]bool{strong: true, model.BuiltIn()[0]: false} {
		m, err := model.Load(name)
		if err != nil {
			t.Fatal(err)
		}
		if bytes, err := setting.WeightsOf(m); err != nil || bytes > 0 != held {
			t.Errorf("%s has %d bytes of weights in memory, error %v", m.Name, bytes, err)
		}
	}
}

// refinedNow is how many sentences a run encoded again.
func refinedNow(r *record.Report) int64 {
	for _, s := range r.Stages {
		if s.Name == "refine" {
			return s.Items
		}
	}
	return -1
}

// TestRefinedRun: exactly the sentences of pairs above the floor are encoded, and the product of strong cosine and
// margin decides.
func TestRefinedRun(t *testing.T) {
	cfg := refined(testConfig(corpora(t, 100), filepath.Join(t.TempDir(), "out")))
	cfg.KeepBelow = true
	w := watch()
	report := w.run(t, cfg)
	rows := pairs(t, report)
	want, floor := map[string]int{}, 0
	for i, row := range rows {
		margin := mine.Ratio.Of(row.Cosine, row.SourceMean, row.TargetMean)
		switch {
		case row.RefineCosine == nil:
			floor++
			if float64(margin) > cfg.RefineFloor || row.Score != 0 || row.Keep || slices.Equal(row.Reasons, []string{"below_threshold"}) {
				t.Errorf("%+v has no strong cosine", row)
			}
		default:
			want[corpus.Normalise(row.Source.Text)], want[corpus.Normalise(row.Target.Text)] = 1, 1
			if float64(margin) <= cfg.RefineFloor || row.Score != margin**row.RefineCosine || row.Keep && float64(row.Score) <= cfg.Threshold {
				t.Errorf("%+v has the strong cosine %v", row, *row.RefineCosine)
			}
		}
		if i > 0 && rows[i-1].Score < row.Score {
			t.Fatal("rows do not stand best first")
		}
	}
	if !maps.Equal(w.texts, want) || floor == 0 || report.Counts.Kept == 0 {
		t.Errorf("%d sentences were encoded again instead of %d, %d pairs below the floor, %d kept", len(w.texts), len(want), floor, report.Counts.Kept)
	}
	if report.Counts.Refined != len(want) || refinedNow(report) != int64(len(want)) || report.Refiner == nil || report.Refiner.Name != encodetest.BagName {
		t.Errorf("counts %+v, %d refined, refiner %+v", report.Counts, refinedNow(report), report.Refiner)
	}
	file, err := bitext.Open(report.Bitext.Path)
	if err != nil {
		t.Fatal(err)
	}
	said := file.Metadata()
	if err := file.Close(); err != nil || said["refine"] != encodetest.BagName || said["refine_floor"] != "1.02" || said["refined"] != fmt.Sprint(len(want)) {
		t.Errorf("metadata %v, error %v", said, err)
	}
}

// TestRefinedBytes: threads, tasks that run one by one and a second run change no byte; shards change where sentences
// stand, and nothing else.
func TestRefinedBytes(t *testing.T) {
	dir := corpora(t, 400)
	for name, mode := range twoStage {
		t.Run(name, func(t *testing.T) { refinedBytes(t, mode(testConfig(dir, filepath.Join(t.TempDir(), "out")))) })
	}
}

func refinedBytes(t *testing.T, cfg Config) {
	cfg.KeepBelow, cfg.Threads, cfg.ShardSize = true, 1, 60
	want := mustRun(t, cfg)
	if want.Cut != nil && want.Cut.By != score.ByStrong {
		t.Errorf("nothing is learnt: cut %+v", want.Cut)
	}
	for _, s := range mustRun(t, cfg).Stages {
		if s.Cached != s.Tasks {
			t.Errorf("%s computed %d of %d tasks again", s.Name, s.Tasks-s.Cached, s.Tasks)
		}
	}
	cfg.Out, cfg.Threads = filepath.Join(t.TempDir(), "threads"), 3
	if got := mustRun(t, cfg); got.Bitext.SHA256 != want.Bitext.SHA256 {
		t.Error("the number of threads shows")
	}
	cfg.Out = filepath.Join(t.TempDir(), "tasks")
	estimate, err := Plan(t.Context(), cfg, options())
	if err != nil || estimate.Refine == nil || estimate.Refine.Exact {
		t.Fatalf("estimate %+v, error %v", estimate, err)
	}
	for i := range tasksOf(estimate) {
		if err := RunTasks(t.Context(), TaskConfig{Plan: record.PlanPath(estimate.Work, estimate.PlanID), Index: i}, options()); err != nil {
			t.Fatal(err)
		}
	}
	if got := mustRun(t, cfg); got.Bitext.SHA256 != want.Bitext.SHA256 || refinedNow(got) != 0 {
		t.Errorf("tasks one by one give other bytes, or %d sentences were encoded again", refinedNow(got))
	}
	cfg.Out, cfg.ShardSize = filepath.Join(t.TempDir(), "shards"), 1000
	whole, cut := pairs(t, mustRun(t, cfg)), pairs(t, want)
	for _, rows := range [][]bitext.Row{whole, cut} {
		for i := range rows {
			rows[i].Source.Shard, rows[i].Target.Shard, rows[i].Source.Row, rows[i].Target.Row = "", "", 0, 0
		}
	}
	if len(whole) != len(cut) || want.Counts.Kept == 0 {
		t.Fatalf("%d rows instead of %d", len(cut), len(whole))
	}
	for i := range whole {
		a, b := whole[i], cut[i]
		if fmt.Sprint(a.Source, a.Target, a.Score, a.Keep, a.Reasons) != fmt.Sprint(b.Source, b.Target, b.Score, b.Keep, b.Reasons) {
			t.Fatalf("row %d shows the shards: %+v, want %+v", i, b, a)
		}
	}
}

// TestRefinedNights: a run after every night's files ends with the bytes of one run over all, encodes no sentence
// twice, and leaves the outputs that one run makes.
func TestRefinedNights(t *testing.T) {
	const n = 4
	files := mineNights(t, n)
	for name, mode := range twoStage {
		t.Run(name, func(t *testing.T) { refinedNights(t, files, mode) })
	}
}

func refinedNights(t *testing.T, files [2][][]byte, mode func(Config) Config) {
	text, out, w := newText(t), filepath.Join(t.TempDir(), "out"), watch()
	var last *record.Report
	for i := range files[0] {
		text.putNight(files, i)
		before := len(w.texts)
		last = w.run(t, mode(text.config(out)))
		if got := int(refinedNow(last)); got != len(w.texts)-before {
			t.Errorf("night %d says that it encoded %d sentences again; it was %d", i, got, len(w.texts)-before)
		}
	}
	for text, times := range w.texts {
		if times > 1 {
			t.Errorf("%q was encoded %d times", text, times)
		}
	}
	cfg := mode(text.config(filepath.Join(t.TempDir(), "fresh")))
	if fresh := mustRun(t, cfg); fresh.Bitext.SHA256 != last.Bitext.SHA256 || refinedNow(fresh) > int64(len(w.texts)) {
		t.Errorf("the bytes after %d nights differ from one run's", len(files[0]))
	}
	for _, path := range glob(t, filepath.Join(cfg.Out, "work", "refine", "*", "*")) {
		if filepath.Base(path) == "task.json" {
			continue // it has times
		}
		nightly := filepath.Join(out, "work", "refine", filepath.Base(filepath.Dir(path)), filepath.Base(path))
		if read(t, path) != read(t, nightly) {
			t.Errorf("%s depends on what earlier nights had", nightly)
		}
	}
}

func glob(t *testing.T, pattern string) []string {
	t.Helper()
	found, err := filepath.Glob(pattern)
	if err != nil || found == nil {
		t.Fatalf("%s: %v, error %v", pattern, found, err)
	}
	return found
}

// TestFloors: another floor is another key, takes over the vectors that are there, and is estimated exactly once the
// shortlist is; another threshold asks for nothing.
func TestFloors(t *testing.T) {
	cfg := refined(testConfig(corpora(t, 200), filepath.Join(t.TempDir(), "out")))
	cfg.Overwrite = true
	w := watch()
	first := w.run(t, cfg)
	cfg.Threshold = 1.05
	if got := w.run(t, cfg); refinedNow(got) != 0 || got.Bitext.SHA256 == first.Bitext.SHA256 {
		t.Errorf("another threshold encoded %d sentences, or changed nothing", refinedNow(got))
	}
	cfg.Threshold, cfg.RefineFloor = 0.9, 0.97
	lower := w.run(t, cfg)
	if got := int(refinedNow(lower)); got == 0 || got != lower.Counts.Refined-first.Counts.Refined || len(w.texts) != lower.Counts.Refined {
		t.Errorf("a lower floor encoded %d sentences; there are %d and were %d", got, lower.Counts.Refined, first.Counts.Refined)
	}
	if lower.Bitext.SHA256 == first.Bitext.SHA256 {
		t.Error("a lower floor changed nothing")
	}
	if n := len(glob(t, filepath.Join(cfg.Out, "work", "shortlist", "*"))); n != 2 {
		t.Errorf("%d shortlists for two floors", n)
	}
	for _, path := range glob(t, filepath.Join(cfg.Out, "work", "refine", "*")) {
		if err := os.RemoveAll(path); err != nil {
			t.Fatal(err)
		}
	}
	estimate, err := Plan(t.Context(), cfg, options())
	if err != nil || !estimate.Refine.Exact || estimate.Refine.Sentences != int64(lower.Counts.Refined) {
		t.Errorf("estimate %+v, error %v; %d sentences are to be encoded", estimate.Refine, err, lower.Counts.Refined)
	}
	if got := mustRun(t, cfg); got.Bitext.SHA256 != lower.Bitext.SHA256 {
		t.Error("after the strong vectors were lost the bytes differ")
	}
	if swept, err := sweepWork(t, filepath.Join(cfg.Out, "work"), admin.Sweep{Keep: 1}); err != nil || swept.Outputs["shortlist"] != 1 {
		t.Errorf("swept %v, error %v", swept, err)
	}
	cfg.RefineFloor = 1
	if kept := w.run(t, cfg); refinedNow(kept) != 0 {
		t.Errorf("after a sweep %d sentences were encoded again", refinedNow(kept))
	}
	if status, err := statusOf(t, filepath.Join(cfg.Out, "work")); err != nil || !slices.ContainsFunc(status.Stages, func(s admin.StageStatus) bool { return s.Stage == "refine" && s.Done == 3 }) {
		t.Errorf("status %+v, error %v", status, err)
	}
}

// TestDamagedStrongVectors: earlier vectors that cannot be used cost time and are warned of, and so is their ledger.
func TestDamagedStrongVectors(t *testing.T) {
	dir := corpora(t, 100)
	want := mustRun(t, refined(testConfig(dir, filepath.Join(t.TempDir(), "want"))))
	for name, damage := range map[string]func(work string) string{
		"vectors": func(work string) string { return glob(t, filepath.Join(work, "refine", "*", "embedding.npy"))[0] },
		"ledger":  func(work string) string { return glob(t, filepath.Join(work, record.LedgerNote, "*"))[0] },
	} {
		t.Run(name, func(t *testing.T) {
			cfg := refined(testConfig(dir, filepath.Join(t.TempDir(), "out")))
			cfg.RefineFloor, cfg.Overwrite = 1, true
			mustRun(t, cfg)
			damaged := damage(filepath.Join(cfg.Out, "work"))
			if name == "ledger" {
				for _, path := range glob(t, filepath.Join(cfg.Out, "work", record.LedgerNote, "*")) {
					if strings.Contains(read(t, path), `"shard_set"`) {
						continue
					}
					damaged = path
				}
			}
			if err := os.WriteFile(damaged, []byte("nothing"), 0o600); err != nil {
				t.Fatal(err)
			}
			opts, log := optionsLogged()
			cfg.RefineFloor = 1.02
			got, err := Run(t.Context(), cfg, opts)
			if err != nil || got.Bitext.SHA256 != want.Bitext.SHA256 || !strings.Contains(log.String(), "encoded again") {
				t.Errorf("error %v, or other bytes; log:\n%s", err, log.String())
			}
		})
	}
}

// TestKilledWhileRefining: a run that failed or was killed goes on, with the same bytes.
func TestKilledWhileRefining(t *testing.T) {
	dir := corpora(t, 200)
	want := mustRun(t, refined(testConfig(dir, filepath.Join(t.TempDir(), "want")))).Bitext.SHA256
	w := watch()
	w.fail = errors.New("the strong encoder broke")
	cfg := refined(testConfig(dir, filepath.Join(t.TempDir(), "failed")))
	if _, err := Run(t.Context(), cfg, w.options()); !errors.Is(err, w.fail) {
		t.Fatalf("error %v", err)
	}
	if got := mustRun(t, cfg); got.Bitext.SHA256 != want {
		t.Error("after a failure the bytes differ")
	}
	cfg = refined(testConfig(dir, filepath.Join(t.TempDir(), "whole")))
	begin := time.Now()
	if err := start(t, cfg).Wait(); err != nil {
		t.Fatal(err)
	}
	whole := time.Since(begin)
	cfg.Out = filepath.Join(t.TempDir(), "killed")
	for part := range 4 {
		cmd := start(t, cfg)
		timer := time.AfterFunc(whole*time.Duration(part+5)/10, func() { _ = cmd.Process.Kill() })
		_ = cmd.Wait() // killed, or faster than the first
		timer.Stop()
		checkWhole(t, cfg.Out, want)
	}
	if got := mustNight(t, cfg); got.Bitext.SHA256 != want {
		t.Error("after kills the bytes differ")
	}
}
