package config

import (
	"bitextmine/encode"
	"bitextmine/encode/gpu"
	"bitextmine/encode/model"
	"bitextmine/internal/badinput"
	"bitextmine/pipeline/plan"
	"bitextmine/pipeline/setting"
)

// Models are the opened encoders of a run.
type Models struct {
	Encoder *model.Model
	Strong  *model.Model // two-stage mining; nil: there is one encoder
	Judge   *model.Model // of pairs in doubt; nil: there is none
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
	return m, Place(c, m)
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

// Place records what computes the encoders. A device that would compute nothing is refused: a user who asks for a GPU
// must not silently get the CPU.
func Place(c *Config, m Models) (err error) {
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
