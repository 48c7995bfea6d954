package overview

import (
	"context"

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
