package pipeline

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"bitextmine/internal/atomicfile"
	"bitextmine/pipeline/plan"
	"bitextmine/pipeline/record"
	"bitextmine/pipeline/scorer"
	"bitextmine/pipeline/stage/match"
	"bitextmine/pipeline/store"
	"bitextmine/pipeline/view"
)

// deliver copies the bitext into a directory and completes the report.
func (m *mining) deliver(ctx context.Context, p *plan.Plan, dir string) error {
	out, err := m.store.Get(ctx, store.Task{Stage: match.Stage.Name, Key: p.Pairs[0].Bitext})
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("the bitext is not in %s any more; run again", m.cfg.Work)
	}
	if err != nil {
		return err
	}
	result, err := match.ReadResult(out)
	if err != nil {
		return err
	}
	// it reads the store, so it comes before anything is published
	if err := scorer.Warn(ctx, m.files(p), m.warn); err != nil {
		return err
	}
	m.report.Stages = record.Joined(m.fitted, m.report.Stages)
	path := filepath.Join(dir, fmt.Sprintf("%s-%s.parquet", m.cfg.Source, m.cfg.Target))
	if err := atomicfile.Copy(path, out.Path(view.BitextFile)); err != nil {
		return err
	}
	file := out.Files[0]
	m.report.RunID, m.report.Counts, m.report.Samples = result.RunID, result.Counts, result.Samples
	m.report.Cut = result.Cut
	m.report.Threshold, m.report.Search.Recall, m.report.Rejected = result.Threshold, result.Min, result.Rejected
	if low := m.report.Search.Warning(); low != "" {
		m.warn("%s", low)
	}
	if much := m.report.RejectedWarning(); much != "" {
		m.warn("%s", much)
	}
	m.report.Bitext = record.BitextReport{Path: path, Rows: result.Rows, Bytes: file.Size, SHA256: file.SHA256}
	return nil
}
