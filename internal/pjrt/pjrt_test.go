package pjrt

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/klog/v2"

	"bitextmine/internal/badinput"
	"bitextmine/internal/pjrt/pjrttest"
)

// TestWithoutHome: a program says nothing of plugins as it begins, and logs later.
func TestWithoutHome(t *testing.T) {
	if os.Getenv("MINE_TEST_WITHOUT_HOME") != "" {
		klog.Error("logged")
		klog.Flush()
		return
	}
	cmd := exec.Command(os.Args[0], "-test.run=TestWithoutHome")
	cmd.Env = []string{"MINE_TEST_WITHOUT_HOME=1", "LD_LIBRARY_PATH=" + os.Getenv("LD_LIBRARY_PATH")}
	out, err := cmd.CombinedOutput()
	if err != nil || strings.Contains(string(out), "home directory") || !strings.Contains(string(out), "logged") {
		t.Errorf("%v: %s", err, out)
	}
}

// TestFind: a relative path is made absolute, so that nothing is downloaded.
func TestFind(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	if err := os.WriteFile("plugin.so", []byte("no library"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir("a,b", 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("GOPJRT_CUDA_CHECKS", "")
	for plugin, want := range map[string]string{"": "needs a PJRT plugin", "absent.so": "absent.so, which cannot be used", "a,b": "with a comma", "plugin.so": ""} {
		t.Setenv(Env, plugin)
		got, err := Find(CUDA)
		if want == "" && (err != nil || got != filepath.Join(dir, "plugin.so")) {
			t.Errorf("%q: %q, %v", plugin, got, err)
		}
		if want != "" && (!badinput.Is(err) || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: %v, want %q", plugin, err, want)
		}
	}
	if got, err := Find("xla:plugin.so"); err != nil || got != filepath.Join(dir, "plugin.so") {
		t.Errorf("xla:PATH: %q, %v", got, err)
	}
	if _, err := Find("xla:"); !badinput.Is(err) || !strings.Contains(err.Error(), "names no plugin") {
		t.Errorf("no path: %v", err)
	}
	if !Is("cuda") || !Is("xla:x") || Is("cpu") {
		t.Error("cuda and xla:PATH have plugins, cpu has none")
	}
}

func TestOpen(t *testing.T) {
	path := filepath.Join(t.TempDir(), "plugin.so")
	if err := os.WriteFile(path, []byte("no library"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(path); !badinput.Is(err) || !strings.Contains(err.Error(), path) || strings.Contains(err.Error(), "\n") {
		t.Errorf("a file that is no plugin: %v", err)
	}
	client, err := Open(pjrttest.Plugin(t))
	if err != nil {
		t.Fatal(err)
	}
	if client.Platform() != "cpu" || client.NumDevices() == 0 {
		t.Errorf("%d devices of %q", client.NumDevices(), client.Platform())
	}
	if err := client.Destroy(); err != nil {
		t.Error(err)
	}
}
