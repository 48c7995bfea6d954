package encoder

import (
	"path"
	"path/filepath"
	"slices"
	"strings"

	"bitextmine/internal/badinput"
	"bitextmine/train/export"
	"bitextmine/train/weights"
)

// ReadClassifier reads the two dense layers that a BERT or RoBERTa which classifies sequences has on the first token's
// vector of width numbers: one with tanh, and the labels'.
func ReadClassifier(dir string, width, labels int) ([]export.Dense, error) {
	s, err := readConfig(filepath.Join(dir, configName))
	if err != nil {
		return nil, err
	}
	heads := [2]string{"pooler.dense", "classifier"}
	if s.PositionOffset > 0 { // RoBERTa
		heads = [2]string{"classifier.dense", "classifier.out_proj"}
	}
	name := func(tensor string) string { return strings.TrimPrefix(tensor, "bert.") }
	read, err := weights.ReadModel(dir, func(tensor string) bool {
		return slices.Contains(heads[:], strings.TrimSuffix(name(tensor), path.Ext(tensor)))
	})
	if err != nil {
		return nil, err
	}
	found := map[string]*weights.Tensor{}
	for _, t := range read {
		found[name(t.Name)] = t
	}
	var dense []export.Dense
	for i, layer := range heads {
		weight, bias, out := found[layer+".weight"], found[layer+".bias"], [2]int{width, labels}[i]
		if weight == nil || bias == nil || !slices.Equal(weight.Shape, []int{out, width}) ||
			!slices.Equal(bias.Shape, []int{out}) || !weight.Sound() || !bias.Sound() {
			return nil, badinput.Errorf("%s has no sound %s of %d to %d numbers, which a classifier of %d labels has: fetch it again, "+
				"or export the model to ONNX", dir, layer, width, out, labels)
		}
		transpose(weight)
		dense = append(dense, export.Dense{Weight: weight.Data, Bias: bias.Data, In: width, Out: out, Activation: [2]string{"Tanh", ""}[i]})
	}
	return dense, nil
}
