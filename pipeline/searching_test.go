package pipeline

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"bitextmine/bitext"
	"bitextmine/index/backend"
	"bitextmine/index/kernel"
	"bitextmine/internal/badinput"
	"bitextmine/internal/lockfile"
	"bitextmine/pipeline/admin"
	"bitextmine/pipeline/record"
	"bitextmine/pipeline/stage/search"
)

const ivf = "faiss:IVF8,Flat"

// Any exact search gives the bytes of any other, and finds what another has searched.
func TestAutoGivesTheBytesOfExact(t *testing.T) {
	dir, out := corpora(t, 60), t.TempDir()
	cfg := testConfig(dir, filepath.Join(out, "exact"))
	cfg.Work = filepath.Join(out, "work")
	want := mustRun(t, cfg)
	cfg.Out, cfg.Search = filepath.Join(out, "auto"), backend.Auto
	got := mustRun(t, cfg)
	if got.Bitext.SHA256 != want.Bitext.SHA256 || got.ConfigDigest != want.ConfigDigest {
		t.Errorf("auto gave other bytes than exact (config %s, %s)", got.ConfigDigest, want.ConfigDigest)
	}
	for _, stage := range got.Stages {
		if stage.Name == "search" && stage.Cached != stage.Tasks {
			t.Errorf("auto searched %d cells again", stage.Tasks-stage.Cached)
		}
	}
	if got.Search.Backend != "exact" || got.Search.Kernel != kernel.Best.Name || got.Search.Recall != nil {
		t.Errorf("search %+v", got.Search)
	}
}

func TestAutoKeepsItsChoice(t *testing.T) {
	dir, out := corpora(t, 60), t.TempDir()
	cfg := testConfig(dir, filepath.Join(out, "one"))
	cfg.Work, cfg.Search, cfg.SearchApproximate = filepath.Join(out, "work"), backend.Auto, ivf
	if r := mustRun(t, cfg); r.Search.Backend != "exact" || strings.Contains(r.Search.Why, "earlier") {
		t.Fatalf("search %+v", r.Search)
	}
	notes, err := filepath.Glob(filepath.Join(cfg.Work, record.ChosenNote, "*.json"))
	if err != nil || len(notes) != 1 {
		t.Fatalf("notes %v, %v", notes, err)
	}
	write := func(text string) {
		if err := os.WriteFile(notes[0], []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(`{"result": "` + ivf + `", "backend": "` + ivf + `", "why": "it was so"}`)
	cfg.Out = filepath.Join(out, "two")
	for range 2 { // also when it was kept before
		if r := mustRun(t, cfg); r.Search.Backend != ivf || r.Search.Recall == nil || strings.Count(r.Search.Why, "earlier run") != 1 {
			t.Fatalf("search %+v", r.Search)
		}
	}
	if e, err := Plan(t.Context(), cfg, options()); err != nil || e.Search.Backend != ivf {
		t.Errorf("plan %+v, %v", e.Search, err)
	}
	if err := os.Remove(notes[0]); err != nil { // what stands in the output directory tells as well
		t.Fatal(err)
	}
	if r := mustRun(t, cfg); r.Search.Backend != ivf {
		t.Errorf("search %+v", r.Search)
	}
	write("{")
	if _, err := Run(t.Context(), cfg, options()); !badinput.Is(err) || !strings.Contains(err.Error(), record.ChosenNote) {
		t.Errorf("error %v", err)
	}
}

func TestPlanShowsEveryBackend(t *testing.T) {
	cfg := testConfig(corpora(t, 60), filepath.Join(t.TempDir(), "mined"))
	cfg.Search, cfg.SearchApproximate = backend.Auto, ivf+" faiss:IVF9999,Flat"
	e, err := Plan(t.Context(), cfg, options())
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, b := range e.Backends {
		names = append(names, b.Name)
		if refused := b.Name == "faiss:IVF9999,Flat"; (b.Refused != "") != refused || (b.Time > 0 && b.Memory > 0) == refused {
			t.Errorf("%+v", b)
		}
	}
	if want := []string{"exact", "faiss:Flat", ivf, "faiss:IVF9999,Flat"}; !slices.Equal(names, want) {
		t.Errorf("backends %v, want %v", names, want)
	}
	if e.Search.Backend != "exact" || e.Stages[0].Rate <= 0 || e.Stages[1].Rate <= 0 {
		t.Errorf("search %+v, stages %+v", e.Search, e.Stages)
	}
	if r := mustRun(t, cfg); r.Search.Backend != e.Search.Backend {
		t.Errorf("the run searched by %s, the plan said %s", r.Search.Backend, e.Search.Backend)
	}
}

// TestLists: of an English file and two German ones the smaller has no lists, and is compared whole. Of few rows all
// are compared: the same settings serve small text.
func TestLists(t *testing.T) {
	for sentences, files := range map[int]int{12000: 2, 200: 0} {
		cfg := testConfig(corpora(t, sentences), filepath.Join(t.TempDir(), "mined"))
		cfg.Search, cfg.NProbe, cfg.ShardSize = "ivf:8", 1, 20000
		report := mustRun(t, cfg)
		if measured := report.Search.Recall != nil; measured != (files > 0) {
			t.Errorf("%d sentences: search %+v", sentences, report.Search)
		}
		indexes, err := os.ReadDir(filepath.Join(cfg.Out, "work", search.IndexesName))
		if len(indexes) != files || err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%d sentences: index files %v, %v; want %d", sentences, indexes, err, files)
		}
	}
}

func TestApproximateRun(t *testing.T) {
	const name, files = ivf, 3
	dir, out := corpora(t, 200), t.TempDir()
	cfg := testConfig(dir, filepath.Join(out, "mined"))
	cfg.Search, cfg.NProbe, cfg.SearchRecall = name, 1, 1
	report, log := runLogged(t, cfg)
	recall := report.Search.Recall
	if recall == nil || *recall <= 0 || *recall >= 1 || !strings.Contains(log, "search_recall") {
		t.Fatalf("search %+v, log %s", report.Search, log)
	}
	if told, err := record.ReadReport(cfg.Out); err != nil || told.Search.Recall == nil || *told.Search.Recall != *recall {
		t.Errorf("run.json tells %+v, %v", told.Search, err)
	}
	file, err := bitext.Open(report.Bitext.Path)
	if err != nil {
		t.Fatal(err)
	}
	m := file.Metadata()
	if told, err := strconv.ParseFloat(m["search_recall"], 64); err != nil || m["search"] != name || told != *recall {
		t.Errorf("the bitext tells %s with recall %s", m["search"], m["search_recall"])
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}

	indexes := filepath.Join(cfg.Out, "work", search.IndexesName)
	entries, err := os.ReadDir(indexes)
	if err != nil || len(entries) != files {
		t.Fatalf("index files %v, %v", entries, err)
	}
	cfg.Overwrite, cfg.NProbe, cfg.SearchRecall = true, 8, 0.95
	if report, log = runLogged(t, cfg); report.Search.Recall == nil || *report.Search.Recall != 1 || strings.Contains(log, "search_recall") {
		t.Fatalf("with every list visited: %+v, log %s", report.Search, log)
	}
	if again, err := os.ReadDir(indexes); err != nil || len(again) != files {
		t.Errorf("index files %v, %v: another nprobe must not make others", again, err)
	}

	cfg.NProbe = 4
	path := func(i int) string { return filepath.Join(indexes, entries[i].Name()) }
	other, err := os.ReadFile(path(1))
	if err == nil {
		err = os.WriteFile(path(0), other, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Run(t.Context(), cfg, options()); err != nil {
		t.Errorf("an index of other vectors: %v", err)
	}
	if healed, err := os.ReadFile(path(0)); err != nil || bytes.Equal(healed, other) {
		t.Errorf("an index of other vectors was not made again, error %v", err)
	}

	long := time.Now().Add(-48 * time.Hour)
	if err := os.Chtimes(path(0), long, long); err != nil {
		t.Fatal(err)
	}
	swept, err := sweepWork(t, filepath.Join(cfg.Out, "work"), admin.Sweep{Keep: 1, Older: 24 * time.Hour})
	if err != nil || swept.Outputs[search.IndexesName] != 1 {
		t.Errorf("swept %+v, %v", swept, err)
	}
	if _, err := Run(t.Context(), cfg, options()); err != nil {
		t.Error(err)
	}
}

// A shard that is too thin for an index is searched exactly; if all are, the index was a mistake.
func TestThinShardsOfAnApproximateRun(t *testing.T) {
	cfg := testConfig(corpora(t, 200), filepath.Join(t.TempDir(), "mined"))
	cfg.Search, cfg.NProbe = "faiss:IVF32,Flat", 32 // de2.txt has 20 sentences
	if r := mustRun(t, cfg); r.Search.Recall == nil || *r.Search.Recall != 1 {
		t.Errorf("search %+v", r.Search)
	}
	if entries, err := os.ReadDir(filepath.Join(cfg.Out, "work", search.IndexesName)); err != nil || len(entries) != 2 {
		t.Errorf("index files %v, %v; want those of de.txt and en.txt", entries, err)
	}
	cfg.Search, cfg.Overwrite = "faiss:IVF999,Flat", true
	if _, err := Run(t.Context(), cfg, options()); !badinput.Is(err) || !strings.Contains(err.Error(), "999 lists") {
		t.Errorf("error %v", err)
	}
}

// Of two runs with different settings into one directory at once, one is refused, though it was empty when both began.
func TestTwoSettingsIntoOneDirectory(t *testing.T) {
	dir, out := corpora(t, 60), t.TempDir()
	var errs [2]error
	var group sync.WaitGroup
	for i := range errs {
		group.Go(func() {
			cfg := testConfig(dir, filepath.Join(out, "mined"))
			cfg.Work, cfg.K = filepath.Join(out, fmt.Sprint("work", i)), 4+i
			_, errs[i] = Run(t.Context(), cfg, options())
		})
	}
	group.Wait()
	err := errors.Join(errs[:]...)
	atOnce := errors.As(err, new(*lockfile.Locked))
	if (errs[0] == nil) == (errs[1] == nil) || !atOnce && !badinput.Is(err) {
		t.Errorf("errors %v; want that one run is refused", errs)
	}
}

// A shard may have fewer sentences than k: its lists are merged.
func TestShardsSmallerThanK(t *testing.T) {
	dir, out := corpora(t, 12), t.TempDir()
	cfg := testConfig(dir, filepath.Join(out, "one"))
	want := pairs(t, mustRun(t, cfg))
	cfg.Out, cfg.ShardSize = filepath.Join(out, "many"), 3
	got := pairs(t, mustRun(t, cfg))
	if len(got) == 0 || len(got) != len(want) {
		t.Fatalf("%d pairs, want %d", len(got), len(want))
	}
	for i := range got {
		if got[i].Score != want[i].Score || got[i].Source.Key != want[i].Source.Key || got[i].Target.Key != want[i].Target.Key {
			t.Errorf("pair %d is %+v, want %+v", i, got[i], want[i])
		}
	}
}
