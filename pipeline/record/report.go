package record

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"bitextmine/align/match"
	"bitextmine/bitext/label"
	"bitextmine/corpus"
	"bitextmine/corpus/input"
	"bitextmine/filter"
	"bitextmine/internal/atomicfile"
	"bitextmine/internal/badinput"
	"bitextmine/internal/usage"
	"bitextmine/pipeline/plan"
	"bitextmine/pipeline/setting"
	"bitextmine/score"
)

// ReportName is the report's file name in the output directory.
const ReportName = "run.json"

// MaxSamples is how many pairs the report shows.
const MaxSamples = 5

// Report is run.json: what went in, how, what came out, and at what cost.
type Report struct {
	Version      string            `json:"version"`
	RunID        string            `json:"run_id"` // digest of settings and inputs
	ConfigDigest string            `json:"config_digest"`
	Settings     setting.Record    `json:"settings"`
	Encoder      EncoderReport     `json:"encoder"`
	Refiner      *EncoderReport    `json:"refiner,omitempty"` // the strong encoder of two-stage mining
	Judge        *EncoderReport    `json:"judge,omitempty"`   // judges pairs in doubt
	Scorer       *ScorerReport     `json:"scorer,omitempty"`  // nil: the margin decided
	Search       SearchReport      `json:"search"`
	Inputs       []InputReport     `json:"inputs"`
	Counts       Counts            `json:"counts"`
	Threshold    float64           `json:"threshold"`      // the one that was used, given or found
	Cut          *CutReport        `json:"cut,omitempty"`  // nil: the margin decided above a given threshold
	Gold         *GoldReport       `json:"gold,omitempty"` // nil: no known pairs were named
	Stages       []StageReport     `json:"stages"`
	Bitext       BitextReport      `json:"bitext"`
	Samples      []Sample          `json:"samples"`
	Rejected     []Rejected        `json:"rejected,omitempty"`
	Warnings     []string          `json:"warnings,omitempty"`
	SetAside     []SetAside        `json:"set_aside,omitempty"`
	Versions     map[string]string `json:"versions"` // versions of Go and of the native libraries
	Threads      int               `json:"threads"`
	Started      time.Time         `json:"started"`
	Seconds      float64           `json:"seconds"`
	CPUSeconds   float64           `json:"cpu_seconds"`       // this process's user and system time
	PeakMemory   int64             `json:"peak_memory_bytes"` // resident, of the process
	Work         string            `json:"work"`              // folder of the intermediate files
	PlanID       string            `json:"plan_id"`           // names the plan in Work that made the bitext
}

// EncoderReport names the encoder.
type EncoderReport struct {
	Name   string `json:"name"`
	Digest string `json:"digest"`
	Dim    int    `json:"dim"`
}

// ScorerReport names the scorer and what it was fitted on.
type ScorerReport struct {
	Name     string             `json:"name"`
	Encoder  string             `json:"encoder"`
	FittedOn []score.KnownPairs `json:"fitted_on"`
}

// SearchReport is how a run searched, and what it missed.
type SearchReport struct {
	Result  string   `json:"result"`                 // whose lists they are: in keys and in the bitext
	Backend string   `json:"backend"`                // that made them
	Kernel  string   `json:"kernel,omitempty"`       // kernel of an exact search on this machine
	Why     string   `json:"why"`                    // the reason for the backend
	Recall  *float64 `json:"recall,omitempty"`       // share of true neighbours found; nil: all were
	Least   *float64 `json:"least_recall,omitempty"` // recall of the worst cell
	Floor   float64  `json:"recall_floor"`
}

// Warning is one sentence about a recall below the floor; empty if it is not below.
func (s *SearchReport) Warning() string {
	if s.Recall == nil || *s.Recall >= s.Floor {
		return ""
	}
	return fmt.Sprintf("search %s found %.3f of the true neighbours, %.3f in the worst cell, and search_recall asks for %.3f: raise nprobe or ef_search, or take exact",
		s.Backend, *s.Recall, *s.Least, s.Floor)
}

// InputReport is one input file: no line of it is lost without a count.
type InputReport struct {
	Language string        `json:"language"`
	Path     string        `json:"path"`
	SHA256   string        `json:"sha256"`
	Counts   corpus.Counts `json:"counts"`
	// Split is the language by whose rules records were divided into sentences; Seen is the reason.
	Split string     `json:"split,omitempty"`
	Seen  *plan.Seen `json:"seen,omitempty"`
	// of the file of vectors that another program made of it
	Vectors       string `json:"vectors,omitempty"`
	VectorsSHA256 string `json:"vectors_sha256,omitempty"`
}

// SetAside is an input file that could not be used.
type SetAside struct {
	Language string `json:"language"`
	Path     string `json:"path"`
	SHA256   string `json:"sha256"`
	Bytes    int64  `json:"bytes"`
	Why      string `json:"why"`
}

// AsideError refuses input of which too many files were set aside.
type AsideError struct {
	Files int // set aside so far
	Err   error
}

func (e *AsideError) Error() string { return e.Err.Error() }
func (e *AsideError) Unwrap() error { return e.Err }

// Counts are sentences and pairs.
type Counts struct {
	SourceIn     int `json:"src_in"` // sentences read, before any deduplication
	TargetIn     int `json:"tgt_in"`
	SourceUnique int `json:"src_unique"`
	TargetUnique int `json:"tgt_unique"`
	Skipped      int `json:"skipped"` // lines that are no sentence, both sides
	Candidates   int `json:"candidates"`
	Kept         int `json:"kept"`
	Refined      int `json:"refined,omitempty"` // sentences on the shortlist of two-stage mining
	Judged       int `json:"judged,omitempty"`  // candidates that the judge gave a logit

	Documents *DocumentCounts `json:"documents,omitempty"` // nil: documents were not aligned
}

// DocumentCounts are documents, and pairs of sentences that aligning them found.
type DocumentCounts struct {
	Source   int `json:"src"` // documents
	Target   int `json:"tgt"`
	Pairs    int `json:"pairs"`              // pairs of documents
	Short    int `json:"short,omitempty"`    // documents of one sentence, both sides, which are left to global mining
	Repeated int `json:"repeated,omitempty"` // documents whose id stood before, the same
	Unknown  int `json:"unknown,omitempty"`  // pairs of the list whose documents are not in the text
	Beads    int `json:"beads"`              // beads of different sentences from bead_score up
	Both     int `json:"both"`               // pairs of sentences that global mining kept, too
	Local    int `json:"local"`              // that it did not
	Replaced int `json:"replaced,omitempty"` // that it kept and a bead contradicts
	Rejected int `json:"rejected,omitempty"` // beads that rules or people rejected

	Metadata []Field `json:"metadata,omitempty"` // metadata of the pairs of documents
}

// Field is how often pairs of documents agree in a field of metadata.
type Field struct {
	Name string `json:"name"` // its name in the setting doc_meta
	match.FieldCounts
}

// String is for people.
func (f Field) String() string {
	return fmt.Sprintf("%s is equal in %d pairs of documents, differs in %d, and is missing in %d", f.Name, f.Equal, f.Different, f.Missing)
}

// String is a line for people.
func (d *DocumentCounts) String() string {
	line := fmt.Sprintf("%d and %d documents, %d pairs; of the pairs of sentences, aligning them found %d that global mining had, %d others, and contradicts %d",
		d.Source, d.Target, d.Pairs, d.Both, d.Local, d.Replaced)
	if d.Short+d.Repeated+d.Unknown > 0 {
		line += fmt.Sprintf(" (set aside: %d documents of one sentence, %d whose id stood before, %d listed pairs that are not there)", d.Short, d.Repeated, d.Unknown)
	}
	for _, field := range d.Metadata {
		line += "; " + field.String()
	}
	return line
}

// StageReport is one stage's work. Items counts what was computed now; Cached are the tasks whose output the store had.
type StageReport struct {
	Name       string  `json:"name"`
	Items      int64   `json:"items"`
	Unit       string  `json:"unit"`
	Seconds    float64 `json:"seconds"`
	Rate       float64 `json:"rate"` // items a second
	Tasks      int     `json:"tasks"`
	Cached     int     `json:"cached"`
	PeakMemory int64   `json:"peak_memory_bytes"` // the process's peak so far
	// AnonymousMemory is the most that the process had in the stage without mapped files; 0: other processes did it.
	AnonymousMemory int64 `json:"anonymous_memory_bytes,omitempty"`
}

// Joined is the stages of two parts of a run. Where the second found all of a stage done by the first, the first's
// figures are the stage's.
func Joined(first, second []StageReport) []StageReport {
	var all []StageReport
	for _, s := range first {
		later := slices.IndexFunc(second, func(t StageReport) bool { return t.Name == s.Name })
		if later < 0 {
			all = append(all, s)
		} else if second[later].Items == 0 {
			second[later] = s
		}
	}
	return append(all, second...)
}

// BitextReport is the file written.
type BitextReport struct {
	Path   string `json:"path"`
	Rows   int    `json:"rows"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
}

// Sample is a pair shown to the reader.
type Sample struct {
	Score  float32  `json:"score"`
	Prob   *float32 `json:"prob,omitempty"`
	Source string   `json:"src"`
	Target string   `json:"tgt"`
}

// Rejected are pairs that a rule rejected whatever their scores, by docs/formats.md's name of its reason.
type Rejected struct {
	Reason  string   `json:"reason"`
	Pairs   int      `json:"pairs"`
	Samples []Sample `json:"samples"`
}

// muchRejected is the share of the pairs above the threshold from which rejected ones are warned of.
const muchRejected = 0.1

// RejectedWarning is one sentence if rules rejected many pairs; else empty.
func (r *Report) RejectedWarning() string {
	var reasons []string
	total := 0
	for _, one := range r.Rejected {
		if slices.Equal(filter.Label.Reasons(), []string{one.Reason}) {
			continue // people meant it
		}
		total += one.Pairs
		reasons = append(reasons, fmt.Sprintf("%s %d, such as %q - %q", one.Reason, one.Pairs, one.Samples[0].Source, one.Samples[0].Target))
	}
	if float64(total) <= muchRejected*float64(total+r.Counts.Kept) || total < MaxSamples {
		return ""
	}
	return fmt.Sprintf("%d pairs are rejected and %d kept (%s): --keep-copies and --keep-foreign keep such pairs", total, r.Counts.Kept, strings.Join(reasons, "; "))
}

// Rule says in words what was kept.
func (r *Report) Rule() string {
	if d := r.Counts.Documents; d != nil && d.Local > 0 {
		return fmt.Sprintf("%s; %d of them by their place in aligned documents alone, from a bead_score of %g", r.rule(), d.Local, r.Settings.BeadScore)
	}
	return r.rule()
}

// rule is Rule for the pairs of global mining.
func (r *Report) rule() string {
	s := r.Settings
	switch {
	case s.Scorer == "" && s.Refine != "":
		return fmt.Sprintf("strong cosine x %s margin above %g, of pairs with a margin above %g, %s", s.Margin, s.Threshold, s.RefineFloor, s.Retrieval)
	case s.Scorer != "" && s.Threshold == setting.AutoThreshold:
		return fmt.Sprintf("%s margin above %.4f, which the scorer's probabilities found, %s", s.Margin, r.Threshold, s.Retrieval)
	case s.Scorer == "" && s.Threshold == setting.AutoThreshold && r.Cut == nil:
		return fmt.Sprintf("%s margin above %g, LASER's threshold, as the distribution of the margins gave none, %s", s.Margin, r.Threshold, s.Retrieval)
	case s.Scorer == "" && s.Threshold == setting.AutoThreshold:
		return fmt.Sprintf("%s margin above %.4f, which the distribution of the margins gave, %s", s.Margin, r.Threshold, s.Retrieval)
	case s.Scorer == "":
		return fmt.Sprintf("%s margin above %g, %s", s.Margin, s.Threshold, s.Retrieval)
	case s.Precision > 0:
		return fmt.Sprintf("probability from %.3f, which leaves a precision of %g by the scorer's probabilities", r.Threshold, s.Precision)
	case s.Cut != "":
		return fmt.Sprintf("probability from %.3f, which has the highest expected %s", r.Threshold, strings.ToUpper(s.Cut))
	default:
		return fmt.Sprintf("probability from %g", r.Threshold)
	}
}

// Write completes the report by what the process has used and writes it.
func (r *Report) Write(path string) error {
	r.Seconds = time.Since(r.Started).Seconds()
	r.PeakMemory, r.CPUSeconds = usage.PeakMemory(), usage.CPUSeconds()
	return atomicfile.WriteJSON(path, r)
}

// ReadReport reads the run.json of an output directory. Without one the error is fs.ErrNotExist.
func ReadReport(dir string) (*Report, error) {
	path := filepath.Join(dir, ReportName)
	data, err := os.ReadFile(path)
	if errors.Is(err, syscall.ENOTDIR) { // dir is a file
		err = &fs.PathError{Op: "open", Path: path, Err: fs.ErrNotExist}
	}
	if err != nil {
		return nil, err
	}
	r := &Report{}
	if err := json.Unmarshal(data, r); err != nil {
		return nil, badinput.Errorf("%s is not the report of a run (%w); name another directory with --out, or replace it with --overwrite", path, err)
	}
	return r, nil
}

// LatestName is the link in the output directory of nightly runs that leads to the last run's directory.
const LatestName = label.LatestName

// dataIn is the first Parquet, JSON or TSV file in a directory; empty: there is none.
func dataIn(dir string) string {
	found, err := input.Expand(nil, []string{dir})
	if err != nil {
		return ""
	}
	for _, f := range found {
		switch filepath.Ext(f.Path) {
		case ".parquet", ".jsonl", ".tsv":
			return f.Path
		}
	}
	return ""
}

// ReadLatest reads the run.json of a run. location is an output directory, a nightly directory (its latest run), or a
// bitext file. at is the directory that has the run.json.
func ReadLatest(location string) (r *Report, at string, err error) {
	info, err := os.Stat(location)
	if err != nil {
		return nil, "", badinput.Errorf("%s is neither a run's output directory nor its bitext file: %w", location, err)
	}
	dirs := []string{location, filepath.Join(location, LatestName)}
	if !info.IsDir() {
		dirs = []string{filepath.Dir(location)}
	}
	for _, at = range dirs {
		if r, err = ReadReport(at); !errors.Is(err, fs.ErrNotExist) {
			break
		}
	}
	if errors.Is(err, fs.ErrNotExist) {
		what := "so no run has ended there; name the output directory of mine run, or the bitext file in it"
		if inside := runsIn(dirs[0]); len(inside) > 0 { // folders of --langs
			what = "but runs in it have: name one of " + strings.Join(inside[:min(3, len(inside))], ", ")
		} else if data := dataIn(dirs[0]); info.IsDir() && data != "" {
			what += ", or, of files of pairs that no run wrote, one at a time, such as " + data
		}
		why := ""
		if !info.IsDir() {
			why = fmt.Sprintf("%s is the bitext of no run: ", location)
		}
		err = badinput.Errorf("%s%s has no %s, %s", why, dirs[0], ReportName, what)
	}
	if err == nil && !info.IsDir() && r.BitextPath(at) != filepath.Clean(location) {
		err = badinput.Errorf("the run in %s wrote %s, not %s; name its own bitext", at, filepath.Base(r.Bitext.Path), filepath.Base(location))
	}
	if err != nil {
		return nil, "", err
	}
	return r, at, nil
}

// runsIn lists the directories in one that are of a run or of nights.
func runsIn(dir string) (found []string) {
	for _, report := range []string{ReportName, filepath.Join(LatestName, ReportName)} {
		inside, _ := filepath.Glob(filepath.Join(dir, "*", report)) // bad only where dir has brackets
		for _, path := range inside {
			found = append(found, strings.TrimSuffix(path, string(filepath.Separator)+report))
		}
	}
	slices.Sort(found)
	return found
}

// BitextAt is the bitext file of a run that is named as for ReadLatest. A file that is no run's is itself.
func BitextAt(location string) (string, error) {
	if info, err := os.Stat(location); err == nil && !info.IsDir() {
		return location, nil
	}
	report, at, err := ReadLatest(location)
	if err != nil {
		return "", err
	}
	return report.BitextPath(at), nil
}

// WorkPath is where the work directory of a run in a directory is: the place that has its plan, or where it was. An
// output directory may have another name now; that of a night, or of one of several pairs, is below the work's.
func (r *Report) WorkPath(dir string) string {
	places := []string{r.Work}
	for _, near := range []string{dir, filepath.Dir(dir), filepath.Dir(filepath.Dir(dir))} {
		places = append(places, filepath.Join(near, filepath.Base(r.Work)))
	}
	for _, at := range places {
		if _, err := os.Stat(PlanPath(at, r.PlanID)); err == nil {
			return at
		}
	}
	return r.Work
}

// BitextPath is where the bitext of a run in a directory is, wherever it was when it was written.
func (r *Report) BitextPath(dir string) string {
	return filepath.Join(dir, filepath.Base(r.Bitext.Path))
}
