package config

import (
	"path/filepath"
	"slices"
	"strings"

	"bitextmine/corpus/input"
	"bitextmine/encode"
	"bitextmine/encode/embedding"
	"bitextmine/encode/gpu"
	"bitextmine/encode/model"
	"bitextmine/internal/badinput"
	"bitextmine/pipeline/plan"
	"bitextmine/pipeline/setting"
	"bitextmine/pipeline/stage"
	"bitextmine/score"
)

// Models are the opened encoders of a run.
type Models struct {
	Encoder *model.Model
	Strong  *model.Model // two-stage mining; nil: there is one encoder
	Judge   *model.Model // judges pairs in doubt; nil: there is none
}

// OpenModels loads the encoders that the settings name, and records what computes them.
func OpenModels(c *Config) (m Models, err error) {
	if m.Encoder, err = Encoder(c); err != nil {
		return m, err
	}
	if m.Strong, err = setting.OpenRefiner(c.Refining, m.Encoder); err != nil {
		return m, err
	}
	if m.Judge, err = setting.OpenJudge(c.Judging); err != nil {
		return m, err
	}
	return m, place(c, m)
}

// Refiner returns the plan's entry of the strong encoder; nil without one.
func (m Models) Refiner(c *Config) *plan.Refiner {
	if m.Strong == nil {
		return nil
	}
	return &plan.Refiner{Encoder: c.Refine, Name: m.Strong.Name, Dim: m.Strong.Dim}
}

// PlanJudge returns the plan's entry of the judge; nil without one.
func (m Models) PlanJudge(c *Config) *plan.Judge {
	if m.Judge == nil {
		return nil
	}
	return &plan.Judge{Model: c.Judge, Name: m.Judge.Name, Merge: m.Judge.Judge.Merge}
}

// Weights returns what the encoders that compute on the CPU have in memory.
func (m Models) Weights(c *Config) (w stage.Weights, err error) {
	for _, of := range []struct {
		model  *model.Model
		device string
		into   *int64
	}{
		{m.Encoder, c.arithmetic.EncoderDevice, &w.Encoder}, {m.Strong, c.arithmetic.RefineDevice, &w.Refiner},
		{m.Judge, c.arithmetic.JudgeDevice, &w.Judge},
	} {
		if of.device != "" || of.model == m.Encoder && c.HasVectors() {
			continue
		}
		if *of.into, err = setting.WeightsOf(of.model); err != nil {
			return w, err
		}
	}
	return w, nil
}

// place records what computes the encoders. A device that would compute nothing is refused: a user who asks for a GPU
// must not silently get the CPU.
func place(c *Config, m Models) (err error) {
	if c.arithmetic.RefineDevice, err = setting.ArithmeticOf(c.Resources, m.Strong); err != nil {
		return err
	}
	if c.arithmetic.JudgeDevice, err = setting.ArithmeticOf(c.Resources, m.Judge); err != nil {
		return err
	}
	if !c.HasVectors() {
		if c.arithmetic.EncoderDevice, err = setting.ArithmeticOf(c.Resources, m.Encoder); err != nil {
			return err
		}
	}
	device, err := gpu.Parse(c.Device)
	if err == nil && !device.OnCPU() && c.arithmetic == (setting.Arithmetic{}) {
		return badinput.Errorf("device = %s would compute nothing: %s is a table, which the CPU sums faster, or its vectors are "+
			"given; take --device cpu, or a strong encoder with --refine", c.Device, m.Encoder.Name)
	}
	return err
}

// OptionsOf are the settings that an encoder is opened with on the device. With refine, a table stays on the CPU beside
// the strong encoder.
func OptionsOf(c *Config, m *model.Model) (encode.Options, error) {
	arithmetic, err := setting.ArithmeticOf(c.Resources, m)
	if err != nil {
		return encode.Options{}, err
	}
	options, err := setting.OnDevice(c.Resources, arithmetic)
	if arithmetic == "" && c.Refine == "" {
		options.OnCPU = options.Device.OnCPU() // a table on a GPU is refused
	}
	return options, err
}

// DeviceOfTasks returns the device that tasks which encode are given; empty: the CPU.
func DeviceOfTasks(c *Config) string {
	if c.arithmetic == (setting.Arithmetic{}) {
		return ""
	}
	return c.Device
}

// Encoder loads the encoder of a run. Where another program made the vectors, it is the encoder that the settings name;
// without a name only the dimension is known.
func Encoder(c *Config) (*model.Model, error) {
	if !c.HasVectors() {
		return model.Load(c.Encoder)
	}
	var m *model.Model
	of := "the encoder " + c.Encoder
	for _, target := range []bool{false, true} {
		files, err := vectorFiles(c, target)
		if err != nil {
			return nil, err
		}
		for _, file := range files {
			if m == nil {
				if m, err = setting.OpenEncoder(c.Encoder, file.Dim); err != nil {
					return nil, err
				}
				if c.Encoder == "" {
					of = file.Path
				}
			}
			if file.Dim != m.Dim {
				return nil, badinput.Errorf("%s has rows of %d values, and %s of %d: give vectors that one encoder made", file.Path, file.Dim, of, m.Dim)
			}
		}
	}
	if m == nil {
		return nil, badinput.Errorf("src_emb and tgt_emb name no file of vectors: %s only describe such files; name those",
			strings.Join(slices.Concat(c.SourceEmb, c.TargetEmb), ", "))
	}
	return m, nil
}

// UnnamedEncoder says whether the vectors are of an encoder that the program cannot ask for others.
func UnnamedEncoder(c *Config) bool { return c.HasVectors() && c.Encoder == "" }

// validateGiven checks the settings of vectors that another program made.
func validateGiven(c *Config, fail func(format string, args ...any)) {
	dtype := embedding.DType(c.EmbDType)
	if dtype != embedding.Float32 && dtype != embedding.Float16 && (dtype != "" || c.HasVectors()) {
		fail("emb_dtype %q is not known; choose float32 or float16", c.EmbDType)
	}
	switch {
	case !c.HasVectors() && c.EmbDim != 0:
		fail("emb_dim = %d is of src_emb and tgt_emb, which name no file", c.EmbDim)
	case !c.HasVectors() && c.Encoder == "":
		fail("encoder names no encoder")
	case !c.HasVectors():
	case len(c.SourceEmb) == 0 || len(c.TargetEmb) == 0:
		fail("src_emb and tgt_emb belong together: give both")
	case c.Encoder == "" && c.Scorer != "" && c.Scorer != score.None && c.Scorer != score.Auto:
		fail("scorer = %s must know the encoder that made src_emb and tgt_emb: name it with --encoder, or let the margin decide with --scorer none", c.Scorer)
	}
}

// vectorFiles lists the files of vectors of one side, in the order in which they are named, each with its shape.
func vectorFiles(c *Config, target bool) ([]plan.Vectors, error) {
	patterns := c.SourceEmb
	if target {
		patterns = c.TargetEmb
	}
	var files []plan.Vectors
	for _, pattern := range patterns {
		found, err := input.Expand(nil, []string{pattern})
		if err != nil {
			return nil, err
		}
		for _, in := range found {
			if filepath.Ext(in.Path) == ".json" { // stands beside every .npy of mine encode
				continue
			}
			file, err := shapeOf(in.Path, c.Given)
			if err != nil {
				return nil, err
			}
			files = append(files, file)
		}
	}
	return files, nil
}

// shapeOf reads how many rows a file of vectors has, and of what.
func shapeOf(path string, given setting.Given) (plan.Vectors, error) {
	if filepath.Ext(path) != ".npy" {
		file, err := embedding.OpenVectors(path, given.EmbDim, embedding.DType(given.EmbDType), "--emb-dim")
		if err != nil {
			return plan.Vectors{}, err
		}
		shape := plan.Vectors{Path: path, Rows: file.N, Dim: file.Dim, Raw: given.EmbDType}
		return shape, file.Close()
	}
	meta, err := embedding.Shape(path)
	if err == nil && meta.DType == embedding.Float64 {
		err = badinput.Errorf("%s holds values of type float64, which would have to be in memory at once as float32; save it again with astype('<f4')", path)
	}
	return plan.Vectors{Path: path, Rows: meta.N, Dim: meta.Dim}, err
}

// vectorsByText pairs the text files of one side, by their input.Identity, with the files of vectors, by the order in
// which both are named.
func vectorsByText(c *Config, target bool) (map[string]*plan.Vectors, error) {
	if !c.HasVectors() {
		return nil, nil
	}
	language, patterns, flag := c.side(target)
	var texts []string
	seen := map[string]bool{}
	for _, pattern := range patterns {
		found, err := expand([]string{pattern}, language, flag, false)
		if err != nil {
			return nil, err
		}
		for _, in := range found {
			identity, err := input.Identity(in)
			if err != nil {
				return nil, err
			}
			if !seen[identity] {
				texts = append(texts, identity)
			}
			seen[identity] = true
		}
	}
	files, err := vectorFiles(c, target)
	if err != nil {
		return nil, err
	}
	if len(files) != len(texts) {
		return nil, badinput.Errorf("the %s text is in %d files and its vectors in %d: give one file of vectors for each text file, in the order of %s, with %s",
			language, len(texts), len(files), flag, map[bool]string{false: "--src-emb", true: "--tgt-emb"}[target])
	}
	paired := map[string]*plan.Vectors{}
	for i, text := range texts {
		digest, err := plan.DigestInput(input.File{Path: files[i].Path})
		if err != nil {
			return nil, err
		}
		files[i].SHA256 = digest.SHA256
		paired[text] = &files[i]
	}
	return paired, nil
}
