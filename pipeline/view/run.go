package view

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"

	"bitextmine/encode/model"
	"bitextmine/internal/badinput"
	"bitextmine/pipeline/plan"
	"bitextmine/pipeline/record"
	"bitextmine/pipeline/setting"
	"bitextmine/pipeline/store"
)

// Run is a finished run, read-only. It can be read while another run writes into the same work directory.
type Run struct {
	*Files
	Report *record.Report
	Dir    string // the output directory
	Bitext string // path of the bitext file
	Model  *model.Model
}

// Open opens a finished run by its output directory or its bitext file, of this version of the program. run.json beside
// the bitext names all the rest.
func Open(ctx context.Context, location, version string, log *slog.Logger) (*Run, error) {
	report, dir, err := record.ReadLatest(location)
	if err != nil {
		return nil, err
	}
	if report.Work == "" || report.PlanID == "" {
		return nil, badinput.Errorf("the %s in %s is of an earlier version of the program and does not name its work directory; give mine run again, which finds everything done",
			record.ReportName, dir)
	}
	r := &Run{Report: report, Dir: dir, Bitext: report.BitextPath(dir)}
	st, err := store.OpenExisting(ctx, report.Work, log)
	if err != nil {
		return nil, badinput.Errorf("the work directory of the run in %s: %w", dir, err)
	}
	data, err := st.ReadNote(ctx, record.PlansNote, report.PlanID+".json")
	if errors.Is(err, fs.ErrNotExist) {
		err = badinput.Errorf("the plan of the run in %s is not in %s any more; give mine run again", dir, report.Work)
	}
	var p *plan.Plan
	if err == nil {
		p, err = plan.Decode(data, "plan "+report.PlanID, version)
	}
	if err == nil {
		r.Model, err = setting.OpenEncoder(p.Encoder, p.Settings.Dim)
	}
	if err == nil && r.Model.Digest != p.Settings.Encoder {
		err = badinput.Errorf("encoder %s is not the one that the run in %s used; put that one back, or give mine run again", p.Encoder, dir)
	}
	if err != nil {
		return nil, errors.Join(err, st.Close())
	}
	r.Files = NewFiles(st, p, report.Work)
	return r, nil
}

// Close ends the use of the run.
func (r *Run) Close() error { return r.Store.Close() }
