package gpu

import (
	"fmt"
	"reflect"
	"testing"

	"bitextmine/encode/encodetest"
	"bitextmine/internal/cuda"
)

func TestParse(t *testing.T) {
	for _, c := range []struct {
		text       string
		want       Device
		arithmetic string
	}{
		{"", Device{}, ""},
		{"cpu", Device{}, ""},
		{"cuda", Device{Kind: CUDA, GPUs: 1}, "cuda"},
		{"cuda:2,0", Device{Kind: CUDA, GPUs: 5}, "cuda"},
		{"cuda:all", Device{Kind: CUDA, All: true}, "cuda"},
		{"cuda:float16", Device{Kind: CUDA, GPUs: 1, Float16: true}, "cuda float16 2"},
		{"tensorrt:all:float16", Device{Kind: TensorRT, All: true, Float16: true}, "tensorrt float16"},
	} {
		got, err := Parse(c.text)
		if err != nil || !reflect.DeepEqual(got, c.want) || got.Arithmetic() != c.arithmetic {
			t.Errorf("%q is %+v (%s), %v; want %+v (%s)", c.text, got, got.Arithmetic(), err, c.want, c.arithmetic)
		}
	}
	for _, text := range []string{"gpu", "cuda:", "cuda:x", "cuda:-1", "cuda:0,0", "cuda:0:1", "cuda:64", "cuda:all:bfloat16", "cpu:0", "cuda:float16:0", ":0"} {
		_, err := Parse(text)
		encodetest.Refused(t, err, fmt.Sprintf("device = %q is not known", text))
	}
}

func TestChoose(t *testing.T) {
	d := cuda.Driver{CUDA: 13000, GPUs: []cuda.GPU{{Number: 0, Name: "NVIDIA H200", Major: 9}, {Number: 1, Name: "NVIDIA H200", Major: 9}, {Number: 2, Name: "NVIDIA L4", Major: 8, Minor: 9}}}
	chosen, err := Choose(d, Device{Kind: CUDA, GPUs: 3})
	if err != nil || len(chosen) != 2 || chosen[1].Number != 1 {
		t.Errorf("chose %v, %v", chosen, err)
	}
	_, err = Choose(d, Device{Kind: CUDA, GPUs: 9})
	encodetest.Refused(t, err, "device names GPU 3, but the driver shows 3")
	_, err = Choose(d, Device{Kind: CUDA, All: true})
	encodetest.Refused(t, err, "GPU 0 is NVIDIA H200 and GPU 2 is NVIDIA L4")
}
