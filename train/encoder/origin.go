package encoder

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"

	"bitextmine/internal/badinput"
	"bitextmine/train/checkpoint"
	"bitextmine/train/weights"
)

// Origin says where the frozen weights of a training are.
type Origin struct {
	Start  string `json:"start"`  // encoder.start of the training
	SHA256 string `json:"sha256"` // digest of their names, shapes and values
}

// OriginOf returns the origin of the frozen ones of an encoder's weights, or nil if there are none.
func OriginOf(start string, all []*weights.Tensor) *Origin {
	sum, any := digest(all, func(w *weights.Tensor) bool { return w.Frozen })
	if !any {
		return nil
	}
	return &Origin{start, sum}
}

// digest identifies the tensors that meant selects.
func digest(all []*weights.Tensor, meant func(*weights.Tensor) bool) (sum string, found bool) {
	h := sha256.New()
	var block []byte
	for _, w := range all {
		if !meant(w) {
			continue
		}
		found = true
		_, _ = fmt.Fprintf(h, "%q %v\n", w.Name, w.Shape) // a hash has no errors
		const numbers = 1 << 14
		for from := 0; from < len(w.Data); from += numbers {
			block = block[:0]
			for _, x := range w.Data[from:min(from+numbers, len(w.Data))] {
				block = binary.LittleEndian.AppendUint32(block, math.Float32bits(x))
			}
			_, _ = h.Write(block)
		}
	}
	return hex.EncodeToString(h.Sum(nil)), found
}

// FrozenUnchanged refuses to resume a checkpoint whose frozen weights are no longer where they were.
func FrozenUnchanged(dir string, now *Origin) error {
	path := filepath.Join(dir, checkpoint.Encoder)
	_, metadata, err := weights.ReadFile(path, func(string) bool { return false })
	if err != nil {
		return err
	}
	var was Architecture
	if err := json.Unmarshal([]byte(metadata[checkpoint.Architecture]), &was); err != nil {
		return badinput.Errorf("%s does not say what encoder it is of: remove the checkpoint", path)
	}
	if was.Frozen == nil || now == nil || was.Frozen.SHA256 == now.SHA256 {
		return nil
	}
	return changed(now.Start, path)
}

func changed(start, path string) error {
	return badinput.Errorf("%s no longer has the weights that the training of %s left frozen: restore it", start, path)
}

// maxTrainings is the largest number of trainings with frozen weights, each of which starts from the next, that are
// followed.
const maxTrainings = 16

// ReadFrozen reads the weights of a checkpoint's directory: those in its file, and the frozen ones from where its
// training started, with adapters merged. It returns the metadata of the file, too.
func ReadFrozen(dir string) ([]*weights.Tensor, map[string]string, error) {
	return readFrozen(dir, maxTrainings)
}

func readFrozen(dir string, more int) ([]*weights.Tensor, map[string]string, error) {
	path := filepath.Join(dir, checkpoint.Encoder)
	stored, metadata, err := weights.ReadFile(path, nil)
	if err != nil {
		return nil, nil, err
	}
	var was Architecture
	err = json.Unmarshal([]byte(metadata[checkpoint.Architecture]), &was)
	if err != nil || was.Frozen == nil || was.Transformer == nil {
		return stored, metadata, nil // a reader of the architecture reports it
	}
	if more == 0 {
		return nil, nil, badinput.Errorf("%s is the last of more than %d trainings with frozen weights that start from each other: start from a published encoder", path, maxTrainings)
	}
	source, err := was.source(more - 1)
	if err != nil {
		return nil, nil, badinput.Errorf("the frozen weights of %s: %w", path, err)
	}
	has := map[string]bool{}
	for _, w := range stored {
		has[w.Name] = true
	}
	byName := map[string]*weights.Tensor{}
	for _, w := range source {
		byName[w.Name] = w
	}
	var frozen []*weights.Tensor
	for _, spec := range was.Transformer.Specs() {
		if w := byName[spec.Name]; w != nil && !has[spec.Name] {
			frozen = append(frozen, w)
		}
	}
	if sum, _ := digest(frozen, func(*weights.Tensor) bool { return true }); sum != was.Frozen.SHA256 {
		return nil, nil, changed(was.Frozen.Start, path)
	}
	all := append(stored, frozen...)
	if was.Transformer.LoRA.Rank > 0 {
		all = was.Transformer.Merged(all)
	}
	return all, metadata, nil
}

// source reads all weights that the training started from.
func (a Architecture) source(more int) ([]*weights.Tensor, error) {
	_, err := os.Stat(filepath.Join(a.Frozen.Start, checkpoint.Encoder))
	if err == nil {
		all, _, err := readFrozen(a.Frozen.Start, more)
		return all, err
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	_, all, err := ReadPublished(a.Frozen.Start, a.Transformer.Pooling)
	return all, err
}
