package main

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"

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
	Step       float64            `json:"step_processor_seconds"` // the median over the lines of the log
	Training   float64            `json:"training_seconds"`
	Evaluation float64            `json:"evaluation_seconds"`
}

// read returns the result of a row of a seed, or nil if there is none.
func (m *maker) read(system string, seed uint64) (*result, error) {
	path := filepath.Join(m.path(system, seed), resultFile)
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

// sameAs returns an error if a row was made with another preset than the budget now gives.
func (m *maker) sameAs(r *result, c train.Config, err error) error {
	if err != nil {
		return err
	}
	digest, err := c.Digest()
	if err == nil && digest != r.Preset {
		err = badinput.Errorf("%s was made with another budget, preset or teacher: remove it or give another -out", m.path(r.System, r.Seed))
	}
	return err
}

// results are the rows that exist.
func (m *maker) results() (map[string][]*result, error) {
	rows := map[string][]*result{}
	for _, system := range m.budget.systems() {
		for _, seed := range m.seeds {
			r, err := m.read(system, seed)
			if err != nil {
				return nil, err
			}
			if r != nil {
				rows[system] = append(rows[system], r)
			}
		}
	}
	return rows, nil
}
