// Package setting declares the settings of a run: each once, as a field of the group that it belongs to.
//
// The tags of a field:
//
//   - `setting` is the setting's key in YAML; with ",flag" it has a flag of that name too, dashes for underscores.
//   - `json` says what it does to keys. A setting with a name is part of every record that its group stands in: Record,
//     in run.json, and plan.Settings, in the key of the bitext. A setting with "-" changes no result and no key.
//   - `min` and `max` bound a number; `search` is FAISS's name of a setting of approximate indexes.
//
// The default, the reason for it and the help of the flag stand in configs/default.yaml.
//
// To add a setting: a field here, its default in configs/default.yaml, and the place that uses it. One that changes
// results takes omitempty, and its zero value means what was done before it came, so that stored keys survive.
package setting

import (
	"cmp"
	"fmt"
	"reflect"
	"runtime"
	"strings"

	"bitextmine/encode/gpu"
)

// Languages are the languages of a run, as codes.
type Languages struct {
	Source string `setting:"src,flag" json:"src"`
	Target string `setting:"tgt,flag" json:"tgt"`
}

// Many are the languages of a run over more than one pair. All are mined together in pairs, or each with the pivot, or
// in the pairs that are listed.
type Many struct {
	Langs        string   `setting:"langs,flag" json:"-"` // codes with commas between them
	Pivot        string   `setting:"pivot,flag" json:"-"`
	LangPairs    string   `setting:"lang_pairs,flag" json:"-"` // such as de-en, with commas between them
	LanguageText []string `setting:"text,flag" json:"-"`       // LANGUAGE=FILES, or mixed=FILES
	LangColumn   string   `setting:"lang_column,flag" json:"-"`
	LangModel    string   `setting:"lang_model,flag" json:"-"`
}

// Input is the text of a run.
type Input struct {
	SourceText []string            `setting:"src_text,flag" json:"-"`
	TargetText []string            `setting:"tgt_text,flag" json:"-"`
	Corpora    map[string][]string `setting:"corpora" json:"-"` // patterns of each language's files
	OnBadFile  string              `setting:"on_bad_file,flag" json:"-"`
	Swapped    bool                `setting:"swapped,flag" json:"-"`
	// In keys its digest stands, in how the text is cut.
	Exclude string `setting:"exclude,flag,once" json:"-"`
}

// Given names vectors that another program made of the text. As the text, they are an input, whose digests are in keys.
type Given struct {
	SourceEmb []string `setting:"src_emb,flag" json:"-"`
	TargetEmb []string `setting:"tgt_emb,flag" json:"-"`
	EmbDim    int      `setting:"emb_dim,flag" json:"-" min:"0"`
	EmbDType  string   `setting:"emb_dtype,flag" json:"-"`
}

// HasVectors says whether there are any.
func (g Given) HasVectors() bool { return len(g.SourceEmb) > 0 || len(g.TargetEmb) > 0 }

// Output is where a run writes.
type Output struct {
	Out       string `setting:"out,flag" json:"-"`
	Work      string `setting:"work,flag" json:"-"`
	Overwrite bool   `setting:"overwrite,flag" json:"-"`
	Refit     bool   `setting:"refit,flag" json:"-"`
}

// Text is how the input is read and cut into shards.
type Text struct {
	Format       string `setting:"format,flag" json:"format"`
	TextColumn   string `setting:"text_column,flag" json:"text_column"`
	DocColumn    string `setting:"doc_column,flag" json:"doc_column"`
	URLColumn    string `setting:"url_column,flag" json:"url_column"`
	Charset      string `setting:"encoding,flag" json:"encoding,omitempty"`
	OnBadLine    string `setting:"on_bad_line,flag" json:"on_bad_line"`
	MaxLineBytes int    `setting:"max_line_bytes,flag" json:"max_line_bytes"`
	ShardSize    int    `setting:"shard_size,flag" json:"shard_size"`
}

// Dividing says whether records are divided into sentences.
type Dividing struct {
	Split string `setting:"split,flag" json:"split,omitempty"` // a record has auto as empty
	Dedup string `setting:"dedup,flag" json:"dedup,omitempty"` // a record has off as empty
	// A learned splitter in place of rules. In a record its digest stands in place of its directory; without one its
	// threshold is 0.
	Splitter          string  `setting:"splitter,flag" json:"splitter,omitempty"`
	SplitterThreshold float64 `setting:"splitter_threshold,flag" json:"splitter_threshold,omitempty" min:"0" max:"1"`
}

// The values of split.
const (
	SplitAuto = "auto"
	SplitOn   = "on"
	SplitOff  = "off"
)

// The values of dedup.
const (
	DedupOff   = "off"
	DedupPages = "pages"
)

// Sides is how the text of one side is read where it is stored otherwise than the other's. An empty value leaves what
// Text says.
type Sides struct {
	SourceFormat     string `setting:"src_format,flag" json:"src_format,omitempty"`
	TargetFormat     string `setting:"tgt_format,flag" json:"tgt_format,omitempty"`
	SourceCharset    string `setting:"src_encoding,flag" json:"src_encoding,omitempty"`
	TargetCharset    string `setting:"tgt_encoding,flag" json:"tgt_encoding,omitempty"`
	SourceTextColumn string `setting:"src_text_column,flag" json:"src_text_column,omitempty"`
	TargetTextColumn string `setting:"tgt_text_column,flag" json:"tgt_text_column,omitempty"`
	SourceDocColumn  string `setting:"src_doc_column,flag" json:"src_doc_column,omitempty"`
	TargetDocColumn  string `setting:"tgt_doc_column,flag" json:"tgt_doc_column,omitempty"`
	SourceURLColumn  string `setting:"src_url_column,flag" json:"src_url_column,omitempty"`
	TargetURLColumn  string `setting:"tgt_url_column,flag" json:"tgt_url_column,omitempty"`
}

// Aligning says whether the documents of both sides are paired and aligned beside global mining. Without it the other
// settings are empty. In a record the digest of DocPairs stands in place of its name.
type Aligning struct {
	Documents string  `setting:"documents,flag" json:"documents,omitempty"` // a record has off as empty
	DocPairs  string  `setting:"doc_pairs,flag" json:"doc_pairs,omitempty"`
	DocMeta   string  `setting:"doc_meta,flag" json:"doc_meta,omitempty"` // corpus.MetadataColumns reads it
	DocScore  float64 `setting:"doc_score,flag" json:"doc_score,omitempty" min:"-1" max:"1"`
	BeadScore float64 `setting:"bead_score,flag" json:"bead_score,omitempty" min:"-1" max:"1"`
}

// The values of documents.
const (
	DocumentsOff = "off"
	DocumentsOn  = "on"
)

// Encoding names the encoder. In a record its digest stands in place of its name.
type Encoding struct {
	Encoder string `setting:"encoder,flag" json:"encoder"`
}

// Vectors is how sentence vectors are stored.
type Vectors struct {
	DType string `setting:"dtype,flag" json:"dtype"`
}

// Searching is how neighbours are searched.
type Searching struct {
	Search            string `setting:"search,flag" json:"search"`
	SearchApproximate string `setting:"search_approximate" json:"search_approximate,omitempty"`
	NProbe            int    `setting:"nprobe,flag" json:"nprobe,omitempty" search:"nprobe" min:"0"`
	EfSearch          int    `setting:"ef_search,flag" json:"ef_search,omitempty" search:"efSearch" min:"0"`
}

// Approximate lists the approximate searches that auto may choose.
func (s Searching) Approximate() []string { return strings.Fields(s.SearchApproximate) }

// SearchKey names the search with the settings that change what it finds, as keys hold it.
func (s Searching) SearchKey() string {
	name := s.Search
	values := reflect.ValueOf(s)
	for i := range values.NumField() {
		if of := values.Type().Field(i).Tag.Get("search"); of != "" && !values.Field(i).IsZero() {
			name += fmt.Sprintf(" %s=%v", of, values.Field(i))
		}
	}
	if strings.HasPrefix(s.Search, "ivf:") {
		name += " lopsided=8 taken whole small" // what ivf finds changed with each
	}
	return name
}

// Decision is how candidates come about and what decides between them. In a record the digest of the scorer's file
// stands in place of its name.
type Decision struct {
	K         int     `setting:"k,flag" json:"k" min:"1" max:"64"` // the maximum is index.MaxK
	Margin    string  `setting:"margin,flag" json:"margin"`
	Retrieval string  `setting:"retrieval,flag" json:"retrieval"`
	Threshold float64 `setting:"threshold,flag" json:"threshold"`
	KeepBelow bool    `setting:"keep_below,flag" json:"keep_below"`
	Scorer    string  `setting:"scorer,flag" json:"scorer,omitempty"`
	Precision float64 `setting:"precision,flag" json:"precision,omitempty"`
	Cut       string  `setting:"cut,flag" json:"cut,omitempty"`
	Features  bool    `setting:"features,flag" json:"features,omitempty"`

	KeepCopies  bool `setting:"keep_copies,flag" json:"keep_copies,omitempty"`
	KeepForeign bool `setting:"keep_foreign,flag" json:"keep_foreign,omitempty"`
}

// Cuts are the values of cut, and the weight of recall in each.
var Cuts = map[string]float64{"f0.5": 0.5, DefaultCut: 1, "f2": 2}

// DefaultCut is the cut of a threshold that is found.
const DefaultCut = "f1"

// AutoThreshold stands for the default of whatever decides. In a plan it stands for a threshold of the margin that the
// scorer's probabilities find or, without a scorer, the distribution of the margins; a scorer that decides has one of
// its own there, from 0 to 1.
const AutoThreshold = -1

// LASERThreshold is LASER's published threshold of the ratio margin.
const LASERThreshold = 1.06

// Refining names the strong encoder of two-stage mining. In a record its digest stands in place of its name, and either
// the floor or the doubt, whichever says nothing of the run, is 0.
type Refining struct {
	Refine      string  `setting:"refine,flag" json:"refine,omitempty"`
	RefineFloor float64 `setting:"refine_floor,flag" json:"refine_floor,omitempty"`
	RefineDoubt float64 `setting:"refine_doubt,flag" json:"refine_doubt,omitempty" min:"0"`
}

// Judging names the judge of the pairs that the scorer is in doubt of. In a record its digest stands in place of its
// name; without one the doubt is 0.
type Judging struct {
	Judge      string  `setting:"judge,flag" json:"judge,omitempty"`
	JudgeDoubt float64 `setting:"judge_doubt,flag" json:"judge_doubt,omitempty" min:"0"`
}

// Checks names data to compare a result with. It changes nothing in the result.
type Checks struct {
	Gold         string  `setting:"gold,flag" json:"-"`
	SearchRecall float64 `setting:"search_recall" json:"-" min:"0" max:"1"`
}

// Resources limits what a process uses of its machine.
type Resources struct {
	Threads     int    `setting:"threads,flag" json:"-" min:"0" max:"4096"`
	MaxMemory   string `setting:"max_memory,flag" json:"-"` // ParseBytes reads it
	ONNXRuntime string `setting:"onnxruntime,flag" json:"-"`
	Device      string `setting:"device,flag" json:"-"` // gpu.Parse reads it
}

// Arithmetic names what computes the vectors of either encoder and a judge's logits, if not the CPU: a provider and its
// precision (gpu.Device.Arithmetic). It changes the last bits, so it is in their keys; which GPUs do it, and
// how many, is not.
type Arithmetic struct {
	EncoderDevice string `setting:"-" json:"encoder_device,omitempty"`
	RefineDevice  string `setting:"-" json:"refine_device,omitempty"`
	JudgeDevice   string `setting:"-" json:"judge_device,omitempty"`
}

// Unreadable lists the settings that are text in a form of their own and cannot be read.
func (r *Resources) Unreadable() (problems []string) {
	if _, err := gpu.Parse(r.Device); err != nil {
		problems = append(problems, err.Error())
	}
	if _, err := ParseBytes(r.MaxMemory); err != nil {
		problems = append(problems, fmt.Sprintf("max_memory = %q: %v", r.MaxMemory, err))
	}
	return problems
}

// MemoryBound is MaxMemory in bytes; 0: no bound.
func (r *Resources) MemoryBound() int64 {
	bound, _ := ParseBytes(r.MaxMemory) // Resolve refuses others
	return bound
}

// Resolve validates the resources of a command that has no other settings, and fills what is derived.
func (r *Resources) Resolve() error {
	if err := Refusal(append(Problems(*r), r.Unreadable()...)); err != nil {
		return err
	}
	r.UseAllCores()
	return nil
}

// UseAllCores puts the number of cores in place of 0 threads.
func (r *Resources) UseAllCores() {
	if r.Threads == 0 {
		r.Threads = runtime.NumCPU()
	}
}

// Scheduling names the engine that runs the tasks, and its settings.
type Scheduling struct {
	Engine              string              `setting:"engine,flag" json:"-"`
	Command             string              `setting:"command,flag" json:"-"`
	CommandJobs         int                 `setting:"command_jobs,flag" json:"-" min:"0"`
	SlurmOptions        map[string][]string `setting:"slurm_options" json:"-"` // options of each stage
	KubernetesImage     string              `setting:"kubernetes_image" json:"-"`
	KubernetesNamespace string              `setting:"kubernetes_namespace" json:"-"`
	KubernetesClaim     string              `setting:"kubernetes_claim" json:"-"`
	KubernetesMount     string              `setting:"kubernetes_mount" json:"-"`
	KubernetesPod       string              `setting:"kubernetes_pod" json:"-"` // a YAML mapping, or a file with one
	KubernetesGPUs      int                 `setting:"kubernetes_gpus" json:"-" min:"0"`
}

// Nights has the settings of nightly runs besides mining.
type Nights struct {
	Keep       int    `setting:"keep,flag" json:"-" min:"1"`
	SweepCells bool   `setting:"sweep_cells" json:"-"`
	Metrics    string `setting:"metrics,flag" json:"-"`
}

// Record is the settings that change the bitext besides the text, as run.json holds them: two runs may share an output
// directory only if their records are equal.
type Record struct {
	Languages
	Text
	Sides
	Dividing
	Aligning
	Encoding
	Vectors
	Searching
	Decision
	Refining
	Judging
	Arithmetic
}

// given is a decision as its user may have written it, beside another one: a record has 0 for a threshold that a scorer
// found, and names one that found a threshold of the margin.
func (d Decision) given(beside Decision) Decision {
	switch {
	case d.Threshold == AutoThreshold && beside.Threshold != AutoThreshold:
		d.Scorer = ""
	case d.Threshold == 0 && (d.Cut != "" || d.Precision != 0):
		d.Threshold = AutoThreshold
	}
	d.Cut = cmp.Or(d.Cut, DefaultCut)
	return d
}

// written is a record as its user may have written the settings, beside another one. Without documents the settings of
// their pairs are of no meaning.
func (r Record) written(beside Record) Record {
	r.Decision = r.given(beside.Decision)
	r.Split, r.Dedup = cmp.Or(r.Split, SplitAuto), cmp.Or(r.Dedup, DedupOff)
	if r.Documents == "" {
		r.Aligning = beside.Aligning
		r.Documents = DocumentsOff
	}
	return r
}

// Differences names the settings that differ, with both values.
func (r Record) Differences(now Record) string {
	var names []string
	r, now = r.written(now), now.written(r)
	before, after := reflect.ValueOf(r), reflect.ValueOf(now)
	for _, field := range reflect.VisibleFields(before.Type()) {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if field.Anonymous || name == "-" {
			continue
		}
		x, y := before.FieldByIndex(field.Index).Interface(), after.FieldByIndex(field.Index).Interface()
		if !reflect.DeepEqual(x, y) {
			names = append(names, fmt.Sprintf("%s was %v, is %v", name, shown(x), shown(y)))
		}
	}
	return strings.Join(names, ", ")
}

func shown(value any) any {
	if value == "" {
		return "none"
	}
	return value
}
