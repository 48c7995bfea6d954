// Package checkpoint stores and finds the checkpoints of a training. One is a directory step-00001000 with
//
//	encoder.safetensors    the exported weights but for frozen ones, with the encoder's architecture as metadata
//	heads.safetensors      the objective's own weights
//	optimiser.safetensors  the optimiser's state
//	state.json             the progress of the training, and the digests of these files
//
// It is written under another name and renamed when it is complete, and renamed before it is removed. A checkpoint of
// which a file is missing is ignored; one of which a file has changed is an error.
package checkpoint

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"

	"bitextmine/internal/atomicfile"
	"bitextmine/internal/badinput"
)

// The files of a checkpoint.
const (
	Encoder   = "encoder.safetensors"
	Heads     = "heads.safetensors"
	Optimiser = "optimiser.safetensors"
	stateFile = "state.json"
)

// Architecture is the metadata of the encoder's file that holds the architecture.
const Architecture = "encoder"

// State is the progress of a training after a step.
type State struct {
	Step      int                `json:"step"`
	Config    string             `json:"config"` // digest of the preset
	Bitext    string             `json:"bitext"` // digest of the bitext
	Dev       map[string]float64 `json:"dev,omitempty"`
	Metric    string             `json:"metric,omitempty"` // stop metric of Best; empty: none, or of an earlier version
	Best      float64            `json:"best"`             // best value of the stop metric so far
	Since     int                `json:"since"`            // evaluations since then
	Evaluated bool               `json:"evaluated"`        // there is a best value

	Files  map[string]string `json:"files"`  // SHA-256 of the other files, by name
	Digest string            `json:"digest"` // SHA-256 of this state with an empty digest
}

// Better records a metric's figure of an evaluation and reports whether it is the best so far.
func (s *State) Better(metric string, figure float64) bool {
	s.Metric = metric
	if s.Evaluated && figure <= s.Best {
		s.Since++
		return false
	}
	s.Best, s.Since, s.Evaluated = figure, 0, true
	return true
}

// Follow prepares the state for a stop metric. If Best is another's, it and Since are computed again from the
// evaluations that the kept checkpoints have, by step, of which the last is this state's.
func (s *State) Follow(metric string, kept []*State) {
	if metric == "" || s.Metric == "" || s.Metric == metric {
		return
	}
	s.Best, s.Since, s.Evaluated = 0, 0, false
	for _, k := range kept {
		if figure, ok := k.Dev[metric]; ok {
			s.Better(metric, figure)
		}
	}
}

// figure is a metric's value. A checkpoint that was not evaluated has the lowest value.
func (s *State) figure(metric string) float64 {
	if x, ok := s.Dev[metric]; ok {
		return x
	}
	return math.Inf(-1) // a correlation may be negative
}

// encode returns the state as it is stored, with its digest.
func (s State) encode() ([]byte, error) {
	s.Digest = ""
	text, err := json.Marshal(s)
	if err != nil {
		return nil, err
	}
	s.Digest = atomicfile.DigestOf(text)
	text, err = json.MarshalIndent(s, "", "  ")
	return append(text, '\n'), err
}

// readState reads the state of a checkpoint's directory. A missing file is fs.ErrNotExist.
func readState(dir string) (*State, error) {
	path := filepath.Join(dir, stateFile)
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var s State
	if err := json.Unmarshal(text, &s); err != nil {
		return nil, badinput.Errorf("%s is not the state of a checkpoint: %w; remove the checkpoint", path, err)
	}
	want, err := s.encode()
	if err != nil {
		return nil, err
	}
	if string(want) != string(text) {
		return nil, badinput.Errorf("%s is damaged, its digest is not that of its content: remove the checkpoint", path)
	}
	return &s, nil
}

// Verify compares a file of a checkpoint's directory with the digest that the checkpoint has of it. A directory without
// a state, in which somebody put the file alone, is not an error.
func Verify(dir, file string) error {
	s, err := readState(dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return s.verify(dir, file)
}

func (s *State) verify(dir, file string) error {
	path := filepath.Join(dir, file)
	_, got, err := atomicfile.Digest(path)
	if err != nil {
		return fmt.Errorf("read a checkpoint: %w", err)
	}
	if want, ok := s.Files[file]; !ok || got != want {
		return badinput.Errorf("%s is damaged, its digest is not that of %s: remove the checkpoint %s", path, stateFile,
			dir)
	}
	return nil
}
