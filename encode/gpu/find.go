package gpu

import (
	"fmt"
	"os"
	"path/filepath"

	"bitextmine/internal/badinput"
)

// Parent is the directory with what `mine gpu setup` installs.
func Parent() (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", badinput.Errorf("there is no cache directory for GPU libraries: %w: set XDG_CACHE_HOME", err)
	}
	return filepath.Join(cache, "mine", "gpu"), nil
}

// Installed returns ONNX Runtime's library of the newest installed set that a driver supports; empty: there is none.
func Installed(driver Driver) string {
	parent, err := Parent()
	if err != nil {
		return ""
	}
	for _, s := range WheelSets() {
		if driver.CUDA < 1000*s.CUDA() {
			continue
		}
		found, err := filepath.Glob(filepath.Join(parent, s.Directory(), "libonnxruntime.so*"))
		if err == nil && len(found) > 0 {
			return found[0]
		}
	}
	return ""
}

// Suited returns the newest set that a driver supports.
func Suited(driver Driver) (WheelSet, error) {
	for _, s := range WheelSets() {
		if driver.CUDA >= 1000*s.CUDA() {
			return s, nil
		}
	}
	return WheelSet{}, badinput.Errorf(
		"the NVIDIA driver supports CUDA %s at most, for which there is no ONNX Runtime that this program can use: install driver 525 or newer",
		driver.Version())
}

// Set returns the set of a major version of CUDA.
func Set(cuda int) (WheelSet, error) { return NamedWheels(fmt.Sprintf("cuda%d", cuda)) }
