package config

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"bitextmine/encode/encodetest"
	"bitextmine/fixtures"
	"bitextmine/internal/badinput"
)

// TestDeviceInKeys: what computes vectors is in the settings that keys are made of, with its precision and without the
// numbers of the GPUs, and on the CPU nothing is.
func TestDeviceInKeys(t *testing.T) {
	for _, c := range []struct{ encoder, refine, device, want, refuses string }{
		{fixtures.Encoder, "", "", "", ""},
		{encodetest.Bag(), "", "cpu", "", ""},
		{encodetest.Bag(), "", "cuda:1", `"encoder_device":"cuda"`, ""},
		{encodetest.Bag(), "", "cuda:all:float16", `"encoder_device":"cuda float16 2"`, ""},
		{fixtures.Encoder, encodetest.Bag(), "cuda:0,1", `"refine_device":"cuda"`, ""},
		{fixtures.Encoder, "", "cuda", "", "device = cuda would compute nothing: use-static is a table"},
		{encodetest.Bag(), "", "gpu", "", `device = "gpu" is not known`},
	} {
		cfg := Config{}
		cfg.Encoder, cfg.Refine, cfg.Device = c.encoder, c.refine, c.device
		m, err := OpenModels(&cfg)
		if c.refuses != "" {
			if err == nil || !badinput.Is(err) || !strings.Contains(err.Error(), c.refuses) {
				t.Errorf("%+v: %v", c, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%+v: %v", c, err)
			continue
		}
		for _, settings := range []any{SettingsOf(&cfg, "exact", m, nil), RecordOf(&cfg, m, nil)} {
			data, err := json.Marshal(settings)
			if err != nil {
				t.Fatal(err)
			}
			if n := strings.Count(string(data), "_device\""); c.want == "" && n != 0 || c.want != "" && (n != 1 || !strings.Contains(string(data), c.want)) {
				t.Errorf("%+v: the settings are %s", c, data)
			}
		}
		if told := DeviceOfTasks(&cfg); (told == "") != (c.want == "") || told != "" && told != c.device {
			t.Errorf("%+v: tasks are told %q", c, told)
		}
	}
}

// TestVectorsThatAreNone: files that only describe vectors are refused.
func TestVectorsThatAreNone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "de.npy.json")
	if err := os.WriteFile(path, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg := Config{}
	cfg.SourceEmb, cfg.TargetEmb = []string{path}, []string{path}
	if _, err := OpenModels(&cfg); !badinput.Is(err) || !strings.Contains(err.Error(), "name no file of vectors") || !strings.Contains(err.Error(), path) {
		t.Errorf("error %v", err)
	}
}

// TestPodsGetTheirGPUs: pods that are to encode on GPUs must be given some.
func TestPodsGetTheirGPUs(t *testing.T) {
	cfg := Config{}
	cfg.Engine, cfg.Device = "kubernetes", "cuda:all"
	if err := cfg.Validate(); err == nil || !strings.Contains(err.Error(), "device = cuda:all, but kubernetes_gpus is 0") {
		t.Errorf("got %v", err)
	}
	cfg.KubernetesGPUs = 1
	if err := cfg.Validate(); err == nil || strings.Contains(err.Error(), "kubernetes_gpus") {
		t.Errorf("got %v", err)
	}
}
