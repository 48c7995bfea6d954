package simulate

import (
	"fmt"
	"math"
	"slices"
	"time"

	"bitextmine/internal/badinput"
	"bitextmine/pipeline/plan"
	"bitextmine/pipeline/stage"
)

// Simulation lists the tasks of a simulated run and their cost.
type Simulation struct {
	Languages []plan.LanguageCost `json:"languages"`
	Stages    []Stage             `json:"stages"`
	Machines  []Used              `json:"machines"`
	Seconds   float64             `json:"seconds"` // wall time
	Price     float64             `json:"price"`   // what all machines cost in that time
	BusyPrice float64             `json:"busy_price"`
	Currency  string              `json:"currency,omitempty"`
	Disk      float64             `json:"disk_bytes"`         // that the store holds at the end
	PlanBytes float64             `json:"plan_bytes"`         // approximate size of the plan's file
	Notes     []string            `json:"notes,omitempty"`    // what makes the times uncertain
	Problems  []string            `json:"problems,omitempty"` // what could not be done, and what would help
}

// Stage is the tasks of one stage. The waves are one after another, as all engines have them.
type Stage struct {
	Name    string  `json:"stage"`
	Unit    string  `json:"unit"`
	Tasks   int     `json:"tasks"`
	Done    int     `json:"done"` // tasks that the run before did
	Items   float64 `json:"items"`
	Seconds float64 `json:"seconds"`
	// BoundBy says what decides how long the wave takes: the machines, one task that cannot be divided, or the store.
	BoundBy string  `json:"bound_by"`
	Memory  int64   `json:"memory_bytes"` // the largest task's memory
	Read    float64 `json:"read_bytes"`
	Written float64 `json:"written_bytes"`
	Lost    float64 `json:"lost_seconds"` // expected slot time of attempts that fail
}

// Used is how much of a kind of machine is used.
type Used struct {
	Name string  `json:"name"`
	Busy float64 `json:"busy"` // share of the time, 0 to 1
}

// What BoundBy says.
const (
	byMachines = "machines"
	byOneTask  = "one task"
	byStore    = "the store"
)

// Run simulates a run of a cluster. base has the settings, the encoder and the scorer of the run.
func Run(c *Cluster, base stage.Request) (*Simulation, error) {
	s := &Simulation{Currency: c.Currency}
	speeds := make([]map[string]speed, len(c.Machines))
	for i := range c.Machines {
		m := &c.Machines[i]
		of, notes, err := m.speeds()
		if err != nil {
			return nil, err
		}
		speeds[i] = of
		s.Notes = append(s.Notes, notes...)
		for _, name := range m.Stages {
			if _, err := stage.Named(name); err != nil {
				return nil, badinput.Errorf("machine %q: stages: %w", m.Name, err)
			}
		}
	}
	built, done, err := plans(c, base)
	if err != nil {
		return nil, err
	}
	s.Languages = plan.CostOf(built[1], func(string, string) bool { return false }, plan.Process{}).Languages
	busy := make([]float64, len(c.Machines))
	for _, p := range built {
		for w := range p.Waves {
			if err := s.wave(c, &p.Waves[w], done, speeds, busy); err != nil {
				return nil, err
			}
		}
	}
	for i := range c.Machines {
		m := &c.Machines[i]
		hours := float64(m.Count) * m.Price / 3600
		s.Price += hours * s.Seconds
		s.BusyPrice += m.Price / 3600 * busy[i]
		s.Machines = append(s.Machines, Used{m.Name, busy[i] / (float64(m.Count) * max(s.Seconds, 1e-9))})
	}
	return s, nil
}

// wave adds a wave. busy are seconds of machines by kind.
func (s *Simulation) wave(c *Cluster, w *plan.Wave, done func(*plan.Task) bool, speeds []map[string]speed, busy []float64) error {
	d, err := stage.Named(w.Stage)
	if err != nil {
		return err
	}
	st := Stage{Name: w.Stage, Unit: w.Unit, Tasks: len(w.Tasks)}
	var left []*plan.Task
	for i := range w.Tasks {
		t := &w.Tasks[i]
		s.PlanBytes += float64(len(t.Args) + len(t.Key) + taskBytes)
		if !d.Sweepable { // a merge holds all of its cells
			s.Disk += float64(t.Disk)
		}
		if done(t) {
			st.Done++
			continue
		}
		left = append(left, t)
		st.Items += float64(t.Items)
		st.Read += float64(t.Read)
		st.Written += float64(t.Disk)
		st.Memory = max(st.Memory, t.Memory)
	}
	if len(left) > 0 {
		s.time(c, d, &st, left, speeds, busy)
	}
	s.Seconds += st.Seconds
	s.Stages = append(s.Stages, st)
	return nil
}

// taskBytes is the size of a task in a plan's file without its key and its arguments.
const taskBytes = 80

// time schedules a wave's tasks.
func (s *Simulation) time(c *Cluster, d *stage.Descriptor, st *Stage, left []*plan.Task, speeds []map[string]speed, busy []float64) {
	var crews []*crew
	var kinds []int
	slots := 0
	known := false
	for i := range c.Machines {
		m := &c.Machines[i]
		if !m.does(d.Name) {
			continue
		}
		known = known || speeds[i][d.Name].Item > 0
		if one := hire(m, d, speeds[i], st.Memory); one != nil {
			crews, kinds = append(crews, one), append(kinds, i)
			slots += one.slots
		}
	}
	if len(crews) == 0 {
		s.Problems = append(s.Problems, problem(d, st, known))
		return
	}
	var endless *plan.Task
	if st.Seconds, st.Lost, endless = schedule(left, crews); endless != nil {
		s.Problems = append(s.Problems, fmt.Sprintf("%s: a task of %d %s would not end between failures of any machine that does it; "+
			"lower --shard-size where that helps, or add a machine that fails less often", d.Name, endless.Items, st.Unit))
		return
	}
	st.BoundBy = byMachines
	if len(left) <= slots {
		st.BoundBy = byOneTask
	}
	for i, one := range crews {
		busy[kinds[i]] += one.busy
	}
	if stored := max(over(st.Read, c.Store.Read), over(st.Written, c.Store.Write)); stored > st.Seconds {
		st.Seconds, st.BoundBy = stored, byStore
	}
}

// problem says why no machine does a stage, and what would help.
func problem(d *stage.Descriptor, st *Stage, known bool) string {
	if !known {
		return d.Name + ": no machine has a rate for it; give one under rates, or a run.json under runs"
	}
	return d.Name + ": a task needs " + plan.Bytes(st.Memory) + ", more than any machine that does it has; lower --shard-size where that helps, or add a larger machine"
}

// does says whether a kind of machine does a stage.
func (m *Machine) does(name string) bool {
	return len(m.Stages) == 0 || slices.Contains(m.Stages, name)
}

// over is how many seconds bytes take; without a bound none.
func over(bytes float64, rate Bytes) float64 {
	if rate == 0 {
		return 0
	}
	return bytes / float64(rate)
}

// Duration is how long the run takes.
func (s *Simulation) Duration() time.Duration {
	return time.Duration(min(s.Seconds*float64(time.Second), math.MaxInt64/2))
}
