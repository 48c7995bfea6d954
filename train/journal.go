package train

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"bitextmine/internal/atomicfile"
	"bitextmine/internal/badinput"
)

// JournalLine is one line of DIR/train.jsonl. It describes the steps since the previous line, or an evaluation.
type JournalLine struct {
	Step      int                `json:"step"`
	Loss      float64            `json:"loss,omitempty"`  // mean over the steps since the previous line
	Terms     map[string]float64 `json:"terms,omitempty"` // means too, before weighting
	Rate      float64            `json:"rate,omitempty"`
	Norm      float64            `json:"norm,omitempty"` // norm of the last step's gradient, before clipping
	Epoch     float64            `json:"epoch,omitempty"`
	Sentences float64            `json:"sentences_per_second,omitempty"` // counting both sides
	Dev       map[string]float64 `json:"dev,omitempty"`
}

// JournalFile is the name of the log in a training's directory.
const JournalFile = "train.jsonl"

// Journal appends lines to a log.
type Journal struct {
	file *os.File
}

// OpenJournal opens the log in a directory. It keeps the lines of an earlier training up to step, where training
// continues.
func OpenJournal(dir string, step int) (*Journal, error) {
	lines, err := ReadJournal(dir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	var kept bytes.Buffer
	for _, l := range lines {
		if l.Step > step {
			break
		}
		if err := json.NewEncoder(&kept).Encode(l); err != nil {
			return nil, err
		}
	}
	path := filepath.Join(dir, JournalFile)
	if err := atomicfile.WriteBytes(path, kept.Bytes()); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, err
	}
	return &Journal{f}, nil
}

// Add appends a line.
func (j *Journal) Add(l JournalLine) error {
	text, err := json.Marshal(l)
	if err != nil {
		return fmt.Errorf("log step %d: %w", l.Step, err)
	}
	_, err = j.file.Write(append(text, '\n'))
	return err
}

// Close closes the log.
func (j *Journal) Close() error { return j.file.Close() }

// ReadJournal reads the log in a directory. An incomplete last line, left by a crash, is ignored.
func ReadJournal(dir string) (lines []JournalLine, err error) {
	path := filepath.Join(dir, JournalFile)
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	r := bufio.NewReader(f)
	for {
		text, err := r.ReadBytes('\n')
		if err != nil {
			return lines, nil
		}
		var l JournalLine
		if err := json.Unmarshal(text, &l); err != nil {
			return nil, badinput.Errorf("%s: line %d is not a line of a training log: %w", path, len(lines)+1, err)
		}
		lines = append(lines, l)
	}
}
