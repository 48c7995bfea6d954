// The libraries of ONNX Runtime's GPU providers are published as wheels, which are zip archives, on the Python package
// index; wheels.txt pins each by its SHA-256. Only shared libraries are unpacked, into a directory of the user's cache,
// which is created atomically. No Python is needed.

package gpu

import (
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"bitextmine/internal/badinput"
)

//go:embed wheels.txt
var pinned string

// Wheel is one file of the index.
type Wheel struct {
	Package, File string
	SHA256        string
	Size          int64
}

// WheelSet lists the wheels of one installation.
type WheelSet struct {
	Name   string // cuda12 or cuda13
	Wheels []Wheel
}

// WheelSets are the pinned sets, in the order of the list.
func WheelSets() []WheelSet { return parse(pinned) }

// NamedWheels returns the set of a name.
func NamedWheels(name string) (WheelSet, error) {
	var names []string
	for _, s := range WheelSets() {
		if s.Name == name {
			return s, nil
		}
		names = append(names, s.Name)
	}
	return WheelSet{}, badinput.Errorf("%q is no set of GPU libraries: choose %s", name, strings.Join(names, " or "))
}

// parse reads a list, which is in the program.
func parse(list string) []WheelSet {
	var all []WheelSet
	for line := range strings.Lines(list) {
		words := strings.Fields(line)
		if len(words) == 0 || words[0] == "#" {
			continue
		}
		if len(words) != 5 {
			panic(fmt.Sprintf("wheels.txt: %q has %d words instead of 5", line, len(words)))
		}
		size, err := strconv.ParseInt(words[4], 10, 64)
		if err != nil {
			panic(fmt.Sprintf("wheels.txt: %v", err))
		}
		if len(all) == 0 || all[len(all)-1].Name != words[0] {
			all = append(all, WheelSet{Name: words[0]})
		}
		s := &all[len(all)-1]
		s.Wheels = append(s.Wheels, Wheel{Package: words[1], File: words[2], SHA256: words[3], Size: size})
	}
	return all
}

// CUDA is the major version of CUDA that the set is for.
func (s WheelSet) CUDA() int {
	n, err := strconv.Atoi(strings.TrimPrefix(s.Name, "cuda"))
	if err != nil {
		panic(fmt.Sprintf("wheels.txt: %v", err))
	}
	return n
}

// Bytes is the size of all wheels.
func (s WheelSet) Bytes() (n int64) {
	for _, w := range s.Wheels {
		n += w.Size
	}
	return n
}

// Directory is the name of the set's directory. It has a digest of the list, so that another release of the program
// with other wheels does not take the old ones for its own.
func (s WheelSet) Directory() string {
	sum := sha256.New()
	for _, w := range s.Wheels {
		fmt.Fprintln(sum, w.SHA256)
	}
	return s.Name + "-" + hex.EncodeToString(sum.Sum(nil))[:8]
}

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
