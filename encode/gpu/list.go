// The libraries of ONNX Runtime's GPU providers are published as wheels, which are zip archives, on the Python package
// index; wheels.txt pins each by its SHA-256. Only shared libraries are unpacked, into a directory of the user's cache,
// which is created atomically. No Python is needed.

package gpu

import (
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"fmt"
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
