package simulate

import (
	"container/heap"
	"math"

	"bitextmine/pipeline/plan"
	"bitextmine/pipeline/stage"
)

// crew is the machines of one kind in one wave: slots that each do one task at a time.
type crew struct {
	machine *Machine
	slots   int
	parts   float64 // slots of one machine, which share its network
	cores   float64 // of a slot, or GPUs
	speed   speed
	free    times // when each slot is free again, in seconds after the wave began
	busy    float64
	moved   float64
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

// schedule gives each task to the slot that ends it first, as engines do that hand the next task to whoever is free. It
// returns when the last ends, and the seconds of slots that failures lost.
func schedule(tasks []*plan.Task, crews []*crew) (last, lost float64) {
	for _, t := range tasks {
		var best *crew
		end, spent, again := math.Inf(1), 0.0, 0.0
		for _, c := range crews {
			once, expected := c.seconds(t)
			if at := c.free[0] + expected; at < end {
				best, end, spent, again = c, at, expected, expected-once
			}
		}
		best.free[0] = end
		heap.Fix(&best.free, 0)
		best.busy += spent / best.parts
		best.moved += float64(t.Read + t.Disk)
		last, lost = max(last, end), lost+again
	}
	return last, lost
}
