package view

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"slices"

	"bitextmine/corpus/shard"
	"bitextmine/encode/model"
	"bitextmine/internal/atomicfile"
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
	report.Work = report.WorkPath(dir)
	if store.CheckExists(report.Work) != nil {
		return nil, badinput.Errorf("the work directory of the run in %s, %s, is gone; put it back, or give mine run again, which makes it",
			dir, report.Work)
	}
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

// magic begins the file of lists of rows, which is little-endian and not compressed. After it come the number of lists,
// uint32; the end of each list among all rows, uint32; the rows, uint32, ascending within a list.
var magic = []byte("MINEROWS")

// WriteRows writes lists.
func WriteRows(path string, lists [][]uint32) error {
	data := binary.LittleEndian.AppendUint32(bytes.Clone(magic), uint32(len(lists)))
	end := 0
	for _, list := range lists {
		end += len(list)
		data = binary.LittleEndian.AppendUint32(data, uint32(end))
	}
	for _, list := range lists {
		for _, row := range list {
			data = binary.LittleEndian.AppendUint32(data, row)
		}
	}
	return atomicfile.WriteBytes(path, data)
}

// ReadRows reads lists. They must be as many as bounds, and the rows of list i below bounds[i].
func ReadRows(path string, bounds ...int) ([][]uint32, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read lists of rows: %w", err)
	}
	lists, err := decode(data)
	if err == nil {
		err = check(lists, bounds)
	}
	if err != nil {
		return nil, badinput.Errorf("%s is damaged (%w); remove its directory, and it is made again", path, err)
	}
	return lists, nil
}

func decode(data []byte) ([][]uint32, error) {
	rest, ok := bytes.CutPrefix(data, magic)
	if !ok || len(rest) < 4 || len(rest)%4 != 0 {
		return nil, errors.New("it is no list of rows")
	}
	numbers := make([]uint32, len(rest)/4)
	for i := range numbers {
		numbers[i] = binary.LittleEndian.Uint32(rest[4*i:])
	}
	n := uint64(numbers[0])
	if n > uint64(len(numbers)-1) {
		return nil, errors.New("it is cut short")
	}
	ends, all := numbers[1:1+n], numbers[1+n:]
	lists, begin := make([][]uint32, n), uint32(0)
	for i, end := range ends {
		if end < begin || uint64(end) > uint64(len(all)) {
			return nil, fmt.Errorf("list %d ends before it begins, or after the file", i)
		}
		lists[i], begin = all[begin:end:end], end
	}
	if uint64(begin) != uint64(len(all)) {
		return nil, errors.New("it has rows that are of no list")
	}
	return lists, nil
}

func check(lists [][]uint32, bounds []int) error {
	if len(lists) != len(bounds) {
		return fmt.Errorf("it has %d lists instead of %d", len(lists), len(bounds))
	}
	for i, list := range lists {
		for j, row := range list {
			if uint64(row) >= uint64(bounds[i]) || j > 0 && row <= list[j-1] {
				return fmt.Errorf("row %d of list %d is %d of %d, or does not ascend", j, i, row, bounds[i])
			}
		}
	}
	return nil
}

// RowsOf calls each with the first occurrence of sentences of a side, given by their numbers: at is the place among
// numbers. It reads each shard once, in row order.
func (p *Pair) RowsOf(ctx context.Context, side int, numbers []int32, each func(at int, shard *plan.Shard, number uint32, row shard.Row)) error {
	order := make([]int32, len(numbers))
	for i := range order {
		order[i] = int32(i)
	}
	first := p.Sentences[side].First
	slices.SortFunc(order, func(a, b int32) int {
		x, y := first[numbers[a]], first[numbers[b]]
		return cmp.Or(cmp.Compare(x.Shard, y.Shard), cmp.Compare(x.Row, y.Row))
	})
	for len(order) > 0 {
		place, n := first[numbers[order[0]]], 1
		for n < len(order) && first[numbers[order[n]]].Shard == place.Shard {
			n++
		}
		shard := &p.Language(side).Shards[place.Shard]
		rows := make([]uint32, n)
		for i, at := range order[:n] {
			rows[i] = first[numbers[at]].Row
		}
		if err := p.rowsAt(ctx, shard, rows, order[:n], each); err != nil {
			return err
		}
		order = order[n:]
	}
	return nil
}

// RowsOfPairs calls each with the first occurrence of both sentences of pairs, given by their numbers: at is the pair's
// place.
func (p *Pair) RowsOfPairs(ctx context.Context, pairs [][2]int32, each func(at, side int, row shard.Row)) error {
	numbers := make([]int32, len(pairs))
	for side := range 2 {
		for i, pair := range pairs {
			numbers[i] = pair[side]
		}
		err := p.RowsOf(ctx, side, numbers, func(at int, _ *plan.Shard, _ uint32, row shard.Row) { each(at, side, row) })
		if err != nil {
			return err
		}
	}
	return nil
}

// rowsAt reads rows of one shard, in ascending order; a row may be wanted more than once.
func (p *Pair) rowsAt(
	ctx context.Context, s *plan.Shard, rows []uint32, order []int32, each func(at int, shard *plan.Shard, number uint32, row shard.Row),
) (err error) {
	reader, err := p.OpenShard(ctx, s)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, reader.Close()) }()
	n := 0
	for row, err := range reader.RowsAt(rows) {
		if err != nil {
			return err
		}
		each(int(order[n]), s, rows[n], row)
		n++
	}
	if n != len(rows) {
		return fmt.Errorf("shard %s gave %d of %d rows", s.Name, n, len(rows))
	}
	return nil
}
