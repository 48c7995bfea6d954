package boundary

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	ort "github.com/yalue/onnxruntime_go"

	"bitextmine/encode/embedding"
	"bitextmine/internal/badinput"
)

// Names of the graph's tensors.
const (
	idsInput, maskInput = "input_ids", "attention_mask"
	logitsOutput        = "logits"
)

// tensors are the types of a graph's mask and logits, float16 in what wtpsplit exports, and the number of labels.
type tensors struct {
	mask, logits ort.TensorElementDataType
	labels       int
}

// verify compares a graph with the interface.
func verify(path string, inputs, outputs []ort.InputOutputInfo) (t tensors, err error) {
	wrong := func(format string, args ...any) error {
		return badinput.Errorf(
			"%s is not of SaT's interface: %s; export the model with wtpsplit's export_to_onnx_sat.py",
			path, fmt.Sprintf(format, args...))
	}
	var found []string
	for _, in := range inputs {
		found = append(found, in.Name)
		switch in.Name {
		case idsInput:
			if in.DataType != ort.TensorElementDataTypeInt64 || len(in.Dimensions) != 2 {
				return t, wrong("its input %s is no int64 [batch, tokens]", idsInput)
			}
		case maskInput:
			t.mask = in.DataType
			known := []ort.TensorElementDataType{ort.TensorElementDataTypeFloat16, ort.TensorElementDataTypeFloat,
				ort.TensorElementDataTypeInt64}
			if !slices.Contains(known, t.mask) || len(in.Dimensions) != 2 {
				return t, wrong("its input %s is no float16, float32 or int64 [batch, tokens]", maskInput)
			}
		}
	}
	if slices.Sort(found); !slices.Equal(found, []string{maskInput, idsInput}) {
		return t, wrong("it has the inputs %s instead of %s and %s", strings.Join(found, ", "), idsInput, maskInput)
	}
	k := slices.IndexFunc(outputs, func(out ort.InputOutputInfo) bool { return out.Name == logitsOutput })
	if k < 0 {
		return t, wrong("it has no output %s", logitsOutput)
	}
	kind, shape := outputs[k].DataType, outputs[k].Dimensions
	if kind != ort.TensorElementDataTypeFloat16 && kind != ort.TensorElementDataTypeFloat || len(shape) != 3 ||
		shape[2] < 1 {
		return t, wrong("its output %s is no float16 or float32 [batch, tokens, labels] with a fixed number of labels",
			logitsOutput)
	}
	t.logits, t.labels = kind, int(shape[2])
	return t, nil
}

// window computes the logits of some tokens: the first label's, which is the end of a sentence.
func (s *Splitter) window(tokens []token) (_ []float32, err error) {
	n := len(tokens) + 2
	shape := ort.NewShape(1, int64(n))
	ids := make([]int64, 1, n)
	ids[0] = first
	for _, t := range tokens {
		ids = append(ids, t.id)
	}
	ids = append(ids, last)
	values := make([]ort.Value, 0, 3)
	defer func() {
		for _, v := range values {
			err = errors.Join(err, v.Destroy())
		}
	}()
	add := func(v ort.Value, err error) error {
		if err == nil {
			values = append(values, v)
		}
		return err
	}
	logits := make([]float32, n*s.tensors.labels)
	half := make([]byte, 2*len(logits))
	if err := add(ort.NewTensor(shape, ids)); err != nil {
		return nil, err
	}
	if err := add(ones(shape, n, s.tensors.mask)); err != nil {
		return nil, err
	}
	shape = ort.NewShape(1, int64(n), int64(s.tensors.labels))
	if s.tensors.logits == ort.TensorElementDataTypeFloat16 {
		err = add(ort.NewCustomDataTensor(shape, half, s.tensors.logits))
	} else {
		err = add(ort.NewTensor(shape, logits))
	}
	if err != nil {
		return nil, err
	}
	if err := s.session.Run(values[:2], values[2:]); err != nil {
		return nil, s.failed(err, len(tokens))
	}
	if s.tensors.logits == ort.TensorElementDataTypeFloat16 {
		for k := range logits {
			logits[k] = embedding.Widen(binary.LittleEndian.Uint16(half[2*k:]))
		}
	}
	return s.ends(logits, n)
}

// failed says what an error of the graph means.
func (s *Splitter) failed(err error, tokens int) error {
	switch {
	case strings.Contains(err.Error(), "out of data bounds"):
		return badinput.Errorf("%s has tokens that %s does not know: put there what the model was made for",
			s.model.tokenizer, s.model.graph)
	case strings.Contains(err.Error(), "invalid dimensions for output"):
		return badinput.Errorf("%s does not give each token its logits: use a SaT model", s.model.graph)
	}
	return fmt.Errorf("find sentences in %d tokens with %s: %w", tokens, s.model.graph, err)
}

// ones is a mask that masks nothing.
func ones(shape ort.Shape, n int, kind ort.TensorElementDataType) (ort.Value, error) {
	switch kind {
	case ort.TensorElementDataTypeInt64:
		return ort.NewTensor(shape, slices.Repeat([]int64{1}, n))
	case ort.TensorElementDataTypeFloat:
		return ort.NewTensor(shape, slices.Repeat([]float32{1}, n))
	}
	const one = 0x3c00 // 1 in float16
	data := make([]byte, 0, 2*n)
	for range n {
		data = binary.LittleEndian.AppendUint16(data, one)
	}
	return ort.NewCustomDataTensor(shape, data, kind)
}

// ends takes the first label of all tokens but the special ones at both ends.
func (s *Splitter) ends(logits []float32, n int) ([]float32, error) {
	ends := make([]float32, n-2)
	for k := range ends {
		if ends[k] = logits[(k+1)*s.tensors.labels]; math.IsNaN(float64(ends[k])) {
			return nil, badinput.Errorf("%s gives a logit that is not a number: use a graph in float32", s.model.graph)
		}
	}
	return ends, nil
}
