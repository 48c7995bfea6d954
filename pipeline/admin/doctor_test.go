package admin

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"bitextmine/encode/encodetest"
	"bitextmine/fixtures"
	"bitextmine/index/approximate"
	"bitextmine/index/backend"
	"bitextmine/internal/badinput"
)

func TestMain(m *testing.M) { encodetest.Main(m) }

func TestExamine(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	good := func() ExamineOptions {
		return ExamineOptions{Encoder: fixtures.Encoder, Search: []string{"exact"}, Work: filepath.Join(dir, "mined", "work")}
	}
	for name, c := range map[string]struct {
		change  func(o *ExamineOptions)
		missing string // the finding's name; empty: nothing is missing
		says    string
	}{
		"the default":      {func(*ExamineOptions) {}, "", ""},
		"auto":             {func(o *ExamineOptions) { o.Search = []string{"auto"} }, "", ""},
		"auto and more":    {func(o *ExamineOptions) { o.Search, o.Backend = []string{"auto", "faiss:IVF8,Flat"}, probing() }, "", ""},
		"no GPU":           {func(o *ExamineOptions) { o.Search = []string{"faiss-gpu:Flat"} }, "gpu", "GPU"},
		"no GPU for cuda":  {func(o *ExamineOptions) { o.Search = []string{"cuda"} }, "gpu", "the NVIDIA driver is not installed here"},
		"no such index":    {func(o *ExamineOptions) { o.Search = []string{"faiss:Blah"} }, "search", "Blah"},
		"nprobe of exact":  {func(o *ExamineOptions) { o.Backend = probing() }, "search", "nprobe"},
		"no library":       {func(o *ExamineOptions) { o.Resources.ONNXRuntime = file }, "onnxruntime", file},
		"no such library":  {func(o *ExamineOptions) { o.Resources.ONNXRuntime = file + "s" }, "onnxruntime", file + "s"},
		"wrong settings":   {func(o *ExamineOptions) { o.Settings = errors.New("k = 0") }, "settings", "k = 0"},
		"no such encoder":  {func(o *ExamineOptions) { o.Encoder = "none" }, "encoder", "none"},
		"no such refiner":  {func(o *ExamineOptions) { o.Refine = "none" }, "refine", "none"},
		"no driver":        {func(o *ExamineOptions) { o.Resources.Device = "cuda" }, "driver", "the NVIDIA driver is not installed here"},
		"no libraries":     {func(o *ExamineOptions) { o.Resources.Device = "cuda:all:float16" }, "device", "is one for the CPU alone: run mine gpu setup"},
		"no place for out": {func(o *ExamineOptions) { o.Out = "/proc/x" }, "out", "--out"},
		"a file for work":  {func(o *ExamineOptions) { o.Work = filepath.Join(file, "work") }, "work", "--work"},
		"no such bucket":   {func(o *ExamineOptions) { o.Work = "nowhere://x/y" }, "work", "nowhere"},
		"a bucket of ours": {func(o *ExamineOptions) { o.Work = "mem://" }, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("MINE_CACHE", t.TempDir())
			t.Setenv("MINE_PJRT_CUDA", "")
			opts := good()
			c.change(&opts)
			found := Examine(t.Context(), opts, slog.New(slog.DiscardHandler))
			err := Verdict(found)
			if c.missing == "" {
				if err != nil {
					t.Errorf("%v: %+v", err, found)
				}
				return
			}
			if !badinput.Is(err) || !strings.Contains(err.Error(), c.missing) {
				t.Errorf("verdict %v, want that %s is missing", err, c.missing)
			}
			for _, f := range found {
				if f.Name == c.missing && f.State == Missing && strings.Contains(f.Text, c.says) {
					return
				}
			}
			t.Errorf("nothing says %q of %s: %+v", c.says, c.missing, found)
		})
	}
	if _, err := os.Stat(filepath.Join(dir, "mined")); err == nil {
		t.Error("the work directory was made")
	}
}

func probing() backend.Options { return backend.Options{Approximate: approximate.Settings{NProbe: 2}} }

// TestNeedsRuntime: libraries of ONNX Runtime for GPUs are asked for unless the program's own kernels compute all
// encoders that are not the CPU's.
func TestNeedsRuntime(t *testing.T) {
	kernels, table := named{arithmetic: "cuda float16 2"}, named{}
	other, failed := named{arithmetic: "cuda float16 2", runtime: errors.New("")}, named{err: errors.New("")}
	for _, c := range []struct {
		encoders []named
		judge    string
		want     bool
	}{
		{[]named{kernels}, "", false},
		{[]named{table, kernels}, "", false},
		{[]named{table}, "", true},
		{[]named{kernels, other}, "", true},
		{[]named{kernels, failed}, "", true},
		{[]named{kernels}, "judge", true},
	} {
		o := ExamineOptions{Judge: c.judge}
		if got := o.needsRuntime(c.encoders); got != c.want {
			t.Errorf("%+v with judge %q: %v, want %v", c.encoders, c.judge, got, c.want)
		}
	}
}
