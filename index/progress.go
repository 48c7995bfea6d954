package index

import "sync"

// Progress sums the work of several goroutines and reports it as a rising fraction. report may be nil.
type Progress struct {
	mu          sync.Mutex
	done, total float64
	report      func(fraction float64)
}

// NewProgress starts at zero of total units of work.
func NewProgress(total float64, report func(fraction float64)) *Progress {
	return &Progress{total: total, report: report}
}

// Add reports that work more units are done.
func (p *Progress) Add(work float64) {
	if p.report == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done += work
	p.report(min(p.done/p.total, 0.999))
}

// Finish reports that all work is done.
func (p *Progress) Finish() {
	if p.report != nil {
		p.report(1)
	}
}
