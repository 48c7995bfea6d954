package session

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	ort "github.com/yalue/onnxruntime_go"

	"bitextmine/encode/gpu"
	"bitextmine/encode/model"
	"bitextmine/encode/onnxgraph"
	"bitextmine/internal/badinput"
	"bitextmine/internal/cuda"
)

// Accelerator is a kind of device.
type Accelerator struct {
	// Provider is ONNX Runtime's name for what computes; Allowed are others that may compute a part.
	Provider string
	Allowed  []string
	// Prepare loads the libraries that lie beside ONNX Runtime or in the system, and returns the GPUs.
	Prepare func(device gpu.Device, runtime string) ([]cuda.GPU, error)
	// Use has a session compute on a GPU.
	Use func(o *ort.SessionOptions, m *model.Model, on cuda.GPU, device gpu.Device) error
	// Rows is the largest number of rows in a batch; 0: no bound.
	Rows int
	// Rounds says that the provider itself computes in float16 where it was asked to.
	Rounds bool
}

// Accelerators are the kinds of devices besides the CPU; tests add one.
var Accelerators = map[string]Accelerator{
	gpu.CUDA: {Provider: "CUDAExecutionProvider", Prepare: gpu.Prepare, Use: useCUDA},
	gpu.TensorRT: {
		Provider: "TensorrtExecutionProvider", Allowed: []string{"CUDAExecutionProvider"}, Prepare: gpu.Prepare,
		Use:  useTensorRT,
		Rows: tensorRTRows, Rounds: true,
	},
}

// useCUDA adds the CUDA provider. float32 products are not rounded to TF32, which is its default.
func useCUDA(o *ort.SessionOptions, _ *model.Model, on cuda.GPU, _ gpu.Device) (err error) {
	cuda, err := ort.NewCUDAProviderOptions()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, cuda.Destroy()) }()
	if err := cuda.Update(map[string]string{"device_id": strconv.Itoa(on.Number), "use_tf32": "0",
		"arena_extend_strategy": "kSameAsRequested"}); err != nil {
		return err
	}
	return o.AppendExecutionProviderCUDA(cuda)
}

// tensorRTRows bounds the shapes that an engine of TensorRT is built for.
const tensorRTRows = 128

// useTensorRT adds the TensorRT provider, and CUDA's for what it leaves. An engine is built once, for all shapes
// between two, and kept in the user's cache.
func useTensorRT(o *ort.SessionOptions, m *model.Model, on cuda.GPU, device gpu.Device) (err error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return badinput.Errorf("there is no cache directory for TensorRT's engines: %w: set XDG_CACHE_HOME", err)
	}
	dir := filepath.Join(cache, "mine", "tensorrt", m.Digest)
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return badinput.Errorf("make the directory of TensorRT's engines: %w", err)
	}
	shapes := func(rows, tokens int) (all string) {
		for i, name := range inputNames(m) {
			if i > 0 {
				all += ","
			}
			all += fmt.Sprintf("%s:%dx%d", name, rows, tokens)
		}
		return all
	}
	half := "0"
	if device.Float16 {
		half = "1"
	}
	tensorRT, err := ort.NewTensorRTProviderOptions()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, tensorRT.Destroy()) }()
	if err := tensorRT.Update(map[string]string{
		"device_id": strconv.Itoa(on.Number), "trt_fp16_enable": half, "trt_engine_cache_enable": "1",
		"trt_engine_cache_path":  dir,
		"trt_profile_min_shapes": shapes(MinRows, 1),
		"trt_profile_opt_shapes": shapes(tensorRTRows/2, min(32, m.MaxTokens)),
		"trt_profile_max_shapes": shapes(tensorRTRows, m.MaxTokens),
	}); err != nil {
		return err
	}
	if err := o.AppendExecutionProviderTensorRT(tensorRT); err != nil {
		return err
	}
	return useCUDA(o, m, on, device)
}

// OnGPUs prepares the session for a device, proves that its GPUs compute the graph, and returns them.
func (s *Session) OnGPUs(device gpu.Device) ([]cuda.GPU, error) {
	if s.Table != nil {
		return nil, badinput.Errorf(
			"encoder %s is a table, whose rows the CPU adds faster than a GPU would: take --device cpu", s.Model.Name)
	}
	if s.Single {
		return nil, badinput.Errorf(
			"encoder %s is quantised while it runs, which ONNX Runtime does on the CPU alone: take --device cpu, or the encoder in float32",
			s.Model.Name)
	}
	environment.Lock()
	runtime := environment.library
	environment.Unlock()
	a := Accelerators[device.Kind]
	gpus, err := a.Prepare(device, runtime)
	if err != nil {
		return nil, err
	}
	if err := s.forGPU(device.Float16 && !a.Rounds); err != nil {
		return nil, err
	}
	return gpus, s.prove(a, gpus[0], device)
}

// forGPU pools in the graph, so that a GPU gives back one vector a sentence, and rounds products to float16. The
// model is then one without pooling.
func (s *Session) forGPU(half bool) error {
	m, data := s.Model, s.data
	var err error
	if data == nil {
		if data, err = m.ReadFile(m.ONNX); err != nil {
			return err
		}
	}
	change := func(f func(g *onnxgraph.Graph) ([]byte, error)) {
		var g *onnxgraph.Graph
		if err == nil {
			g, err = onnxgraph.Parse(data)
		}
		if err == nil {
			data, err = f(g)
		}
	}
	change(func(g *onnxgraph.Graph) ([]byte, error) {
		s.IDs = onnxgraph.Rows(g, m.Inputs.IDs)
		return g.Cut(m.Output), nil
	})
	if half {
		change(onnxgraph.HalfProducts)
	}
	changed := *m
	how, pools := map[model.Pooling]onnxgraph.Reduction{model.CLS: onnxgraph.FirstToken,
		model.Mean: onnxgraph.MeanOfTokens, model.Max: onnxgraph.MaxOfTokens}[m.Pooling]
	if pools {
		change(func(g *onnxgraph.Graph) ([]byte, error) { return onnxgraph.Pool(g, m.Output, how) })
		changed.Output, changed.Pooling = onnxgraph.Pooled, model.None
	}
	if errors.Is(err, onnxgraph.ErrHalf) {
		return badinput.Errorf("%s of encoder %s has numbers in float16 already: leave :float16 out of device",
			m.Path(m.ONNX), m.Name)
	}
	if err != nil {
		return badinput.Errorf("%s of encoder %s: %w", m.Path(m.ONNX), m.Name, err)
	}
	s.data, s.Output, s.Model = data, changed.Output, &changed
	return nil
}

// LoadOn loads the graph on a GPU. profile, if it is not empty, is the beginning of the name of a file that ONNX
// Runtime writes, when what is loaded is destroyed, on what computed which operator.
func (s *Session) LoadOn(on cuda.GPU, device gpu.Device,
	profile string) (loaded *ort.DynamicAdvancedSession, err error) {
	cuda.Guard(func() {
		loaded, err = s.load(func(o *ort.SessionOptions) error {
			if len(s.Model.External) > 0 { // the graph was changed, so it is not in its file
				if err := o.AddSessionConfigEntry(weightsFolder, s.Model.Path("")); err != nil {
					return err
				}
			}
			if err := o.SetLogSeverityLevel(ort.LoggingLevelFatal); err != nil { // errors are returned, too
				return err
			}
			if profile != "" {
				if err := o.EnableProfiling(profile); err != nil {
					return err
				}
			}
			return Accelerators[device.Kind].Use(o, s.Model, on, device)
		})
	})
	return loaded, gpu.Explain(on, err)
}

// prove runs the graph once with ONNX Runtime's profile and refuses one of which a part is computed elsewhere than on
// the GPU: ONNX Runtime gives the CPU what a provider has no kernel for, and says nothing.
func (s *Session) prove(a Accelerator, on cuda.GPU, device gpu.Device) (err error) {
	dir, err := os.MkdirTemp("", "mine-gpu-*")
	if err != nil {
		return fmt.Errorf("make a directory for ONNX Runtime's profile: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	profile := filepath.Join(dir, "profile")
	loaded, err := s.LoadOn(on, device, profile)
	if err != nil {
		return err
	}
	// Destroying the session writes the profile.
	cuda.Guard(func() { err = errors.Join(gpu.Explain(on, s.try(loaded)), loaded.Destroy()) })
	if err != nil {
		return err
	}
	files, err := filepath.Glob(profile + "*")
	if err != nil || len(files) != 1 {
		return fmt.Errorf("ONNX Runtime wrote %d profiles instead of 1 (%w)", len(files), err)
	}
	data, err := os.ReadFile(files[0])
	if err != nil {
		return err
	}
	return elsewhere(data, a, s.Model.Name)
}

// try runs the graph on two sentences of padding.
func (s *Session) try(loaded *ort.DynamicAdvancedSession) (err error) {
	length := min(8, s.Model.MaxTokens)
	inputs := make([]ort.Value, len(s.Takes))
	defer func() {
		for _, v := range inputs {
			if v != nil {
				err = errors.Join(err, v.Destroy())
			}
		}
	}()
	for i, name := range s.Takes {
		data := make([]int64, MinRows*length)
		for j := range data {
			if name == s.Model.Inputs.Mask {
				data[j] = 1
			}
		}
		if inputs[i], err = ort.NewTensor(ort.NewShape(MinRows, int64(length)), data); err != nil {
			return err
		}
	}
	output, err := ort.NewEmptyTensor[float32](ort.NewShape(MinRows, int64(s.Model.Dim)))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, output.Destroy()) }()
	return loaded.Run(inputs, []ort.Value{output})
}

// elsewhere reads a profile. What the CPU computes of shapes and other numbers than vectors is in order.
func elsewhere(profile []byte, a Accelerator, encoder string) error {
	var events []struct {
		Kind string `json:"cat"`
		Args struct {
			Op       string             `json:"op_name"`
			Provider string             `json:"provider"`
			Outputs  []map[string][]int `json:"output_type_shape"` // shape by type
		} `json:"args"`
	}
	if err := json.Unmarshal(profile, &events); err != nil {
		return fmt.Errorf("ONNX Runtime's profile of encoder %s cannot be read: %w", encoder, err)
	}
	var others []string
	there := false
	for _, e := range events {
		switch {
		case e.Kind != "Node" || e.Args.Provider == "":
		case e.Args.Provider == a.Provider:
			there = true
		case slices.Contains(a.Allowed, e.Args.Provider):
		case slices.ContainsFunc(e.Args.Outputs, isVectors) && !slices.Contains(others, e.Args.Op):
			others = append(others, e.Args.Op)
		}
	}
	switch {
	case others != nil:
		return badinput.Errorf(
			"encoder %s cannot be computed by %s, which has no %s, so that the CPU would do that: take --device cpu, or export the encoder with other operators",
			encoder, a.Provider, strings.Join(others, ", "))
	case !there:
		return badinput.Errorf(
			"no part of encoder %s was computed by %s: take --device cpu, or another ONNX Runtime with mine gpu setup",
			encoder, a.Provider)
	}
	return nil
}

// isVectors reports whether an output has rows of floating-point numbers.
func isVectors(output map[string][]int) bool {
	for kind, shape := range output {
		if strings.Contains(kind, "float") && len(shape) > 1 {
			return true
		}
	}
	return false
}
