package statistic

import (
	"slices"
	"time"

	"bitextmine/internal/usage"
	"bitextmine/train"
)

// Meter measures the CPU time of a step between lines of the log. Other work on the machine changes it less than the
// wall time.
type Meter struct {
	step    int
	seconds float64
	each    []float64
}

// Progress takes a line of the log.
func (m *Meter) Progress(l train.JournalLine, _ time.Duration) {
	seconds := usage.CPUSeconds()
	if m.step > 0 { // the steps of the first lines include compilation
		m.each = append(m.each, (seconds-m.seconds)/float64(l.Step-m.step))
	}
	m.step, m.seconds = l.Step, seconds
}

// Median is 0 if there is only one line.
func (m *Meter) Median() float64 {
	if len(m.each) == 0 {
		return 0
	}
	slices.Sort(m.each)
	n := len(m.each)
	return (m.each[(n-1)/2] + m.each[n/2]) / 2
}
