package setting

import (
	"reflect"
	"strings"
	"testing"

	"bitextmine/encode/encodetest"
	"bitextmine/encode/gpu"
	"bitextmine/encode/model"
	"bitextmine/fixtures"
	"bitextmine/internal/badinput"
)

// TestNoSettingIsLeftOut: every setting of approximate indexes, and every resource that a search or an encoder takes,
// reaches its options.
func TestNoSettingIsLeftOut(t *testing.T) {
	search := reflect.TypeFor[Searching]()
	for i := range search.NumField() {
		if _, ok := search.Field(i).Tag.Lookup("search"); !ok {
			continue
		}
		var s Searching
		reflect.ValueOf(&s).Elem().Field(i).SetInt(7)
		if got := SearchOptions(s, Resources{}); got == SearchOptions(Searching{}, Resources{}) {
			t.Errorf("%s is not among the options of a search", search.Field(i).Name)
		}
	}
	r := Resources{Threads: 3, ONNXRuntime: "library"}
	if got := SearchOptions(Searching{}, r); got.Threads != 3 {
		t.Errorf("a search is opened with %+v", got)
	}
	if got := EncoderOptions(r); got.Threads != 3 || got.Library != "library" || !got.OnCPU {
		t.Errorf("an encoder is opened with %+v", got)
	}
}

// TestDeviceIsThePlans: an encoder is opened on the device that its plan was made for, or not at all.
func TestDeviceIsThePlans(t *testing.T) {
	r := Resources{Device: "cuda:0,2:float16"}
	if got, err := OnDevice(r, "cuda float16 2"); err != nil || got.OnCPU || got.Device.Kind != gpu.CUDA || got.Device.GPUs != 5 {
		t.Errorf("opened with %+v, %v", got, err)
	}
	if got, err := OnDevice(r, ""); err != nil || !got.OnCPU {
		t.Errorf("what was planned for the CPU is opened with %+v, %v", got, err)
	}
	for _, device := range []string{"", "cpu", "cuda", "tensorrt:float16"} {
		if _, err := OnDevice(Resources{Device: device}, "cuda float16 2"); err == nil || !badinput.Is(err) || !strings.Contains(err.Error(), "made for device cuda float16 2") {
			t.Errorf("device %q: %v", device, err)
		}
	}
}

// TestArithmetic: which GPUs compute is in no key, and a table is always the CPU's.
func TestArithmetic(t *testing.T) {
	for _, c := range []struct{ model, device, want string }{
		{encodetest.Bag(), "cpu", ""},
		{encodetest.Bag(), "cuda:3", "cuda"},
		{encodetest.Bag(), "tensorrt:all:float16", "tensorrt float16"},
		{fixtures.Encoder, "cuda", ""},
	} {
		m, err := model.Load(c.model)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := ArithmeticOf(Resources{Device: c.device}, m); err != nil || got != c.want {
			t.Errorf("%s on %s: %q, %v; want %q", c.model, c.device, got, err, c.want)
		}
	}
}
