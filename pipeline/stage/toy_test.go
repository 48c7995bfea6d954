// Package stage_test shows that a stage is one folder and one registration: it brings a stage that no other package
// knows and takes it through a plan, the local engine, run.json, status, garbage collection and the writers for SLURM
// and Kubernetes.
package stage_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"bitextmine/encode/encodetest"
	"bitextmine/pipeline"
	"bitextmine/pipeline/admin"
	"bitextmine/pipeline/engine"
	"bitextmine/pipeline/plan"
	"bitextmine/pipeline/progress"
	"bitextmine/pipeline/record"
	"bitextmine/pipeline/setting"
	"bitextmine/pipeline/stage"
	"bitextmine/pipeline/store"
	"bitextmine/pipeline/view"
)

// toy counts the lines of a language's shards after the bitext is there.
var toy = &stage.Descriptor{Name: "toy", Version: 1, Unit: "toys", After: []string{view.Match}, GPU: true}

type args struct {
	Language int `json:"language"`
}

func TestMain(m *testing.M) {
	if err := encodetest.SetLibrary(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	toy.Plan = func(b *stage.Builder) error {
		for l := range b.Languages {
			var spec []string
			for _, s := range b.Languages[l].Shards {
				spec = append(spec, s.SHA256)
			}
			b.Add(toy, toy.Key(spec), int64(b.Languages[l].Rows()), stage.Cost{Memory: 1 << 20, Disk: 1 << 10}, args{l})
		}
		return nil
	}
	toy.Check = func(p *plan.Plan, t *plan.Task) error {
		a, err := stage.Args[args](t)
		if err == nil {
			err = stage.Within("language", a.Language, len(p.Languages))
		}
		return err
	}
	toy.Run = func(ctx context.Context, e *stage.Env, t *plan.Task, dir string, meter progress.Meter) (any, error) {
		a, err := stage.Args[args](t)
		if err != nil {
			return nil, err
		}
		sentences, err := e.Sentences(a.Language)
		if err != nil {
			return nil, err
		}
		meter.Add(t.Items)
		return nil, os.WriteFile(filepath.Join(dir, "count.txt"), fmt.Append(nil, sentences.Len()), 0o600)
	}
	stage.Register(toy)
	os.Exit(m.Run())
}

func options() pipeline.Options {
	return pipeline.Options{Progress: progress.Silent, Log: slog.New(slog.DiscardHandler), Version: "test"}
}

func config(t *testing.T) pipeline.Config {
	t.Helper()
	var cfg pipeline.Config
	cfg.Source, cfg.Target = "de", "en"
	cfg.Corpora = map[string][]string{"de": {"fixtures:text/de.txt"}, "en": {"fixtures:text/en.txt"}}
	cfg.Format, cfg.TextColumn, cfg.OnBadLine, cfg.MaxLineBytes, cfg.ShardSize = "auto", "text", "skip", 1<<16, 1000
	cfg.Encoder, cfg.DType, cfg.Search = encodetest.Bag(), "float16", "exact"
	cfg.Decision = setting.Decision{K: 4, Margin: "ratio", Retrieval: "max", Threshold: 1.06}
	cfg.Keep, cfg.Out = 1, filepath.Join(t.TempDir(), "out")
	return cfg
}

func TestToyStage(t *testing.T) {
	cfg := config(t)
	work := filepath.Join(cfg.Out, "work")

	estimate, err := pipeline.Plan(t.Context(), cfg, options())
	if err != nil {
		t.Fatal(err)
	}
	last := estimate.Stages[len(estimate.Stages)-1]
	if last.Name != "toy" || last.Tasks != 2 || last.Items == 0 || last.Unit != "toys" || last.Rate != stage.DefaultRate {
		t.Errorf("the plan has %+v", last)
	}

	for pass := range 2 {
		var shown strings.Builder
		opts := options()
		opts.Progress = progress.Dated(&shown)
		report, err := pipeline.Run(t.Context(), cfg, opts)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(shown.String()) {
			all := regexp.MustCompile(` (\d+)/(\d+) \w+(, done before|, .*/s)?\n$`).FindStringSubmatch(line)
			if all == nil || all[1] != all[2] || pass == 1 && strings.HasSuffix(all[3], "/s") {
				t.Errorf("pass %d: %q, want all items, and a rate only of work that was done", pass, line)
			}
		}
		s := report.Stages[len(report.Stages)-1]
		if s.Name != "toy" || s.Tasks != 2 || s.Cached != 2*pass || s.Unit != "toys" {
			t.Errorf("pass %d: run.json has %+v", pass, s)
		}
	}
	counts, err := filepath.Glob(filepath.Join(work, "toy", "*", "count.txt"))
	if err != nil || len(counts) != 2 {
		t.Errorf("outputs %v, error %v", counts, err)
	}

	st, err := store.OpenExisting(t.Context(), work, options().Log)
	if err != nil {
		t.Fatal(err)
	}
	status, err := admin.ReadStatus(t.Context(), st, admin.Into{}, "test")
	if err != nil {
		t.Fatal(err)
	}
	if s := status.Stages[len(status.Stages)-1]; s.Stage != "toy" || s.Done != 2 || s.Unit != "toys" {
		t.Errorf("status %+v", s)
	}
	sweep(t, st, work)
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
}

// sweep makes an output that no run needs: gc takes that one alone.
func sweep(t *testing.T, st *store.Store, work string) {
	t.Helper()
	stale := store.Task{Stage: "toy", Key: strings.Repeat("0", 32)}
	if _, err := st.Do(t.Context(), stale, func(string) (any, error) { return nil, nil }); err != nil {
		t.Fatal(err)
	}
	if err := st.WriteNote(t.Context(), record.FailedNote, "toy-"+stale.Key, []byte(`{}`)); err != nil {
		t.Fatal(err)
	}
	swept, err := admin.GC(t.Context(), st, admin.Sweep{Keep: 1}, "test", options().Log)
	if err != nil || swept.Outputs["toy"] != 1 || len(swept.Outputs) != 1 || !strings.Contains(swept.String(), "1 of toy") {
		t.Errorf("swept %v, error %v", swept, err)
	}
	if left, err := filepath.Glob(filepath.Join(work, "toy", "*", "count.txt")); err != nil || len(left) != 2 {
		t.Errorf("left %v, error %v", left, err)
	}
	if left, err := filepath.Glob(filepath.Join(work, "failed", "toy-*")); err != nil || len(left) != 0 {
		t.Errorf("notes left %v, error %v", left, err)
	}
}

func TestToyStageOnClusters(t *testing.T) {
	cfg := config(t)
	p := mustPlan(t, cfg)
	for name, e := range map[string]func(out *bytes.Buffer) engine.Engine{
		"slurm": func(out *bytes.Buffer) engine.Engine {
			return engine.Slurm{Binary: "mine", Cores: 2, DryRun: out, Options: map[string][]string{"toy": {"--partition=toys"}}}
		},
		"kubernetes": func(out *bytes.Buffer) engine.Engine {
			return engine.Kubernetes{Image: "mine", Namespace: "n", GPUs: 3, Cores: 2, DryRun: out}
		},
		"argo": func(out *bytes.Buffer) engine.Engine {
			return engine.Argo{Kubernetes: engine.Kubernetes{Image: "mine", Namespace: "n", GPUs: 3, Cores: 2, DryRun: out}}
		},
	} {
		var out bytes.Buffer
		if err := e(&out).Run(t.Context(), engine.Job{Plan: p, ID: "0123456789", PlanPath: "/shared/plans/x.json", Out: "/out"}); err != nil {
			t.Fatal(err)
		}
		for _, part := range map[string][]string{
			"slurm": {"mine-toy-01234567", "--array=0-1", "--partition=toys"}, "kubernetes": {"name: mine-toy-01234567", "completions: 2", `nvidia.com/gpu: "3"`},
			"argo": {"name: mine-01234567", "template: toy-", `count: "2"`, `nvidia.com/gpu: "3"`},
		}[name] {
			if !strings.Contains(out.String(), part) {
				t.Errorf("%s: no %q in\n%s", name, part, out.String())
			}
		}
	}
}

// mustPlan returns the plan that a run of cfg would execute.
func mustPlan(t *testing.T, cfg pipeline.Config) *plan.Plan {
	t.Helper()
	estimate, err := pipeline.Plan(t.Context(), cfg, options())
	if err != nil {
		t.Fatal(err)
	}
	st, err := store.OpenExisting(t.Context(), estimate.Work, options().Log)
	if err != nil {
		t.Fatal(err)
	}
	p, err := stage.ReadPlan(t.Context(), st, estimate.PlanID, "test")
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return p
}
