package weights

import (
	"bytes"
	"encoding/binary"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"bitextmine/internal/badinput"
)

func file(header string, data ...byte) []byte {
	return append(append(binary.LittleEndian.AppendUint64(nil, uint64(len(header))), header...), data...)
}

func TestWrittenIsRead(t *testing.T) {
	want := []*Tensor{
		{Name: "b", Shape: []int{2, 3}, Data: []float32{1, -2, 3.5, float32(math.Inf(1)), 0, 1e-40}},
		{Name: `a "quoted" 名`, Shape: []int{0, 4}, Data: []float32{}},
		{Name: "scalar", Shape: []int{}, Data: []float32{7}},
	}
	path := filepath.Join(t.TempDir(), ModelName)
	if err := WriteFile(path, want, map[string]string{"step": "12"}); err != nil {
		t.Fatal(err)
	}
	got, metadata, err := ReadFile(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	if metadata["step"] != "12" || len(metadata) != 1 {
		t.Errorf("metadata %v", metadata)
	}
	byName := map[string]*Tensor{}
	for _, g := range got {
		byName[g.Name] = g
	}
	for _, w := range want {
		if !reflect.DeepEqual(byName[w.Name], w) {
			t.Errorf("got %+v, want %+v", byName[w.Name], w)
		}
	}
	if err := WriteFile(path, []*Tensor{want[0], want[0]}, nil); err == nil || !strings.Contains(err.Error(), `two tensors are called "b"`) {
		t.Errorf("the same tensor twice gave %v", err)
	}
	if again, _, err := ReadFile(path, nil); err != nil || len(again) != 3 {
		t.Errorf("a failed write left %d tensors, %v", len(again), err)
	}
}

func TestHalvesAreRead(t *testing.T) {
	raw := file(`{"h":{"dtype":"F16","shape":[6],"data_offsets":[0,12]},"b":{"dtype":"BF16","shape":[2],"data_offsets":[12,16]}}`,
		0x00, 0x3c, 0x00, 0xc0, 0x01, 0x00, 0xff, 0x7b, 0x00, 0x7c, 0x00, 0x80, // 1, -2, 2^-24, 65504, inf, -0
		0x80, 0x3f, 0x49, 0x40)
	got, _, err := read(bytes.NewReader(raw), int64(len(raw)), nil)
	if err != nil {
		t.Fatal(err)
	}
	if want := []float32{1, -2, 1.0 / (1 << 24), 65504, float32(math.Inf(1)), 0}; !slices.Equal(got[0].Data, want) || !math.Signbit(float64(got[0].Data[5])) {
		t.Errorf("F16: got %v, want %v", got[0].Data, want)
	}
	if want := []float32{1, 3.140625}; !slices.Equal(got[1].Data, want) {
		t.Errorf("BF16: got %v, want %v", got[1].Data, want)
	}
}

func TestUnsoundFilesAreRefused(t *testing.T) {
	for _, c := range []struct {
		name, want string
		raw        []byte
	}{
		{"empty", "fewer than 8 bytes", nil},
		{"a header longer than the file", "its header should have 9 bytes", append(binary.LittleEndian.AppendUint64(nil, 9), '{', '}')},
		{"a header beyond all bounds", "its header should have 18446744073709551615 bytes", bytes.Repeat([]byte{255}, 16)},
		{"no object", "not a JSON object", file(`[]`)},
		{"an object without an end", "damaged", file(`{"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}`, 0)},
		{"something after the object", "something follows", file(`{}{}`)},
		{"a field too many", "unknown field", file(`{"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1],"x":1}}`, 0)},
		{"twice the same", `"a" occurs twice`, file(`{"a":{"dtype":"U8","shape":[0],"data_offsets":[0,0]},"a":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}}`)},
		{"metadata of numbers", "does not map strings to strings", file(`{"__metadata__":{"a":1}}`)},
		{"no dtype", `the dtype ""`, file(`{"a":{"shape":[1],"data_offsets":[0,1]}}`, 0)},
		{"no shape", "has no shape", file(`{"a":{"dtype":"U8","data_offsets":[0,1]}}`, 0)},
		{"no offsets", "should be at bytes 0 to 1", file(`{"a":{"dtype":"U8","shape":[1]}}`, 0)},
		{"a negative dimension", "has the shape [-1 -1]", file(`{"a":{"dtype":"U8","shape":[-1,-1],"data_offsets":[0,1]}}`, 0)},
		{"a shape beyond all bounds", "has the shape", file(`{"a":{"dtype":"F32","shape":[4294967296,4294967296,4],"data_offsets":[0,0]}}`)},
		{"too few bytes for the shape", "the tensor a of F32 [2] should be at bytes 0 to 8", file(`{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}}`, 0, 0, 0, 0)},
		{"a gap", "the tensor b of U8 [1] should be at bytes 1 to 2", file(`{"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"b":{"dtype":"U8","shape":[1],"data_offsets":[2,3]}}`, 0, 0, 0)},
		{"an overlap", "should be at bytes", file(`{"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},"b":{"dtype":"U8","shape":[2],"data_offsets":[1,3]}}`, 0, 0, 0)},
		{"a file cut short", "its tensors have 2 bytes but the file has 1", file(`{"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}}`, 0)},
		{"a tail", "its tensors have 0 bytes but the file has 1", file(`{}`, 0)},
		{"integers", "the tensor a is I64", file(`{"a":{"dtype":"I64","shape":[1],"data_offsets":[0,8]}}`, 0, 0, 0, 0, 0, 0, 0, 0)},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "x.safetensors")
			if err := os.WriteFile(path, c.raw, 0o644); err != nil {
				t.Fatal(err)
			}
			_, _, err := ReadFile(path, nil)
			if err == nil || !badinput.Is(err) || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), path) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

func TestWhatIsNotKeptMayBeOfAnyKind(t *testing.T) {
	raw := file(`{"a":{"dtype":"I64","shape":[1],"data_offsets":[0,8]},"b":{"dtype":"F32","shape":[1],"data_offsets":[8,12]}}`, make([]byte, 12)...)
	got, _, err := read(bytes.NewReader(raw), int64(len(raw)), func(name string) bool { return name == "b" })
	if err != nil || len(got) != 1 || got[0].Name != "b" {
		t.Errorf("got %v, %v", got, err)
	}
}

func TestShards(t *testing.T) {
	one := func(name string) *Tensor { return &Tensor{Name: name, Shape: []int{1}, Data: []float32{1}} }
	for _, c := range []struct{ name, index, want string }{
		{"whole", `{"metadata":{},"weight_map":{"a":"1.safetensors","b":"1.safetensors","c":"2.safetensors"}}`, ""},
		{"one missing", `{"weight_map":{"a":"1.safetensors","b":"1.safetensors","c":"2.safetensors","d":"2.safetensors"}}`, "places d in 2.safetensors, which does not hold it"},
		{"one that it does not name", `{"weight_map":{"a":"1.safetensors","c":"2.safetensors"}}`, ""},
		{"one in the wrong shard", `{"weight_map":{"a":"1.safetensors","b":"2.safetensors","c":"2.safetensors"}}`, "places b in 2.safetensors, which does not hold it"},
		{"a shard elsewhere", `{"weight_map":{"a":"../1.safetensors"}}`, "not a file beside it"},
		{"no shard", `{}`, "names no shard"},
		{"not JSON", `x`, "not the index of a model"},
		{"nothing at all", "", "convert the weights to safetensors"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			for shard, tensors := range map[string][]*Tensor{"1.safetensors": {one("a"), one("b")}, "2.safetensors": {one("c")}} {
				if err := WriteFile(filepath.Join(dir, shard), tensors, nil); err != nil {
					t.Fatal(err)
				}
			}
			if c.index != "" {
				if err := os.WriteFile(filepath.Join(dir, indexName), []byte(c.index), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			got, err := ReadModel(dir, nil)
			if c.want == "" {
				if err != nil || len(got) != 3 {
					t.Errorf("got %d tensors, %v", len(got), err)
				}
			} else if err == nil || !badinput.Is(err) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

func TestMatchNamesEveryDifference(t *testing.T) {
	specs := []Spec{{Name: "a", Shape: []int{2}}, {Name: "b", Shape: []int{2, 3}}}
	err := Match(specs, []*Tensor{{Name: "b", Shape: []int{3, 2}}, {Name: "c", Shape: []int{1}}})
	want := "the weights do not fit the model: a is missing; b has the shape [3 2] instead of [2 3]; c has no place in the model"
	if err == nil || err.Error() != want || !badinput.Is(err) {
		t.Errorf("got %v", err)
	}
	if err := Match(specs, []*Tensor{{Name: "b", Shape: []int{2, 3}}, {Name: "a", Shape: []int{2}}}); err != nil {
		t.Error(err)
	}
}

// What is read at all is read the same after it was written.
func FuzzRead(f *testing.F) {
	f.Add(file(`{"a":{"dtype":"F16","shape":[1],"data_offsets":[0,2]},"__metadata__":{"x":"y"}}`, 1, 2))
	f.Add(file(`{"a":{"dtype":"F32","shape":[1,1],"data_offsets":[0,4]}}  `, 1, 2, 3, 4))
	f.Fuzz(func(t *testing.T, raw []byte) {
		tensors, metadata, err := read(bytes.NewReader(raw), int64(len(raw)), nil)
		if err != nil {
			return
		}
		var out bytes.Buffer
		if err := write(&out, tensors, metadata); err != nil {
			t.Fatal(err)
		}
		again, _, err := read(bytes.NewReader(out.Bytes()), int64(out.Len()), nil)
		if err != nil || len(again) != len(tensors) {
			t.Fatalf("%d tensors were written and %d read: %v", len(tensors), len(again), err)
		}
	})
}
