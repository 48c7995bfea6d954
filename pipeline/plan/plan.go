package plan

import (
	"encoding/json"

	"bitextmine/corpus"
	"bitextmine/pipeline/setting"
)

// The stages, in the order of their waves.
const (
	Shard  = "shard"  // one input file -> Parquet shards of unique sentences
	Encode = "encode" // one shard -> embedding file
	Search = "search" // one cell -> both sides' neighbours
	Merge  = "merge"  // one shard's base and new cells -> its neighbours over its whole cover
	Match  = "match"  // every shard's neighbours -> bitext
)

// Plan is all that a task needs to know, on whatever machine it runs.
type Plan struct {
	Version  string          `json:"version"` // of the program: another version may compute other keys
	Settings Settings        `json:"settings"`
	Encoder  string          `json:"encoder"`           // where its files are: a built-in name or a path
	Backend  string          `json:"backend,omitempty"` // that searches, where it is another than Settings.Search
	Sides    [2]Side         `json:"sides"`             // source, target
	Scorer   json.RawMessage `json:"scorer,omitempty"`  // its file, where one decides
	Covers   []Cover         `json:"covers"`            // of the bases
	Waves    []Wave          `json:"waves"`
}

// Settings are the settings that change outputs, as the specs take them.
type Settings struct {
	Corpus           corpus.Options `json:"corpus"`
	EncoderName      string         `json:"encoder_name"`
	setting.Encoding                // Encoder: its digest
	Dim              int            `json:"dim"`
	setting.Vectors
	setting.Searching        // Search: whose lists, any exact search gives those of "exact"; SearchApproximate: empty
	setting.Decision         // Scorer: the digest of Plan.Scorer
	ConfigDigest      string `json:"config_digest"`
}

// Side is one language's part of a run.
type Side struct {
	Name     string      `json:"name"` // "src" or "tgt", as in the bitext's columns
	Language string      `json:"language"`
	Inputs   []Input     `json:"inputs"` // in the order of their paths
	Shards   []ShardFile `json:"shards"` // in the order of (path of the input file, place in it): the first occurrence of a sentence is in the first shard that has it
}

// Input is a text file.
type Input struct {
	Path    string `json:"path"`
	Builtin bool   `json:"builtin,omitempty"` // it is in the program
	Bytes   int64  `json:"bytes"`
	SHA256  string `json:"sha256"` // of its bytes
}

// ShardFile is one shard in the output of a sharding task.
type ShardFile struct {
	Name   string `json:"name"` // input path#place: the bitext's shard column
	Task   string `json:"task"` // key of the sharding task
	File   string `json:"file"` // its name in that task's output
	SHA256 string `json:"sha256"`
	Rows   int    `json:"rows"`
	Vector string `json:"vector"` // key of its encoding task: what the shard is called in cells and covers
}

// Rows adds up the rows of a side's shards.
func (s *Side) Rows() int {
	n := 0
	for _, shard := range s.Shards {
		n += shard.Rows
	}
	return n
}

// Cover is a set of shards by their Vector, ascending.
type Cover []string

// Wave is tasks that do not need each other.
type Wave struct {
	Stage string `json:"stage"`
	Tasks []Task `json:"tasks"`
}

// Task is one stage function over named inputs, with one output key.
type Task struct {
	Stage string `json:"stage"`
	Key   string `json:"key"`
	Items int64  `json:"items"` // bytes of text for a sharding task, else sentences: what its progress counts
	// Memory is an upper bound of the anonymous memory that it needs, in bytes; mapped files are not in it.
	Memory int64 `json:"memory"`

	Side   int       `json:"side"`             // of shard, encode, merge: 0 source, 1 target
	Input  int       `json:"input"`            // of shard: place among the side's inputs
	Shards [2]int    `json:"shards"`           // of encode and merge: [0], a shard of Side; of search: a shard of either side
	Base   *Base     `json:"base,omitempty"`   // of merge
	Cells  []CellRef `json:"cells,omitempty"`  // of merge: the cells that its base does not cover
	Merges [2][]Ref  `json:"merges,omitempty"` // of match: by side and shard
}

// Base is neighbours that a merge starts from.
type Base struct {
	Key   string `json:"key"`
	Cover int    `json:"cover"` // place in the plan's covers
}

// CellRef is a cell seen from one of its shards.
type CellRef struct {
	Key   string `json:"key"`
	Other int    `json:"other"` // the other side's shard
}

// Ref is the key of a task.
type Ref = string

// Searcher names the backend that searches.
func (p *Plan) Searcher() string {
	if p.Backend != "" {
		return p.Backend
	}
	return p.Settings.Search
}

// Len is the number of tasks of all waves.
func (p *Plan) Len() int {
	n := 0
	for _, w := range p.Waves {
		n += len(w.Tasks)
	}
	return n
}

// Task returns a task by its place among the tasks of all waves.
func (p *Plan) Task(index int) (*Task, bool) {
	for w := range p.Waves {
		tasks := p.Waves[w].Tasks
		if index >= 0 && index < len(tasks) {
			return &tasks[index], true
		}
		index -= len(tasks)
	}
	return nil, false
}

// First is the place of a wave's first task among the tasks of all waves.
func (p *Plan) First(wave int) int {
	n := 0
	for _, w := range p.Waves[:wave] {
		n += len(w.Tasks)
	}
	return n
}
