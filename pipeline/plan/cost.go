package plan

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"bitextmine/internal/badinput"
)

// Cost is the resources that the remaining tasks of a plan need.
type Cost struct {
	Languages []LanguageCost `json:"languages"`
	Stages    []StageCost    `json:"stages"`
	Memory    int64          `json:"memory_bytes"` // the largest bound of a task, which max_memory must allow
	Stage     string         `json:"memory_stage"` // that task's stage
	// Expected is the anonymous memory that the run probably takes at most, and MemoryBound what it never exceeds.
	Expected      int64  `json:"expected_memory_bytes"`
	ExpectedStage string `json:"expected_memory_stage"` // the stage that takes it
	MemoryBound   int64  `json:"memory_bound_bytes"`
	Disk          int64  `json:"disk_bytes"`      // size of the outputs, which remain
	DiskPeak      int64  `json:"disk_peak_bytes"` // what must be free: outputs and the temporary files beside them

	most *Task // whose bound Memory is
}

// LanguageCost is the size of a language's text.
type LanguageCost struct {
	Code      string `json:"code"`
	Sentences int    `json:"sentences"` // distinct within each shard
	Shards    int    `json:"shards"`
}

// StageCost is the tasks of a stage.
type StageCost struct {
	Name  string `json:"stage"`
	Unit  string `json:"unit"`
	Tasks int    `json:"tasks"`
	Done  int    `json:"done"`
	Items int64  `json:"items"` // items to do, in Unit
	// Rate is the items that this machine does in a second, as it was measured or assumed; 0: not known.
	Rate float64 `json:"items_per_second"`
	// Expected is the anonymous memory of a process with the tasks that run at once, and MemoryBound what it never
	// exceeds; 0: there is nothing to do.
	Expected    int64 `json:"expected_memory_bytes"`
	MemoryBound int64 `json:"memory_bound_bytes"`
	Disk        int64 `json:"disk_bytes"` // size of the outputs to write
}

// ProcessMemory is the anonymous memory of a process beside its tasks', in bytes: Go's runtime, libraries, and the
// default encoder, whose weights are mapped. It was measured between stages.
const ProcessMemory = 57 << 20

// Process is what runs the tasks of a plan.
type Process struct {
	Threads   int
	MaxMemory int64 // the setting max_memory; 0: no bound
	Remote    bool  // each task has a process of its own, and all of a wave may run at once
}

// CostOf adds up a plan; done says which tasks have their output.
func CostOf(p *Plan, done func(stage, key string) bool, by Process) Cost {
	var c Cost
	for i := range p.Languages {
		l := &p.Languages[i]
		c.Languages = append(c.Languages, LanguageCost{l.Code, l.Rows(), len(l.Shards)})
	}
	for i := range p.Waves {
		c.add(&p.Waves[i], done, by)
	}
	return c
}

// add adds a wave.
func (c *Cost) add(wave *Wave, done func(stage, key string) bool, by Process) {
	s := StageCost{Name: wave.Stage, Unit: wave.Unit, Tasks: len(wave.Tasks)}
	var left []*Task
	for i := range wave.Tasks {
		t := &wave.Tasks[i]
		if done(t.Stage, t.Key) {
			s.Done++
			continue
		}
		left = append(left, t)
		s.Items += t.Items
		s.Disk += t.Disk
		c.Bear(t)
	}
	if len(left) > 0 {
		bound := func(t *Task) int64 { return t.Memory }
		s.MemoryBound = by.atOnce(wave, left, bound)
		s.Expected = ProcessMemory + by.atOnce(wave, left, func(t *Task) int64 { return t.Expected })
		if by.MaxMemory > 0 {
			s.Expected = min(s.Expected, by.MaxMemory)
		}
	}
	scratch := func(t *Task) int64 { return t.Scratch }
	temporary := by.atOnce(wave, left, scratch)
	if by.Remote {
		temporary = total(left, scratch)
	}
	c.Disk += s.Disk
	c.DiskPeak = max(c.DiskPeak, c.Disk+temporary)
	c.MemoryBound = max(c.MemoryBound, s.MemoryBound)
	if s.Expected > c.Expected {
		c.Expected, c.ExpectedStage = s.Expected, s.Name
	}
	c.Stages = append(c.Stages, s)
}

// Bear raises what a run must be allowed to what a task needs; the task may be one that runs before those of the plan.
func (c *Cost) Bear(t *Task) {
	if t.Memory > c.Memory {
		c.Memory, c.Stage, c.most = t.Memory, t.Stage, t
	}
	c.MemoryBound = max(c.MemoryBound, t.Memory)
}

// Hold adds memory that a process has from the first task on: the weights of an encoder that are not mapped.
func (c *Cost) Hold(weights int64) {
	for i := range c.Stages {
		if s := &c.Stages[i]; s.Done < s.Tasks {
			s.Expected, s.MemoryBound = s.Expected+weights, s.MemoryBound+weights
		}
	}
	if c.Expected > 0 {
		c.Expected, c.MemoryBound = c.Expected+weights, c.MemoryBound+weights
	}
}

// atOnce adds up what the tasks of a wave need that may run at once in one process: those that need most.
func (by Process) atOnce(wave *Wave, tasks []*Task, need func(*Task) int64) (sum int64) {
	n := max(by.Threads, 1)
	if wave.Wide || by.Remote {
		n = 1
	}
	tasks = slices.SortedFunc(slices.Values(tasks), func(a, b *Task) int { return cmp.Compare(need(b), need(a)) })
	bounds := int64(0)
	for _, t := range tasks[:min(n, len(tasks))] {
		if bounds += t.Memory; by.MaxMemory > 0 && bounds > by.MaxMemory && bounds > t.Memory {
			break
		}
		sum += need(t)
	}
	return sum
}

func total(tasks []*Task, need func(*Task) int64) (sum int64) {
	for _, t := range tasks {
		sum += need(t)
	}
	return sum
}

// Time estimates how long the tasks take one after another, by their stages' rates. Stages without a rate are left out.
func (c Cost) Time() time.Duration {
	seconds := 0.0
	for _, s := range c.Stages {
		if s.Rate > 0 {
			seconds += float64(s.Items) / s.Rate
		}
	}
	return time.Duration(seconds * float64(time.Second))
}

// Bounds limit the resources of a run, in bytes; 0: no bound.
type Bounds struct {
	MaxMemory int64 // the setting max_memory
	Memory    int64 // the machine's memory
	Disk      int64 // free
	Cached    bool  // the disk is that of the cache of a bucket
}

// Fits refuses a task that needs more memory than there may be; 0: there is no bound.
func (t *Task) Fits(maxMemory int64) error {
	switch {
	case maxMemory == 0 || t.Memory <= maxMemory:
		return nil
	case t.Fixed > maxMemory:
		return badinput.Errorf("a task of stage %s needs %s of memory, however little text there is, more than max_memory = %s; raise --max-memory",
			t.Stage, Bytes(t.Memory), Bytes(maxMemory))
	}
	return badinput.Errorf("a task of stage %s needs %s of memory, more than max_memory = %s; raise --max-memory, %s",
		t.Stage, Bytes(t.Memory), Bytes(maxMemory), lessRows)
}

// lessRows is the advice for a task whose memory grows with its rows.
const lessRows = "lower --shard-size, or give less text"

// Fits refuses what cannot be done within bounds, naming the setting that would help.
func (c Cost) Fits(b Bounds) error {
	switch {
	case b.MaxMemory > 0 && c.Memory > b.MaxMemory:
		return c.most.Fits(b.MaxMemory)
	case b.Memory > 0 && c.Memory > b.Memory:
		return badinput.Errorf("a task of stage %s needs %s of memory, and this machine has %s; %s, or use a larger machine",
			c.Stage, Bytes(c.Memory), Bytes(b.Memory), lessRows)
	case b.Memory > 0 && c.Expected > b.Memory:
		return badinput.Errorf("%s tasks that run at once take about %s of memory, and this machine has %s; "+
			"bound them with --max-memory, or lower --threads", c.ExpectedStage, Bytes(c.Expected), Bytes(b.Memory))
	case b.Disk > 0 && c.DiskPeak > b.Disk:
		place, setting := "the work directory", "--work"
		if b.Cached {
			place, setting = "the cache of the bucket", "MINE_CACHE"
		}
		return badinput.Errorf("the run would write %s, but %s's disk has %s free; free some, or name a directory on another disk with %s",
			Bytes(c.DiskPeak), place, Bytes(b.Disk), setting)
	}
	return nil
}

// Bytes shows a size.
func Bytes(n int64) string {
	for _, unit := range []struct {
		name string
		size int64
	}{{"TiB", 1 << 40}, {"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}} {
		if n >= unit.size {
			return fmt.Sprintf("%.1f %s", float64(n)/float64(unit.size), unit.name)
		}
	}
	return fmt.Sprintf("%d B", n)
}
