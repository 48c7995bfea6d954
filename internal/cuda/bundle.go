package cuda

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
)

// oldest is the compute capability, times 10, that kernels for every GPU need: that of Ampere.
const oldest = 80

// Bundle has kernels, some of them for several kinds of GPUs.
type Bundle []Source

// ReadBundle reads what compiling.py wrote.
func ReadBundle(data []byte) (all Bundle) {
	r, err := gzip.NewReader(bytes.NewReader(data))
	if err == nil {
		err = json.NewDecoder(r).Decode(&all)
	}
	if err != nil {
		panic(err) // the program was built of another file
	}
	return all
}

// Find is the kernel of a name for a GPU, with an empty PTX if there is none. The matrix units of compute capability
// 9.0 have code of their own.
func (all Bundle) Find(name string, on GPU) (found Source) {
	for _, s := range all {
		if s.Name == name && (s.Capability == oldest && found.PTX == "" || s.Capability == 10*on.Major+on.Minor) {
			found = s
		}
	}
	return found
}

// TooOld says that a GPU is older than all kernels.
func (g GPU) TooOld() bool { return 10*g.Major+g.Minor < oldest }
