package train

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"time"

	"bitextmine/encode"
	"bitextmine/internal/atomicfile"
	"bitextmine/internal/badinput"
	"bitextmine/train/data"
	"bitextmine/train/encoder"
	"bitextmine/train/step"
)

// JournalLine is one line of DIR/train.jsonl. It describes the steps since the previous line, or an evaluation.
type JournalLine struct {
	Step      int                `json:"step"`
	Loss      float64            `json:"loss,omitempty"`  // mean over the steps since the previous line
	Terms     map[string]float64 `json:"terms,omitempty"` // means too, before weighting
	Rate      *float64           `json:"rate,omitempty"`
	Norm      float64            `json:"norm,omitempty"` // norm of the last step's gradient, before clipping
	Epoch     float64            `json:"epoch,omitempty"`
	Sentences float64            `json:"sentences_per_second,omitempty"` // counting both sides
	Dev       map[string]float64 `json:"dev,omitempty"`
}

// journalFile is the name of the log in a training's directory.
const journalFile = "train.jsonl"

// journal appends lines to a log.
type journal struct {
	file *os.File
}

// openJournal opens the log in a directory. It keeps the lines of an earlier training up to step, where training
// continues.
func openJournal(dir string, step int) (*journal, error) {
	lines, err := readJournal(dir)
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
	path := filepath.Join(dir, journalFile)
	if err := atomicfile.WriteBytes(path, kept.Bytes()); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, err
	}
	return &journal{f}, nil
}

// Add appends a line.
func (j *journal) Add(l JournalLine) error {
	text, err := json.Marshal(l)
	if err != nil {
		return fmt.Errorf("log step %d: %w", l.Step, err)
	}
	_, err = j.file.Write(append(text, '\n'))
	return err
}

// Close closes the log.
func (j *journal) Close() error { return j.file.Close() }

// readJournal reads the log in a directory. An incomplete last line, left by a crash, is ignored.
func readJournal(dir string) (lines []JournalLine, err error) {
	path := filepath.Join(dir, journalFile)
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

// average collects the values of a line over several steps.
type average struct {
	Norm      float64 // norm of the last step's gradient
	began     time.Time
	batches   int
	sentences int
	loss      float64
	terms     map[string]float64
}

// newAverage begins a line now.
func newAverage() *average { return &average{began: time.Now(), terms: map[string]float64{}} }

// Add adds a batch's terms and reports whether their sum is finite.
func (a *average) Add(values []step.Value, sentences int) bool {
	loss := 0.0
	for _, v := range values {
		loss += v.Weight * float64(v.Value)
		a.terms[v.Name] += float64(v.Value)
	}
	a.loss += loss
	a.batches++
	a.sentences += sentences
	return !math.IsNaN(loss) && !math.IsInf(loss, 0)
}

// Skip leaves a time out of the sentences per second.
func (a *average) Skip(d time.Duration) { a.began = a.began.Add(d) }

// Line is the line after a step.
func (a *average) Line(step int, rate, epoch float64) JournalLine {
	l := JournalLine{Step: step, Loss: a.loss / float64(a.batches), Terms: map[string]float64{}, Norm: a.Norm,
		Rate: &rate, Epoch: epoch,
		Sentences: float64(a.sentences) / time.Since(a.began).Seconds()}
	for name, sum := range a.terms {
		l.Terms[name] = sum / float64(a.batches)
	}
	return l
}

// liveEncoder makes an encoder in training available to eval.
type liveEncoder struct {
	Label   string
	Encoder encoder.Encoder
	Bitext  data.Config
	Options data.Options
}

// Name is the label.
func (l liveEncoder) Name() string { return l.Label }

// Dim is the number of values of a vector.
func (l liveEncoder) Dim() int { return l.Encoder.Dim() }

// devBatch is the number of sentences that are encoded at once.
const devBatch = 128

// Encode writes unit vectors [len(texts), dim], as the exported graph does.
func (l liveEncoder) Encode(ctx context.Context, language string, texts []string, dst []float32) error {
	dim := l.Dim()
	for part, err := range l.Bitext.Parts(l.Options, language, texts, devBatch) {
		if err != nil {
			return err
		}
		vectors, err := l.Encoder.Forward(ctx, part.Side, 0)
		if err != nil {
			return err
		}
		for i, row := range part.Rows {
			v := dst[row*dim : (row+1)*dim]
			copy(v, vectors[i*dim:])
			if err := encode.Unit(v); err != nil {
				return badinput.Errorf("the vector that the encoder in training gives %q %w: lower the learning rate",
					texts[row], err)
			}
		}
	}
	return nil
}
