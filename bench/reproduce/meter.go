package main

import (
	"slices"
	"time"

	"bitextmine/internal/usage"
	"bitextmine/train/journal"
)

// meter measures the CPU time of a step between lines of the log. Other work on the machine changes it less than the
// wall time.
type meter struct {
	step    int
	seconds float64
	each    []float64
}

func (m *meter) progress(l journal.Line, _ time.Duration) {
	seconds := usage.CPUSeconds()
	if m.step > 0 { // the steps of the first lines include compilation
		m.each = append(m.each, (seconds-m.seconds)/float64(l.Step-m.step))
	}
	m.step, m.seconds = l.Step, seconds
}

// median is 0 if there is only one line.
func (m *meter) median() float64 {
	if len(m.each) == 0 {
		return 0
	}
	slices.Sort(m.each)
	return m.each[len(m.each)/2]
}
