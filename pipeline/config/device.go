package config

import (
	"bitextmine/encode"
	"bitextmine/encode/gpu"
	"bitextmine/encode/model"
	"bitextmine/internal/badinput"
	"bitextmine/pipeline/setting"
)

// Models loads the encoder and the strong one of two-stage mining, nil without one, and notes what computes them.
func Models(c *Config) (encoder, refiner *model.Model, err error) {
	if encoder, err = Encoder(c); err != nil {
		return nil, nil, err
	}
	if refiner, err = setting.OpenRefiner(c.Refining, encoder); err != nil {
		return nil, nil, err
	}
	return encoder, refiner, Place(c, encoder, refiner)
}

// Place notes what computes the encoders. A device that would compute nothing is refused: who asks for a GPU is not
// given the CPU without a word.
func Place(c *Config, encoder, refiner *model.Model) (err error) {
	if c.arithmetic.RefineDevice, err = setting.OpenedArithmetic(c.Resources, refiner); err != nil {
		return err
	}
	if !c.HasVectors() {
		if c.arithmetic.EncoderDevice, err = setting.OpenedArithmetic(c.Resources, encoder); err != nil {
			return err
		}
	}
	device, err := gpu.Parse(c.Device)
	if err == nil && !device.OnCPU() && c.arithmetic.EncoderDevice == "" && c.arithmetic.RefineDevice == "" {
		return badinput.Errorf("device = %s would compute nothing: %s is a table, which the CPU sums faster, or its vectors are given; take --device cpu, or a strong encoder with --refine", c.Device, encoder.Name)
	}
	return err
}

// OptionsOf are the settings that an encoder is opened with on the device. With refine, a table stays on the CPU beside
// the strong encoder.
func OptionsOf(c *Config, m *model.Model) (encode.Options, error) {
	arithmetic, err := setting.OpenedArithmetic(c.Resources, m)
	if err != nil {
		return encode.Options{}, err
	}
	options, err := setting.OnDevice(c.Resources, arithmetic)
	if arithmetic == "" && c.Refine == "" {
		options.OnCPU = options.Device.OnCPU() // a table on a GPU is refused
	}
	return options, err
}

// DeviceOfTasks is what tasks that encode are told of the device; empty: nothing, as on the CPU.
func DeviceOfTasks(c *Config) string {
	if c.arithmetic == (setting.Arithmetic{}) {
		return ""
	}
	return c.Device
}
