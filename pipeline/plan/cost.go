package plan

import (
	"fmt"
	"time"

	"bitextmine/internal/badinput"
)

// The memory estimates are upper bounds that were measured: bytes of anonymous memory of one task. Mapped files, such as embeddings, are
// the page cache's and are not counted.

const mib = 1 << 20

// shardMemory: a row group, the keys of one shard in a map, the decompressor.
func shardMemory(s Settings) int64 { return 96*mib + 64*int64(s.Corpus.ShardSize) }

// encodeMemory: a window of texts, tokens and vectors; the graph's weights are the process's.
func encodeMemory(s Settings) int64 { return 192*mib + 16384*int64(s.Dim)*8 }

// searchMemory: both sides' lists with their candidates, hashes of both sides, scratch blocks.
func searchMemory(s Settings, rows [2]int) int64 {
	return 128*mib + int64(rows[0]+rows[1])*(24+24*int64(s.K))
}

// mergeMemory: the other side's keys sorted, the shard's lists twice.
func mergeMemory(s Settings, rows, others int) int64 {
	return 32*mib + 40*int64(others) + 16*int64(rows)*int64(s.K)
}

// matchMemory: both sides' keys and lists, the candidates, a chunk of texts.
func matchMemory(s Settings, rows [2]int) int64 {
	return 256*mib + int64(rows[0]+rows[1])*(110+8*int64(s.K))
}

// Cost is what the tasks of a plan that are still to do ask for.
type Cost struct {
	Sentences [2]int `json:"sentences"` // in all, by side
	Shards    [2]int `json:"shards"`
	Cells     int    `json:"cells"` // in all

	Tasks       map[string]int `json:"tasks"` // by stage
	Done        map[string]int `json:"done"`
	Encodings   int64          `json:"encodings"`   // sentences to encode
	Comparisons int64          `json:"comparisons"` // pairs of rows to compare
	FLOP        float64        `json:"flop"`        // of the comparisons, a multiplication and an addition for each value

	Memory int64  `json:"memory_bytes"` // of the largest task
	Stage  string `json:"memory_stage"` // that it is of
	Disk   int64  `json:"disk_bytes"`   // of the outputs to write
}

// CostOf adds up a plan; done tells which tasks have their output.
func CostOf(p *Plan, done func(stage, key string) bool) Cost {
	c := Cost{Tasks: map[string]int{}, Done: map[string]int{}}
	for s := range p.Sides {
		c.Sentences[s], c.Shards[s] = p.Sides[s].Rows(), len(p.Sides[s].Shards)
	}
	c.Cells = len(CoverOf(p.Sides[0].Shards)) * len(CoverOf(p.Sides[1].Shards))
	for _, wave := range p.Waves {
		c.Tasks[wave.Stage] += len(wave.Tasks)
		for _, t := range wave.Tasks {
			if done(t.Stage, t.Key) {
				c.Done[wave.Stage]++
				continue
			}
			c.add(p, &t)
		}
	}
	return c
}

func (c *Cost) add(p *Plan, t *Task) {
	if t.Memory > c.Memory {
		c.Memory, c.Stage = t.Memory, t.Stage
	}
	k := int64(p.Settings.K)
	switch t.Stage {
	case Encode:
		size := int64(2)
		if p.Settings.DType == "float32" {
			size = 4
		}
		c.Encodings += t.Items
		c.Disk += t.Items * int64(p.Settings.Dim) * size
	case Search:
		c.Comparisons += t.Items
		c.FLOP += 2 * float64(t.Items) * float64(p.Settings.Dim)
		c.Disk += int64(p.Sides[0].Shards[t.Shards[0]].Rows+p.Sides[1].Shards[t.Shards[1]].Rows) * k * 8
	case Merge:
		c.Disk += t.Items * k * 8
	case Match:
		// The bitext and its copy: every sentence of the smaller side in a pair of 200 bytes is more than was ever seen.
		c.Disk += 2 * 200 * int64(min(c.Sentences[0], c.Sentences[1]))
	}
}

// Rates are what this machine does in a second, as a calibration measured it; 0: not needed, or not to be measured in seconds.
type Rates struct {
	Encodings   float64 `json:"encodings_per_second"`
	Comparisons float64 `json:"comparisons_per_second"`
}

// Time estimates how long the plan takes on a machine of these rates. Merging and matching handle about a million
// sentences a second, which is little beside the rest. Work without a rate is left out.
func (c Cost) Time(r Rates) time.Duration {
	seconds := float64(c.Sentences[0]+c.Sentences[1]) / 1e6
	if c.Encodings > 0 {
		seconds += float64(c.Encodings) / r.Encodings
	}
	if c.Comparisons > 0 && r.Comparisons > 0 {
		seconds += float64(c.Comparisons) / r.Comparisons
	}
	return time.Duration(seconds * float64(time.Second))
}

// Bounds are what a run may use, in bytes; 0: no bound.
type Bounds struct {
	MaxMemory int64 // as the settings say
	Memory    int64 // of the machine
	Disk      int64 // free
}

// Fits refuses what cannot be done within bounds, naming the setting that would help.
func (c Cost) Fits(b Bounds) error {
	help := "lower --shard-size"
	if c.Stage == Match {
		help = "take fewer sentences"
	}
	switch {
	case b.MaxMemory > 0 && c.Memory > b.MaxMemory:
		return badinput.Errorf("a %s task needs %s of memory, more than max_memory = %s; raise --max-memory, or %s", c.Stage, Bytes(c.Memory), Bytes(b.MaxMemory), help)
	case b.Memory > 0 && c.Memory > b.Memory:
		return badinput.Errorf("a %s task needs %s of memory, and this machine has %s; %s, or use a larger machine", c.Stage, Bytes(c.Memory), Bytes(b.Memory), help)
	}
	disk := b.Disk
	if disk > 0 && c.Disk > disk {
		return badinput.Errorf("the run would write %s, but the work directory's disk has %s free; free some, or name a directory on another disk with --work",
			Bytes(c.Disk), Bytes(disk))
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
