package session

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	ort "github.com/yalue/onnxruntime_go"

	"bitextmine/encode/gpu"
	"bitextmine/internal/badinput"
)

// prove runs the graph once with ONNX Runtime's profile and refuses one of which a part is computed elsewhere than on
// the GPU: ONNX Runtime gives the CPU what a provider has no kernel for, and says nothing.
func (s *Session) prove(a Accelerator, on gpu.GPU, device gpu.Device) (err error) {
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
	gpu.Guard(func() { err = errors.Join(gpu.Explain(on, s.try(loaded)), loaded.Destroy()) })
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
