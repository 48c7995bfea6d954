// Package overview gathers what a person wants to know of a run at a glance: how many sentences became how many pairs,
// how the scores are spread, how far they can be trusted, why pairs were rejected, and what the nights before brought.
package overview

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"bitextmine/bitext/label"
	"bitextmine/pipeline/record"
	"bitextmine/web/pairs"
)

// Run is a run whose pairs are loaded.
type Run struct {
	Place
	Report *record.Report
	Pairs  *pairs.Set
}

// Open locates a run and loads its pairs.
func Open(ctx context.Context, dir string, progress pairs.Progress) (*Run, error) {
	place, report, err := Locate(dir)
	if err != nil {
		return nil, err
	}
	set, err := pairs.Load(ctx, report.BitextPath(place.Run), report.Settings.Scorer == "" &&
		report.Settings.Refine != "", progress)
	if err != nil {
		return nil, err
	}
	return &Run{Place: place, Report: report, Pairs: set}, nil
}

// Close frees what the run holds.
func (r *Run) Close() error { return r.Pairs.Close() }

// Languages returns the languages of the two sides.
func (r *Run) Languages() [2]string {
	return [2]string{r.Report.Settings.Source, r.Report.Settings.Target}
}

// What decides between pairs.
const (
	Probability = "probability"
	Margin      = "margin"
	Product     = "margin × strong cosine"
)

// Decides names what is set against the threshold.
func (r *Run) Decides() string {
	switch s := r.Report.Settings; {
	case s.Scorer != "":
		return Probability
	case s.Refine != "":
		return Product
	}
	return Margin
}

// Overview summarises a run.
type Overview struct {
	*Run
	Histogram   Histogram
	Reliability Reliability
	Reasons     []Reason
	History     []Night
	Changes     *Changes // changes of the last night; nil unless asked for
}

// Overview summarises the run with the labels of now.
func (r *Run) Overview(labels []label.Label) *Overview {
	return &Overview{
		Run: r, Histogram: newHistogram(r.Pairs, r.Report.Threshold), Reliability: newReliability(r.Pairs, labels),
		Reasons: reasons(r.Pairs, r.Report), History: r.history(),
	}
}

// Place is where a run is.
type Place struct {
	Named string // the directory that was named
	Run   string // directory of run.json: Named, or its latest night
	Out   string // the output directory, which has the labels, the index and, in runs/, the nights
}

// Locate finds a run by its output directory, by that of nightly runs, by a night's own directory, or by its bitext
// file, which stands for the directory that has it.
func Locate(dir string) (p Place, report *record.Report, err error) {
	if report, p.Run, err = record.ReadLatest(dir); err != nil {
		return p, nil, err
	}
	if info, err := os.Stat(dir); err == nil && !info.IsDir() {
		dir = filepath.Dir(dir)
	}
	p.Named = dir
	p.Out = dir
	out, night, err := label.Night(p.Run)
	if err != nil {
		return p, nil, err
	}
	if out != "" {
		p.Run, p.Out = night, out
	}
	return p, report, nil
}

// Night is a night's name, such as 000012-2026-11-22; empty for a run that is no night's.
func (p Place) Night() string {
	if filepath.Dir(p.Run) == filepath.Join(resolved(p.Out), label.RunsName) {
		return filepath.Base(p.Run)
	}
	return ""
}

func resolved(dir string) string {
	if path, err := filepath.EvalSymlinks(dir); err == nil {
		return path
	}
	return dir
}

// nightNames lists the nights of the output directory, the oldest first.
func (p Place) nightNames() []string {
	entries, err := os.ReadDir(filepath.Join(p.Out, label.RunsName))
	if err != nil || p.Night() == "" {
		return nil
	}
	var names []string
	for _, e := range entries {
		if e.IsDir() && label.IsNight(e.Name()) {
			names = append(names, e.Name()) // numbers have leading zeros: names are in their order
		}
	}
	return names
}

// directory returns a night's directory.
func (p Place) directory(name string) string { return filepath.Join(p.Out, label.RunsName, name) }

// Reason is why pairs were rejected.
type Reason struct {
	Name    string
	Meaning string
	Pairs   int
	InFile  bool // the bitext has the pairs
	Samples []record.Sample
}

// meanings of the reasons that mining gives (docs/formats.md).
var meanings = map[string]string{
	"below_threshold": "what decides is below the threshold",
	"taken":           "a better pair has one of its sentences",
	"not_proposed":    "the retrieval rule asks for a proposal from the other side, too",
	"below_floor":     "the margin is too low for the strong encoder to look at it",
	"label":           "a person rejected it",
	"src_language":    "the source is surely in another language than its corpus",
	"tgt_language":    "the target is surely in another language than its corpus",
	"untranslated":    "both sides are the same text",
	"aligned":         "its sentences' documents, which were aligned, have them in other pairs",
	"not_kept":        "whoever made the file did not keep it",
}

// Meaning says what a reason means.
func Meaning(reason string) string {
	if rule, ok := strings.CutPrefix(reason, "filter:"); ok {
		return "the rule " + rule + " of mine filter"
	}
	return meanings[reason]
}

// reasons returns the reasons of the bitext's pairs. If it has only kept pairs, it returns the counts in run.json.
func reasons(set *pairs.Set, r *record.Report) []Reason {
	var all []Reason
	known := map[string]bool{}
	for _, one := range set.Reasons() {
		known[one.Name] = true
		all = append(all, Reason{Name: one.Name, Meaning: Meaning(one.Name), Pairs: one.Pairs, InFile: true})
	}
	for _, one := range r.Rejected {
		if !known[one.Reason] {
			all = append(all, Reason{Name: one.Reason, Meaning: Meaning(one.Reason), Pairs: one.Pairs,
				Samples: one.Samples})
		}
	}
	return all
}
