package simulate

import (
	"container/heap"
	"fmt"
	"math"
	"path/filepath"

	"bitextmine/internal/badinput"
	"bitextmine/pipeline/plan"
	"bitextmine/pipeline/record"
	"bitextmine/pipeline/stage"
)

// crew is the machines of one kind in one wave: slots that each do one task at a time.
type crew struct {
	machine *Machine
	slots   int
	parts   float64 // slots of one machine, which share its network
	cores   float64 // cores or GPUs of a slot
	speed   speed
	free    times // when each slot is free again, in seconds after the wave began
	busy    float64
}

// times is a heap of moments, the earliest on top.
type times []float64

func (t times) Len() int           { return len(t) }
func (t times) Less(i, j int) bool { return t[i] < t[j] }
func (t times) Swap(i, j int)      { t[i], t[j] = t[j], t[i] }
func (t *times) Push(x any)        { *t = append(*t, x.(float64)) }
func (t *times) Pop() any          { panic("no slot leaves a crew") }

// hire returns the crew of a kind of machine for a stage whose largest task needs so much memory; nil: it does not do
// the stage.
func hire(m *Machine, d *stage.Descriptor, speeds map[string]speed, memory int64) *crew {
	c := &crew{machine: m, parts: float64(m.Cores), cores: 1, speed: speeds[d.Name]}
	switch {
	case d.GPU && m.GPUs > 0:
		c.parts = float64(m.GPUs)
	case whole(d):
		c.parts, c.cores = 1, float64(m.Cores)
	}
	if memory > 0 {
		c.parts = min(c.parts, math.Floor(float64(m.Memory)/float64(memory)))
	}
	if c.parts < 1 || c.speed.Item == 0 {
		return nil
	}
	c.slots = int(c.parts) * m.Count
	c.free = make(times, c.slots)
	return c
}

// seconds is how long a task takes on one of the crew's slots, and how long it is expected to take with what is done
// again: a failure ends the attempt, and the next begins from nothing.
func (c *crew) seconds(t *plan.Task) (once, expected float64) {
	once = c.machine.Start + (c.speed.Task+float64(t.Items)*c.speed.Item)/c.cores
	if c.machine.Network > 0 {
		once += float64(t.Read+t.Disk) / (float64(c.machine.Network) / c.parts)
	}
	if rate := c.machine.Failures / 3600; rate > 0 {
		return once, math.Expm1(rate*once) / rate
	}
	return once, once
}

// never is more seconds than any task takes, 30 million years: with this many, failures come before its end again and
// again.
const never = 1e15

// schedule gives each task to the slot that ends it first, as engines do that hand the next task to whoever is free. It
// returns when the last ends, and the seconds of slots that failures lost; or a task that no crew ever ends.
func schedule(tasks []*plan.Task, crews []*crew) (last, lost float64, endless *plan.Task) {
	for _, t := range tasks {
		var best *crew
		end, spent, again := math.Inf(1), 0.0, 0.0
		for _, c := range crews {
			once, expected := c.seconds(t)
			if at := c.free[0] + expected; expected < never && at < end {
				best, end, spent, again = c, at, expected, expected-once
			}
		}
		if best == nil {
			return 0, 0, t
		}
		best.free[0] = end
		heap.Fix(&best.free, 0)
		best.busy += spent / best.parts
		last, lost = max(last, end), lost+again
	}
	return last, lost, nil
}

// speed is how long a stage's tasks take on a kind of machine: seconds for a task and for each of its items.
type speed struct{ Task, Item float64 }

// sample is a run's measurement of a stage: tasks and items by turns on one core, or by one GPU, in seconds.
type sample struct{ tasks, items, seconds float64 }

// fit finds the seconds of a task and of an item by least squares over runs, weighted so that each run's relative
// error counts the same. One run, or runs that are multiples of each other, give an item's alone; neither is below 0.
func fit(samples []sample) speed {
	var tt, ti, ii, t, i float64
	for _, s := range samples {
		tasks, items := s.tasks/s.seconds, s.items/s.seconds
		tt, ti, ii = tt+tasks*tasks, ti+tasks*items, ii+items*items
		t, i = t+tasks, i+items
	}
	if det := tt*ii - ti*ti; det > 1e-9*tt*ii {
		if both := (speed{(t*ii - i*ti) / det, (i*tt - t*ti) / det}); both.Task >= 0 && both.Item > 0 {
			return both
		}
	}
	return speed{Item: i / ii}
}

// minBusy is the part of its threads that a run computes with, at least, on a machine that it has to itself.
const minBusy = 0.5

// idle says of a run that had few of its machine's processors that its rates are not those of the machine.
func (m *Machine) idle(path string, r *record.Report) []string {
	had := r.CPUSeconds / max(r.Seconds, 1e-9)
	if had <= 0 || had >= minBusy*float64(r.Threads) {
		return nil
	}
	return []string{fmt.Sprintf("machine %q: the run %s computed with %.2f of %d processors on average, so its rates are lower than those of a machine that is kept busy "+
		"by it alone; measure on one, with a larger corpus if this one was small", m.Name, path, had, r.Threads)}
}

// speeds returns the speeds of a kind of machine by stage. notes name their defects.
func (m *Machine) speeds() (_ map[string]speed, notes []string, _ error) {
	samples := map[string][]sample{}
	for _, path := range m.Runs {
		measured := false
		report, err := record.ReadReport(filepath.Dir(path))
		if err == nil && filepath.Base(path) != record.ReportName {
			err = fmt.Errorf("it is not called %s", record.ReportName)
		}
		if err != nil {
			return nil, nil, badinput.Errorf("machine %q: the run %s cannot be used: %w", m.Name, path, err)
		}
		notes = append(notes, m.idle(path, report)...)
		for _, s := range report.Stages {
			d, err := stage.Named(s.Name)
			if done := s.Tasks - s.Cached; err == nil && done > 0 && s.Items > 0 && s.Seconds > 0 {
				// what its threads did together, one of them did in so many times the seconds
				threads := float64(report.Threads)
				if !whole(d) {
					threads = min(threads, float64(done))
				}
				measured = true
				items := float64(s.Items)
				if n, ok := compared(s.Name, report); ok {
					if items = n; items == 0 {
						continue
					}
				}
				samples[s.Name] = append(samples[s.Name], sample{float64(done), items, s.Seconds * threads})
			}
		}
		if !measured {
			return nil, nil, badinput.Errorf("machine %q: the run %s found everything done, so that it measured nothing; name one that started from nothing", m.Name, path)
		}
	}
	found := map[string]speed{}
	for name, of := range samples {
		found[name] = fit(of)
	}
	for name, rate := range m.Rates {
		if _, err := stage.Named(name); err != nil {
			return nil, nil, badinput.Errorf("machine %q: rates: %w", m.Name, err)
		}
		found[name] = speed{Item: 1 / rate}
	}
	return found, notes, nil
}

// whole says whether a stage's task uses all cores of its machine.
func whole(d *stage.Descriptor) bool { return d.Wide || d.GPU }
