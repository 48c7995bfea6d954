package main

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"

	"bitextmine/internal/atomicfile"
	"bitextmine/internal/badinput"
	"bitextmine/train"
)

const resultFile = "result.json"

// result is the figures of a row of one seed, stored beside its training.
type result struct {
	System     string             `json:"system"`
	Seed       uint64             `json:"seed"`
	Preset     string             `json:"preset"` // train.Config's digest
	Figures    map[string]float64 `json:"figures"`
	Dim        int                `json:"dim"`
	Words      int                `json:"vocabulary"`
	Steps      int                `json:"steps"`
	Batch      int                `json:"batch"` // pairs
	Pairs      uint64             `json:"pairs"` // of the bitext
	Teacher    string             `json:"teacher,omitempty"`
	Rate       float64            `json:"learning_rate"`
	Step       float64            `json:"step_processor_seconds"` // the median over the lines of the log
	Training   float64            `json:"training_seconds"`
	Evaluation float64            `json:"evaluation_seconds"`
}

// read returns a result, or nil if there is none.
func read(dir string) (*result, error) {
	path := filepath.Join(dir, resultFile)
	raw, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	var r result
	if err == nil {
		err = json.Unmarshal(raw, &r)
	}
	if err != nil {
		return nil, badinput.Errorf("%s is not a valid result: %w; remove it", path, err)
	}
	return &r, nil
}

// write stores a result.
func (r *result) write(dir string) error {
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	return atomicfile.WriteBytes(filepath.Join(dir, resultFile), append(text, '\n'))
}

// sameAs returns an error if a row was made with another preset than the budget now gives.
func (r *result) sameAs(c train.Config, dir string) error {
	digest, err := c.Digest()
	if err == nil && r != nil && digest != r.Preset {
		err = badinput.Errorf("%s was made with another budget, preset or teacher: remove it or give another -out", dir)
	}
	return err
}

// results are the rows of a part that exist.
func results(m *maker, part []string) (map[string][]*result, error) {
	rows := map[string][]*result{}
	for _, system := range m.budget.systems() {
		for _, seed := range m.seeds {
			r, err := read(m.path(part, system, seed))
			if err != nil {
				return nil, err
			}
			if r != nil {
				rows[system] = append(rows[system], r)
			}
		}
	}
	if t := m.budget.Teacher; t != "" && len(rows[t]) == 0 {
		r, err := read(m.path(part, t, teacherSeed))
		if err != nil {
			return nil, err
		}
		if r != nil {
			rows[t] = append(rows[t], r)
		}
	}
	return rows, nil
}
