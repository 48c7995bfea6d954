package admin

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"bitextmine/encode"
	"bitextmine/encode/gpu"
	"bitextmine/encode/layers"
	"bitextmine/encode/model"
	"bitextmine/encode/session"
	"bitextmine/index/approximate"
	"bitextmine/index/backend"
	search "bitextmine/index/cuda"
	"bitextmine/index/exact"
	"bitextmine/index/faiss"
	"bitextmine/index/kernel"
	"bitextmine/internal/badinput"
	"bitextmine/internal/cuda"
	"bitextmine/internal/pjrt"
	"bitextmine/internal/usage"
	"bitextmine/pipeline/setting"
	"bitextmine/pipeline/store"
)

// ExamineOptions are the settings that decide what is needed.
type ExamineOptions struct {
	Encoder   string
	Refine    string   // the strong encoder of two-stage mining; empty: there is none
	Judge     string   // judges pairs in doubt; empty: there is none
	Search    []string // every backend that may be used; auto means those that it chooses from
	Backend   backend.Options
	Resources setting.Resources
	Out       string // a directory, which need not exist
	Work      string // a bucket, or such a directory
	Settings  error  // why a run would refuse its settings; nil: it would not
	// Explain adds to the error of an encoder what to do; nil: nothing is added.
	Explain func(error) error
}

// State is the result of one check.
type State string

// The states of a finding.
const (
	Good    State = "ok"
	Absent  State = "absent" // absent, and not needed with these settings
	Slow    State = "warning"
	Missing State = "missing" // a run with these settings would stop
)

// Finding is the result of one check with its explanation.
type Finding struct {
	Name  string `json:"name"`
	State State  `json:"state"`
	Text  string `json:"text"`
}

// Examine runs all checks. It leaves no files behind and no library loaded but a PJRT plugin, and CUDA's libraries
// where they are asked for.
func Examine(ctx context.Context, opts ExamineOptions, log *slog.Logger) []Finding {
	found := []Finding{of("settings", "a run takes them", opts.Settings), cpu(), opts.blas(), {"faiss", Good, "FAISS " + faiss.Version()}, opts.gpus(), opts.plugin(), opts.runtime()}
	encoders := []named{opts.load("encoder", opts.Encoder)}
	if opts.Refine != "" {
		encoders = append(encoders, opts.load("refine", opts.Refine))
	}
	found = append(found, opts.device(encoders)...)
	for _, e := range encoders {
		found = append(found, opts.encoder(ctx, e))
	}
	if opts.Judge != "" {
		found = append(found, opts.judge(ctx))
	}
	if model := encoders[0].model; model != nil {
		found = append(found, opts.searches(model.Dim)...)
	}
	return append(found, writable("out", opts.Out), opts.store(ctx, log))
}

// Verdict is nil if nothing is missing. Otherwise it is a badinput error that names what is.
func Verdict(found []Finding) error {
	var missing []string
	for _, f := range found {
		if f.State == Missing {
			missing = append(missing, f.Name)
		}
	}
	if missing == nil {
		return nil
	}
	return badinput.Errorf("a run with these settings would stop: see the findings on %s", strings.Join(missing, ", "))
}

// of returns a finding of what is missing if err is set, else one with the text.
func of(name, text string, err error) Finding {
	if err != nil {
		return Finding{name, Missing, err.Error()}
	}
	return Finding{name, Good, text}
}

func cpu() Finding {
	var others []string
	for _, name := range kernel.Names {
		if name != kernel.Best.Name && kernel.Get(name) != nil {
			others = append(others, name)
		}
	}
	text := fmt.Sprintf("%d processors (%s); search kernel %s", runtime.NumCPU(), runtime.GOARCH, kernel.Best.Name)
	if others == nil {
		return Finding{"cpu", Slow, text + ": the CPU has none of the instructions that faster ones use"}
	}
	return Finding{"cpu", Good, text + ", which it chose over " + strings.Join(others, ", ")}
}

// needs reports whether a search with this prefix may be used.
func (o *ExamineOptions) needs(prefix string) bool {
	for _, name := range o.Search {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

func (o *ExamineOptions) blas() Finding {
	library := faiss.RunningBLAS()
	f := Finding{"blas", Good, fmt.Sprintf("%s, %s", library, library.Path)}
	if err := library.Check(); err != nil {
		f.State, f.Text = Slow, err.Error()
		if o.needs(faiss.Prefix) {
			f.State = Missing
		}
	} else if warning := library.Warning(); warning != "" {
		f.State, f.Text = Slow, warning
	}
	return f
}

// gpus tells which searches can use the GPUs.
func (o *ExamineOptions) gpus() Finding {
	driver, err := cuda.OpenDriver()
	if err == nil {
		_, err = search.Open(search.Options{})
	}
	n, flat := faiss.GPUs()
	switch {
	case err != nil && o.needs(search.Name):
		return Finding{"gpu", Missing, err.Error()}
	case flat != nil && o.needs(faiss.PrefixGPU):
		return Finding{"gpu", Missing, flat.Error()}
	case err != nil:
		return Finding{"gpu", Absent, err.Error()}
	}
	found := "search = cuda can use"
	for _, g := range driver.GPUs {
		found += fmt.Sprintf(" GPU %d (%s)", g.Number, g)
	}
	if flat == nil {
		found += fmt.Sprintf("; FAISS can search on %d", n)
	}
	return Finding{"gpu", Good, found}
}

// plugin lists the devices of the PJRT plugin that is there for training.
func (o *ExamineOptions) plugin() Finding {
	if os.Getenv(pjrt.Env) == "" {
		return Finding{"pjrt", Absent, fmt.Sprintf("%s names no PJRT plugin, so mine train --device cuda cannot be used", pjrt.Env)}
	}
	path, err := pjrt.Find(pjrt.CUDA)
	if err != nil {
		return Finding{"pjrt", Slow, err.Error()}
	}
	client, err := pjrt.Shared(path)
	if err != nil {
		return Finding{"pjrt", Slow, err.Error()}
	}
	return Finding{"pjrt", Good, fmt.Sprintf("mine train can use %d devices of %s, %s", client.NumDevices(), client.Platform(), path)}
}

func (o *ExamineOptions) runtime() Finding {
	options := setting.EncoderOptions(o.Resources)
	found, err := session.CheckRuntime(options.Library, options.Device)
	cuda := "without a CUDA provider beside it"
	if found.CUDA {
		cuda = "with a CUDA provider beside it"
	}
	return of("onnxruntime", fmt.Sprintf("ONNX Runtime %s, %s, %s", found.Version, found.Path, cuda), err)
}

// named is an encoder that a setting names.
type named struct {
	setting    string
	model      *model.Model
	arithmetic string // empty: the CPU computes it
	runtime    error  // why ONNX Runtime computes it on a GPU; nil: the program's own kernels do
	err        error  // why it cannot be used
}

// load loads the encoder that a setting names, and finds out what would compute it.
func (o *ExamineOptions) load(setting, name string) named {
	e := named{setting: setting}
	if e.model, e.err = model.Load(name); e.err == nil {
		e.arithmetic, e.runtime, e.err = o.computing(e.model)
	} else if o.Explain != nil {
		e.err = o.Explain(e.err)
	}
	return e
}

func (o *ExamineOptions) computing(m *model.Model) (arithmetic string, runtime, err error) {
	if arithmetic, err = setting.ArithmeticOf(o.Resources, m); err != nil || arithmetic == "" {
		return "", nil, err
	}
	device, err := gpu.Parse(o.Resources.Device)
	if err != nil {
		return "", nil, err
	}
	var chosen []cuda.GPU
	if driver, err := cuda.OpenDriver(); err == nil {
		chosen, _ = gpu.Choose(driver, device) // the finding on the driver has the error
	}
	if err = encode.ByKernels(m, device, chosen); errors.Is(err, layers.ErrOther) {
		return arithmetic, err, nil
	}
	return arithmetic, nil, err
}

// encoder encodes a sentence.
func (o *ExamineOptions) encoder(ctx context.Context, e named) Finding {
	if e.err != nil {
		return of(e.setting, "", e.err)
	}
	text := fmt.Sprintf("%s, %d dimensions", e.model.Name, e.model.Dim)
	switch {
	case o.Resources.Device == "" || o.Resources.Device == "cpu":
	case e.arithmetic == "":
		text += ", on the CPU, as it is a table"
	case e.runtime != nil:
		text += fmt.Sprintf(", on %s, by ONNX Runtime: %v", e.arithmetic, e.runtime)
	default:
		text += fmt.Sprintf(", on %s, by the program's own kernels", e.arithmetic)
	}
	return of(e.setting, text, try(ctx, e.model, o.Resources, e.arithmetic))
}

// judge loads the judge and judges a pair.
func (o *ExamineOptions) judge(ctx context.Context) Finding {
	m, err := model.LoadJudge(o.Judge)
	if err != nil {
		return of("judge", "", err)
	}
	judge, err := encode.OpenJudge(m, setting.EncoderOptions(o.Resources))
	if err == nil {
		err = errors.Join(judge.Logits(ctx, [][2]string{{"1 2 3", "1 2 3"}}, make([]float32, 1), nil), judge.Close())
	}
	return of("judge", m.Name, err)
}

// searches checks each backend. Missing libraries are reported by the checks of the libraries.
func (o *ExamineOptions) searches(dim int) (found []Finding) {
	for _, name := range o.Search {
		what := name
		if name == backend.Auto {
			what, name = "auto: "+strings.Join(backend.Candidates(), ", "), exact.Name
		}
		opts := o.Backend
		if backend.Exact(name) && len(o.Search) > 1 {
			opts.Approximate = approximate.Settings{} // the settings belong to the approximate searches
		}
		found = append(found, of("search", what, backend.Check(name, dim, opts)))
	}
	return found
}

func (o *ExamineOptions) store(ctx context.Context, log *slog.Logger) Finding {
	if store.Remote(o.Work) {
		st, err := store.Open(ctx, o.Work, log)
		if err == nil {
			err = st.Close()
		}
		return of("work", o.Work+" can be written", err)
	}
	return writable("work", o.Work)
}

// writable says whether files can be written in the directory of a setting, by making one where its path ends so far.
func writable(setting, path string) Finding {
	dir, err := filepath.Abs(path)
	if err != nil {
		return of(setting, "", err)
	}
	place := dir
	for { // find the part of the path that exists
		if _, err := os.Stat(place); err == nil || place == filepath.Dir(place) {
			break
		}
		place = filepath.Dir(place)
	}
	probe, err := os.MkdirTemp(place, ".probe.*")
	if err == nil {
		err = os.Remove(probe)
	}
	if err != nil {
		return Finding{setting, Missing, fmt.Sprintf("%s cannot be written (%v); name another directory with --%s", place, err, setting)}
	}
	return Finding{setting, Good, fmt.Sprintf("%s can be written, %.1f GiB free", dir, float64(usage.FreeDisk(place))/(1<<30))}
}

// device checks, where GPUs are asked for, the driver with its GPUs, and every library that ONNX Runtime needs for
// them, unless the program's own kernels compute all that they are for.
func (o *ExamineOptions) device(encoders []named) []Finding {
	device, err := gpu.Parse(o.Resources.Device)
	if err != nil {
		return []Finding{of("device", "", err)}
	}
	if device.OnCPU() {
		return nil
	}
	driver, err := cuda.OpenDriver()
	libraries := Finding{"device", Good, o.Resources.Device + ", by the program's own kernels, which need the driver alone"}
	if o.needsRuntime(encoders) {
		libraries = o.libraries(device, driver)
	}
	if err != nil {
		return []Finding{of("driver", "", err), libraries}
	}
	var names []string
	chosen, err := gpu.Choose(driver, device)
	for _, g := range chosen {
		names = append(names, fmt.Sprintf("GPU %d: %s", g.Number, g))
	}
	return []Finding{of("driver", fmt.Sprintf("supports CUDA %s; %s", driver.Version(), strings.Join(names, "; ")), err), libraries}
}

// needsRuntime says whether ONNX Runtime computes anything on the GPUs.
func (o *ExamineOptions) needsRuntime(encoders []named) bool {
	own := 0
	for _, e := range encoders {
		if e.err != nil || e.runtime != nil {
			return true
		}
		if e.arithmetic != "" {
			own++
		}
	}
	return own == 0 || o.Judge != ""
}

// libraries checks what ONNX Runtime needs beside the driver.
func (o *ExamineOptions) libraries(device gpu.Device, driver cuda.Driver) Finding {
	path, err := session.LibraryOf(o.Resources.ONNXRuntime, device)
	var needed []gpu.Library
	if err == nil {
		needed, err = gpu.Preload(path, device.Kind)
	}
	if err == nil {
		err = gpu.Missing(path, needed)
	}
	if err == nil && driver.CUDA > 0 {
		err = gpu.Supports(driver, needed)
	}
	var names []string
	for _, l := range needed {
		names = append(names, l.Name)
	}
	return of("device", fmt.Sprintf("%s, with %s", o.Resources.Device, strings.Join(names, ", ")), err)
}

// try encodes a sentence in the model's first language.
func try(ctx context.Context, model *model.Model, r setting.Resources, arithmetic string) (err error) {
	options, err := setting.OnDevice(r, arithmetic)
	if err != nil {
		return err
	}
	options.Threads = 1
	encoder, err := encode.Open(model, options)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, encoder.Close()) }()
	language := "en"
	if len(model.Languages) > 0 {
		language = model.Languages[0]
	}
	return encoder.Encode(ctx, language, []string{"1 2 3"}, make([]float32, encoder.Dim()))
}
