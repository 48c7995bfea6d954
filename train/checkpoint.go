package train

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"bitextmine/internal/atomicfile"
	"bitextmine/internal/badinput"
	"bitextmine/train/weights"
)

// A checkpoint is a directory DIR/checkpoints/step-00001000 with
//
//	encoder.safetensors    the exported weights, with the encoder's architecture as metadata
//	heads.safetensors      the objective's own weights
//	optimiser.safetensors  the optimiser's state
//	state.json             the progress of the training
//
// It is written under another name and renamed when it is complete.
const (
	encoderFile   = "encoder.safetensors"
	headsFile     = "heads.safetensors"
	optimiserFile = "optimiser.safetensors"
	stateFile     = "state.json"
)

// state is the progress of a training after a step.
type state struct {
	Step   int                `json:"step"`
	Config string             `json:"config"` // Config.Digest
	Bitext string             `json:"bitext"` // data.Set.Digest
	Dev    map[string]float64 `json:"dev,omitempty"`
	Best   float64            `json:"best"`   // best value of the stop metric so far
	Since  int                `json:"since"`  // evaluations since then
	Judged bool               `json:"judged"` // whether there is a best value
}

// better records the figure of an evaluation and reports whether it is the best so far.
func (s *state) better(figure float64) bool {
	if s.Judged && figure <= s.Best {
		s.Since++
		return false
	}
	s.Best, s.Since, s.Judged = figure, 0, true
	return true
}

// checkpoints is the directory with a training's checkpoints.
type checkpoints struct {
	dir string
}

func (c checkpoints) path(step int) string {
	return filepath.Join(c.dir, fmt.Sprintf("step-%08d", step))
}

// save publishes a checkpoint. metadata is written to the encoder's file.
func (c checkpoints) save(s state, metadata map[string]string, files map[string][]*weights.Tensor) (err error) {
	final := c.path(s.Step)
	tmp := final + atomicfile.Suffix
	if err := errors.Join(os.RemoveAll(tmp), os.MkdirAll(tmp, 0o755)); err != nil {
		return fmt.Errorf("write a checkpoint: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("write checkpoint %s: %w", final, err), os.RemoveAll(tmp))
		}
	}()
	for name, tensors := range files {
		about := metadata
		if name != encoderFile {
			about = nil
		}
		if err := weights.WriteFile(filepath.Join(tmp, name), tensors, about); err != nil {
			return err
		}
	}
	text, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return err
	}
	if err := atomicfile.WriteBytes(filepath.Join(tmp, stateFile), append(text, '\n')); err != nil {
		return err
	}
	if err := errors.Join(os.RemoveAll(final), os.Rename(tmp, final)); err != nil {
		return err
	}
	return atomicfile.SyncDir(c.dir)
}

// list returns the complete checkpoints by step, ascending.
func (c checkpoints) list() ([]state, error) {
	entries, err := os.ReadDir(c.dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var all []state
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), "step-") || strings.HasSuffix(e.Name(), atomicfile.Suffix) {
			continue
		}
		path := filepath.Join(c.dir, e.Name(), stateFile)
		text, err := os.ReadFile(path)
		var s state
		if err == nil {
			err = json.Unmarshal(text, &s)
		}
		if err == nil && filepath.Base(c.path(s.Step)) != e.Name() {
			err = fmt.Errorf("it is of step %d", s.Step)
		}
		if err != nil {
			return nil, badinput.Errorf("%s is not the state of a checkpoint: %w; remove the checkpoint", path, err)
		}
		all = append(all, s)
	}
	slices.SortFunc(all, func(a, b state) int { return cmp.Compare(a.Step, b.Step) })
	return all, nil
}

// load reads a checkpoint's file into tensors, which must have the same names and shapes.
func (c checkpoints) load(step int, file string, tensors []*weights.Tensor) error {
	path := filepath.Join(c.path(step), file)
	stored, _, err := weights.ReadFile(path, func(string) bool { return true })
	if err != nil {
		return err
	}
	byName := map[string]*weights.Tensor{}
	for _, t := range stored {
		byName[t.Name] = t
	}
	for _, t := range tensors {
		s := byName[t.Name]
		if s == nil || !slices.Equal(s.Shape, t.Shape) {
			return badinput.Errorf("%s has no tensor %s of shape %v: the checkpoint was made with another preset", path, t.Name, t.Shape)
		}
		copy(t.Data, s.Data)
	}
	return nil
}

// prune removes all checkpoints except the last and the keep best by metric.
func (c checkpoints) prune(metric string, keep int) error {
	all, err := c.list()
	if err != nil || len(all) == 0 {
		return err
	}
	all = all[:len(all)-1]
	if metric != "" {
		slices.SortStableFunc(all, func(a, b state) int { return cmp.Compare(b.figure(metric), a.figure(metric)) })
		all = all[min(keep, len(all)):]
	}
	for _, s := range all {
		err = errors.Join(err, os.RemoveAll(c.path(s.Step)))
	}
	return err
}

// best is the step to export: the best by metric, the earlier if several are equal, or the last if there is no metric.
func (c checkpoints) best(metric string) (int, error) {
	all, err := c.list()
	if err != nil {
		return 0, err
	}
	if len(all) == 0 {
		return 0, badinput.Errorf("%s has no checkpoint", c.dir)
	}
	best := all[len(all)-1]
	if metric != "" {
		best = slices.MaxFunc(all, func(a, b state) int { return cmp.Compare(a.figure(metric), b.figure(metric)) })
	}
	return best.Step, nil
}

// figure is a metric's value. A checkpoint that was not evaluated has the lowest value.
func (s state) figure(metric string) float64 {
	if x, ok := s.Dev[metric]; ok {
		return x
	}
	return -1
}
