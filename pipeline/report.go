package pipeline

import (
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"time"

	"bitextmine/corpus"
	"bitextmine/encode"
	"bitextmine/internal/atomicfile"
	"bitextmine/internal/badinput"
	"bitextmine/internal/usage"
	"bitextmine/pipeline/setting"
	"bitextmine/pipeline/store"
	"bitextmine/score"
)

// ReportName is the report's file name in the output directory.
const ReportName = "run.json"

// samples is how many pairs the report shows.
const samples = 5

// Report is run.json: what went in, how, what came out, and at what cost.
type Report struct {
	Version      string            `json:"version"`
	RunID        string            `json:"run_id"` // digest of settings and inputs
	ConfigDigest string            `json:"config_digest"`
	Settings     setting.Record    `json:"settings"`
	Encoder      EncoderReport     `json:"encoder"`
	Search       SearchReport      `json:"search"`
	Inputs       []InputReport     `json:"inputs"`
	Counts       Counts            `json:"counts"`
	Threshold    float64           `json:"threshold"` // that was used: with settings.precision it is found in the matching
	Stages       []StageReport     `json:"stages"`
	Bitext       BitextReport      `json:"bitext"`
	Samples      []Sample          `json:"samples"`
	Versions     map[string]string `json:"versions"` // of Go and of the native libraries
	Threads      int               `json:"threads"`
	Started      time.Time         `json:"started"`
	Seconds      float64           `json:"seconds"`
	CPUSeconds   float64           `json:"cpu_seconds"`       // of this process, user and system
	PeakMemory   int64             `json:"peak_memory_bytes"` // resident, of the process
}

// EncoderReport names the encoder.
type EncoderReport struct {
	Name   string `json:"name"`
	Digest string `json:"digest"`
	Dim    int    `json:"dim"`
}

// SearchReport is how a run searched, and what it missed.
type SearchReport struct {
	searching
	Recall *float64 `json:"recall,omitempty"` // the least that was measured; nil: the search was exact
	Floor  float64  `json:"recall_floor"`
}

// warning is one sentence about a recall below the floor; empty if there is nothing to say.
func (s *SearchReport) warning() string {
	if s.Recall == nil || *s.Recall >= s.Floor {
		return ""
	}
	return fmt.Sprintf("search %s found %.3f of the true neighbours in the worst cell, and search_recall asks for %.3f: raise nprobe or ef_search, or take exact",
		s.Backend, *s.Recall, s.Floor)
}

// InputReport is one input file: no line of it is lost without a count.
type InputReport struct {
	Language string        `json:"language"`
	Path     string        `json:"path"`
	SHA256   string        `json:"sha256"`
	Counts   corpus.Counts `json:"counts"`
}

// Counts are sentences and pairs.
type Counts struct {
	SourceIn     int `json:"src_in"` // sentences read, before any deduplication
	TargetIn     int `json:"tgt_in"`
	SourceUnique int `json:"src_unique"`
	TargetUnique int `json:"tgt_unique"`
	Skipped      int `json:"skipped"` // lines that are no sentence, both sides
	Candidates   int `json:"candidates"`
	Kept         int `json:"kept"`
}

// StageReport is one stage's work. Items counts what was computed now; what the store already had is in Cached tasks.
type StageReport struct {
	Name       string  `json:"name"`
	Items      int64   `json:"items"`
	Unit       string  `json:"unit"`
	Seconds    float64 `json:"seconds"`
	Rate       float64 `json:"rate"` // items a second
	Tasks      int     `json:"tasks"`
	Cached     int     `json:"cached"`
	PeakMemory int64   `json:"peak_memory_bytes"` // of the process so far
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

// newReport starts the report of a run.
func newReport(cfg Config, version string, model *encode.Model, scorer *score.Named) *Report {
	s := cfg.record(model.Digest, scorerDigest(scorer, model.Tokens))
	return &Report{
		Version: version, ConfigDigest: digestOf(s), Settings: s, Threads: cfg.Threads, Started: time.Now().UTC(),
		Encoder:  EncoderReport{model.Name, model.Digest, model.Dim},
		Versions: map[string]string{"go": runtime.Version(), "mine": version},
	}
}

// readMatched reads what the match stage said of its bitext.
func readMatched(out *store.Output) (*matched, error) {
	info := &matched{}
	if err := json.Unmarshal(out.Info, info); err != nil || len(out.Files) != 1 {
		return nil, fmt.Errorf("the record of the bitext in %s is not one of this version; run again", out.Dir)
	}
	return info, nil
}

func (r *Report) write(path string) error {
	r.Seconds = time.Since(r.Started).Seconds()
	r.PeakMemory, r.CPUSeconds = usage.PeakMemory(), usage.CPUSeconds()
	data, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return fmt.Errorf("encode %s: %w", path, err)
	}
	return atomicfile.WriteBytes(path, append(data, '\n'))
}

// ReadReport reads a run.json.
func ReadReport(path string) (*Report, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	r := &Report{}
	if err := json.Unmarshal(data, r); err != nil {
		return nil, badinput.Errorf("%s is no report of a run (%w); name another directory with --out, or replace it with --overwrite", path, err)
	}
	return r, nil
}
