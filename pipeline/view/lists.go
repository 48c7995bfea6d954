package view

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"math"
	"sync/atomic"

	"bitextmine/encode/model"
	"bitextmine/internal/badinput"
	"bitextmine/internal/spill"
	"bitextmine/mine"
	"bitextmine/pipeline/plan"
	"bitextmine/pipeline/record"
	"bitextmine/pipeline/setting"
	"bitextmine/pipeline/store"
)

// SpilledLists has the lists of a pair of languages that are in temporary files, being too many for memory. The zero
// value has none.
type SpilledLists struct {
	tables []*spill.Table[int32]
	failed atomic.Pointer[error] // the first failure to read a list
}

// Err is the first failure to read a list. What was made of the lists since is worth nothing.
func (s *SpilledLists) Err() error {
	if failed := s.failed.Load(); failed != nil {
		return *failed
	}
	return nil
}

// Close frees the lists, which must not be read any more. It returns Err, too.
func (s *SpilledLists) Close() error {
	err := s.Err()
	for _, table := range s.tables {
		err = errors.Join(err, table.Close())
	}
	s.tables = nil
	return err
}

// New returns n empty lists of k neighbours, and what sets one of them, in a file if they do not fit in space's memory.
// Lists that are in a file may be read when all were set.
func (s *SpilledLists) New(space spill.Space, n, k int) (_ mine.Neighbours, set func(i int, ids []int32, cosines []float32) error, err error) {
	const bytes = 8 // of a neighbour
	if space.Holds(n * k * bytes) {
		lists := mine.NewNeighbours(n, k)
		return lists, func(i int, ids []int32, cosines []float32) error {
			intoIDs, intoCosines := lists.Row(i)
			copy(intoIDs, ids)
			copy(intoCosines, cosines)
			return nil
		}, nil
	}
	table, err := spill.NewTable[int32](space, n, 2*k)
	if err != nil {
		return mine.Neighbours{}, nil, err
	}
	s.tables = append(s.tables, table)
	row := make([]int32, 2*k)
	set = func(i int, ids []int32, cosines []float32) error {
		copy(row, ids)
		for j, cosine := range cosines {
			row[k+j] = int32(math.Float32bits(cosine))
		}
		return table.Write(i, row)
	}
	return mine.Neighbours{K: k, N: n, Read: func(i int, ids []int32, cosines []float32) { s.read(table, i, ids, cosines) }}, set, nil
}

// read reads list i. One that cannot be read is empty.
func (s *SpilledLists) read(table *spill.Table[int32], i int, ids []int32, cosines []float32) {
	row := make([]int32, 2*len(ids))
	if err := table.Read(i, row); err != nil {
		s.failed.CompareAndSwap(nil, &err)
		for j := range ids {
			ids[j] = mine.None
		}
		return
	}
	copy(ids, row)
	for j := range cosines {
		cosines[j] = math.Float32frombits(uint32(row[len(ids)+j]))
	}
}

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
