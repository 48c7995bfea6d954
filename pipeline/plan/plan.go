// Package plan says what a run has to do, as data.
//
// A plan is a list of tasks in waves: the tasks of one wave need only outputs of earlier waves, in whatever order and
// on whatever machines they run. It follows from settings, inputs and the ledger alone; no directory is listed for it.
// Which tasks there are is known to the stages (package stage and the folders below it); this package knows none of
// them by name.
//
// Shards and embeddings belong to a language; cells, merged neighbours and the bitext belong to a pair of languages. A
// plan holds any number of pairs, and the keys of a pair do not depend on the others.
//
// Cutting the inputs into shards is a plan of its own, because what it finds decides the rest. A cell is a source shard
// and a target shard. A shard set is the set of the other language's shards that a shard's merged neighbours have seen.
// A night that adds shards starts each merge from the neighbours of the night before, its base, and needs only the
// cells outside the base's shard set: the new row and column.
package plan

import (
	"encoding/json"
	"fmt"
	"sort"
	"strings"

	"bitextmine/bitext/label"
	"bitextmine/corpus"
	"bitextmine/encode/model"
	"bitextmine/pipeline/setting"
)

// format is the version of the plan file.
const format = 3

// Plan is all that a task needs to know, on whatever machine it runs.
type Plan struct {
	Format    int             `json:"format"`
	Version   string          `json:"version"` // the program's version: another may compute other keys
	Settings  Settings        `json:"settings"`
	Encoder   string          `json:"encoder"`             // a built-in name, or the path of its files
	Backend   string          `json:"backend,omitempty"`   // the search backend, where it is another than Settings.Search
	Scorer    json.RawMessage `json:"scorer,omitempty"`    // its file, where a scorer decides
	Refiner   *Refiner        `json:"refiner,omitempty"`   // two-stage mining's strong encoder
	Judge     *Judge          `json:"judge,omitempty"`     // judges pairs in doubt
	Labels    []label.Label   `json:"labels,omitempty"`    // what people decided on pairs
	DocPairs  string          `json:"doc_pairs,omitempty"` // file of known pairs of documents
	Languages []Language      `json:"languages"`
	Pairs     []Pair          `json:"pairs"`
	ShardSets []ShardSet      `json:"shard_sets"` // shard sets of the bases of merges
	Waves     []Wave          `json:"waves"`
	SetAside  bool            `json:"set_aside,omitempty"` // input files that cannot be used, instead of failing
}

// Settings are the settings that change outputs, as the specs of tasks take them.
type Settings struct {
	Corpus           corpus.Options `json:"corpus"`
	EncoderName      string         `json:"encoder_name"`
	setting.Encoding                // Encoder: its digest
	Dim              int            `json:"dim"`
	setting.Vectors
	setting.Searching // Search: whose lists, any exact search gives those of "exact"; SearchApproximate: empty
	setting.Decision  // Scorer: the digest of Plan.Scorer
	setting.Refining  // Refine: the digest of Plan.Refiner
	setting.Judging   // Judge: the digest of Plan.Judge
	setting.Aligning  // DocPairs: the digest of Plan.DocPairs
	setting.Arithmetic
	Labels       string `json:"labels,omitempty"` // the digest of Plan.Labels; empty: there are none
	ConfigDigest string `json:"config_digest"`    // a pair's; empty in a plan, which has one for each pair
}

// Scored says whether the scorer decides between candidates.
func (s *Settings) Scored() bool { return s.Scorer != "" && !s.FindsThreshold() }

// FindsThreshold says whether the margin decides above a threshold that is found: by the scorer's probabilities, or
// without a scorer by the distribution of the margins.
func (s *Settings) FindsThreshold() bool { return s.Threshold == setting.AutoThreshold }

// Refiner is the strong encoder of two-stage mining. Settings.Refine is its digest.
type Refiner struct {
	Encoder string `json:"encoder"` // path of its files
	Name    string `json:"name"`
	Dim     int    `json:"dim"`
}

// Judge is the judge of the pairs that the scorer is in doubt of. Settings.Judge is its digest.
type Judge struct {
	Model string      `json:"model"` // path of its files
	Name  string      `json:"name"`
	Merge model.Merge `json:"merge"`
}

// Language is the text of one language.
type Language struct {
	Code   string  `json:"code"`
	Inputs []Input `json:"inputs"` // sorted by path
	// Shards are in the order of (path of the input file, place in it): the first occurrence of a sentence is in the
	// first shard that has it.
	Shards []Shard `json:"shards"`
}

// Rows adds up the rows of the shards.
func (l *Language) Rows() int {
	n := 0
	for _, shard := range l.Shards {
		n += shard.Rows
	}
	return n
}

// LargestShard is the most rows that a shard has.
func (l *Language) LargestShard() (n int) {
	for _, shard := range l.Shards {
		n = max(n, shard.Rows)
	}
	return n
}

// InputOf returns the input that a shard was cut from, the first of several; nil if the language has none of its name.
func (l *Language) InputOf(shard int) *Input {
	path := l.Shards[shard].FilePath(0)
	for i := range l.Inputs {
		if l.Inputs[i].Path == path {
			return &l.Inputs[i]
		}
	}
	return nil
}

// Pair is two languages that are mined together, by their places among the plan's languages.
type Pair struct {
	Source       int    `json:"source"`
	Target       int    `json:"target"`
	ConfigDigest string `json:"config_digest"` // digest of the settings and the two language codes

	Merges [2][]string `json:"merges"` // keys of the merged neighbours by side and shard, where the plan asks for them
	Bitext string      `json:"bitext"` // key of the matching task, where the plan asks for it

	// Features are the keys of the candidates' features, by source shard, where the plan asks for them.
	Features []string `json:"features,omitempty"`

	// Of two-stage mining: the keys of the task that says which sentences to encode again, and of their vectors by side
	// and shard.
	Shortlist string       `json:"shortlist,omitempty"`
	Refined   *[2][]string `json:"refined,omitempty"`

	Judged string `json:"judged,omitempty"` // key of the judge's task

	// Of documents: the keys of the tasks that find candidates, that compare them, by the source's shards, that choose
	// pairs, and that align these, by the source's shards.
	DocumentCandidates string   `json:"document_candidates,omitempty"`
	Compared           []string `json:"compared,omitempty"`
	DocumentPairs      string   `json:"document_pairs,omitempty"`
	Aligned            []string `json:"aligned,omitempty"`
}

// SideNames are the names of a pair's sides, as the bitext's columns have them.
var SideNames = [2]string{"src", "tgt"}

// Input is a text file.
type Input struct {
	Path    string `json:"path"`
	Builtin bool   `json:"builtin,omitempty"` // it is in the program
	Bytes   int64  `json:"bytes"`
	SHA256  string `json:"sha256"` // digest of its bytes
	// Bad is why there are no bytes to read, where bad files are set aside; empty: there are.
	Bad string `json:"bad,omitempty"`
	// Corpus is how it is read and cut where that is not as Settings.Corpus says.
	Corpus *corpus.Options `json:"corpus,omitempty"`
	// Seen describes its first records, where that decides whether records are divided; nil: nobody looked.
	Seen *Seen `json:"seen,omitempty"`
	// Splitter divides its records; nil: rules do, or nothing does. Corpus.Split has its digest.
	Splitter *Splitter `json:"splitter,omitempty"`
	// Exclude has the translations whose sentences are left out; nil: none are. Corpus.Exclude says which these are.
	Exclude *Exclude `json:"exclude,omitempty"`
	// Vectors names vectors that another program made of its lines; nil: the encoder makes them.
	Vectors *Vectors `json:"vectors,omitempty"`
	// Group is the key of the task that cuts it together with other small files, and Part its place among them; empty:
	// it is cut alone.
	Group string `json:"group,omitempty"`
	Part  int    `json:"part,omitempty"`
}

// Exclude is a file of translations.
type Exclude struct {
	Path   string `json:"path"`
	SHA256 string `json:"sha256"`
	Source string `json:"src"` // the languages that are read of it
	Target string `json:"tgt"`
	Side   int    `json:"side"` // whose sentences are left out
}

// Pairs identifies the translations, wherever the file is.
func (x Exclude) Pairs() string { return fmt.Sprintf("%s %s-%s", x.SHA256, x.Source, x.Target) }

// Sentences identifies the sentences that are left out.
func (x Exclude) Sentences() string { return fmt.Sprintf("%s side %d", x.Pairs(), x.Side) }

// Splitter is a learned splitter.
type Splitter struct {
	Path      string  `json:"path"` // path of its files
	Threshold float64 `json:"threshold"`
}

// Seen is the sentences of an input's first records.
type Seen struct {
	Records   int `json:"records"`
	Several   int `json:"several"` // records of several sentences
	Sentences int `json:"sentences"`
	HTML      int `json:"html,omitempty"` // pages, of which no sentence is counted
}

// Documents says whether the records are documents rather than sentences: most are of several sentences, or pages of
// HTML, and they have three on average. Lines of sentences have not: docs/documents.md.
func (s Seen) Documents() bool {
	return 2*(s.Several+s.HTML) > s.Records && s.Sentences >= 3*(s.Records-s.HTML)
}

// String is for people.
func (s Seen) String() string {
	line := fmt.Sprintf("of the first %d records %d are of several sentences, %.1f on average", s.Records, s.Several, float64(s.Sentences)/float64(max(s.Records-s.HTML, 1)))
	if s.HTML > 0 {
		line += fmt.Sprintf(", and %d are HTML", s.HTML)
	}
	return line
}

// Vectors is a file of vectors that another program made of an input, [rows, dim].
type Vectors struct {
	Path   string `json:"path"`
	SHA256 string `json:"sha256"` // digest of its bytes
	Rows   int    `json:"rows"`   // one for each line of the input
	Dim    int    `json:"dim"`
	Raw    string `json:"raw,omitempty"`    // type of the numbers in a file without a header; empty: .npy
	Header uint64 `json:"header,omitempty"` // lines of the input before the one of the first row: 1 in TSV
}

// Shard is one shard in the output of a sharding task.
type Shard struct {
	Name   string `json:"name"` // input path#place: the bitext's shard column
	Task   string `json:"task"` // key of the sharding task
	File   string `json:"file"` // its name in that task's output
	SHA256 string `json:"sha256"`
	Rows   int    `json:"rows"`
	Bytes  int64  `json:"bytes,omitempty"` // size of the file; 0: not known
	Vector string `json:"vector"`          // key of its encoding task: how cells and shard sets name the shard
	Given  string `json:"given,omitempty"` // digest of its rows' vectors, where another program made them
	// Described is the key of the task that describes its sentences for features, where the plan asks for it.
	Described string `json:"described,omitempty"`
	// Documents is the key of the task that computes the mean vectors of the documents that begin in it, where the plan
	// asks for it.
	Documents string `json:"documents,omitempty"`
	// Files are the parts of input files in a shard of several, in their order; empty: all rows are of one file.
	Files []Part `json:"files,omitempty"`
}

// Part is the rows of one of the files that share a shard.
type Part struct {
	Name  string `json:"name"`  // input path#place: the bitext's shard column
	First uint32 `json:"first"` // row of the shard
}

// Origin is the name that the bitext gives the shard for a row: where files share it, that of the row's file.
func (s *Shard) Origin(row uint32) string {
	return s.FileName(s.fileOf(row))
}

// OriginPath is the path of the file that a row is from.
func (s *Shard) OriginPath(row uint32) string { return s.FilePath(s.fileOf(row)) }

func (s *Shard) fileOf(row uint32) int {
	return sort.Search(len(s.Files), func(i int) bool { return s.Files[i].First > row }) - 1
}

// FileName is the name that the bitext gives the shard for the rows of one of the files that share it.
func (s *Shard) FileName(file int) string {
	if file < 0 || file >= len(s.Files) {
		return s.Name
	}
	return s.Files[file].Name
}

// FilePath is the path of one of the files that share the shard, or of the only one.
func (s *Shard) FilePath(file int) string {
	name := s.FileName(file)
	return name[:strings.LastIndexByte(name, '#')]
}

// Wave is tasks of one stage, which do not need each other.
type Wave struct {
	Stage   string `json:"stage"`
	Version int    `json:"version"`        // the stage's, which the tasks' keys hold
	Unit    string `json:"unit"`           // what Task.Items counts
	Wide    bool   `json:"wide,omitempty"` // one task uses every core
	GPU     bool   `json:"gpu,omitempty"`  // a task uses a GPU where one was asked for
	Tasks   []Task `json:"tasks"`
}

// Task is one stage function over named inputs, with one output key.
type Task struct {
	Stage string `json:"stage"`
	Key   string `json:"key"`
	Items int64  `json:"items"` // what its progress counts, in the wave's unit
	// Memory is an upper bound of the anonymous memory that it needs, in bytes, without mapped files.
	Memory int64 `json:"memory"`
	// Fixed is the part of Memory that is there however few the rows are.
	Fixed int64 `json:"fixed,omitempty"`
	// Expected is an estimate of the anonymous memory that it takes beside its process's own, in bytes.
	Expected int64 `json:"-"`
	Disk     int64 `json:"disk"` // an estimate of the output that it leaves, in bytes
	Scratch  int64 `json:"-"`    // an estimate of its temporary files, in bytes: they are gone at its end
	Read     int64 `json:"-"`    // an estimate of what it reads, in bytes, if it finds nothing in a cache
	// Args says which inputs of the plan it works on; only its stage reads it.
	Args json.RawMessage `json:"args"`
}

// LanguageOf returns the place among the plan's languages of a side of a pair: 0 source, 1 target.
func (p *Plan) LanguageOf(pair, side int) int {
	return [2]int{p.Pairs[pair].Source, p.Pairs[pair].Target}[side]
}

// Side returns the language of a side of a pair: 0 source, 1 target.
func (p *Plan) Side(pair, side int) *Language { return &p.Languages[p.LanguageOf(pair, side)] }

// PairSettings are the settings as the specs of one pair take them.
func (p *Plan) PairSettings(pair int) Settings {
	s := p.Settings
	s.ConfigDigest = p.Pairs[pair].ConfigDigest
	return s
}

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

// Task returns a task by its place among the tasks of all waves, and its wave.
func (p *Plan) Task(index int) (*Task, *Wave, bool) {
	for w := range p.Waves {
		tasks := p.Waves[w].Tasks
		if index >= 0 && index < len(tasks) {
			return &tasks[index], &p.Waves[w], true
		}
		index -= len(tasks)
	}
	return nil, nil, false
}

// First is the place of a wave's first task among the tasks of all waves.
func (p *Plan) First(wave int) int {
	n := 0
	for _, w := range p.Waves[:wave] {
		n += len(w.Tasks)
	}
	return n
}
