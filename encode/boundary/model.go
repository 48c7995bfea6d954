package boundary

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"bitextmine/internal/atomicfile"
	"bitextmine/internal/badinput"
)

// The files of a model.
var graphFiles = []string{"model_optimized.onnx", "model.onnx"}

const tokenizerFile = "sentencepiece.bpe.model"

// version changes with what this package makes of a model's logits.
const version = 1

// Model is the files of a model and the threshold of a run.
type Model struct {
	// Digest identifies everything that changes where sentences end.
	Digest string

	graph, tokenizer string // paths
	threshold        float64
}

// Load finds the files of a model in a directory and takes their digest. threshold is the probability above which a
// sentence ends.
func Load(directory string, threshold float64) (*Model, error) {
	if !(threshold > 0 && threshold < 1) {
		return nil, badinput.Errorf(
			"splitter_threshold is %v: give a probability between 0 and 1, 0.25 for the sat-*-sm models", threshold)
	}
	m := &Model{tokenizer: filepath.Join(directory, tokenizerFile), threshold: threshold}
	for _, name := range graphFiles {
		path := filepath.Join(directory, name)
		if _, err := os.Stat(path); err == nil {
			m.graph = path
			break
		} else if !errors.Is(err, fs.ErrNotExist) {
			return nil, badinput.Errorf("splitter %s: %w", directory, err)
		}
	}
	if m.graph == "" {
		return nil, badinput.Errorf("splitter %s has no %s: name a directory with the ONNX file of a SaT model",
			directory, graphFiles[0])
	}
	fields := struct {
		Version   int
		Files     []string
		Threshold float64
	}{version, nil, threshold}
	for _, path := range []string{m.graph, m.tokenizer} {
		_, sum, err := atomicfile.Digest(path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, badinput.Errorf("splitter %s has no %s: put XLM-RoBERTa's there, which SaT models are made for",
				directory, tokenizerFile)
		}
		if err != nil {
			return nil, badinput.Errorf("splitter %s: %w", directory, err)
		}
		fields.Files = append(fields.Files, sum)
	}
	canonical, err := json.Marshal(fields)
	if err != nil {
		return nil, fmt.Errorf("digest of splitter %s: %w", directory, err)
	}
	sum := sha256.Sum256(canonical)
	m.Digest = hex.EncodeToString(sum[:8])
	return m, nil
}
