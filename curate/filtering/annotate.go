package filtering

import (
	"context"
	"runtime"

	"golang.org/x/sync/errgroup"

	"bitextmine/bitext/table"
	"bitextmine/corpus"
	"bitextmine/filter/annotate"
)

// Parallel divides rows among all cores.
func Parallel(rows int, do func(from, to int) error) error {
	var group errgroup.Group
	cores := runtime.GOMAXPROCS(0)
	for core := range cores {
		group.Go(func() error { return do(rows*core/cores, rows*(core+1)/cores) })
	}
	return group.Wait()
}

// sides are the texts and languages of a batch.
type sides struct {
	source, target                 func(i int) (string, bool)
	sourceLanguage, targetLanguage func(i int) string
}

// sidesOf finds the columns. A language comes from its column, or from the options if there is none.
func (f *filterer) sidesOf(b *table.Batch) (s sides, err error) {
	if s.source, err = b.Texts(f.opts.Table.SourceColumn); err != nil {
		return s, err
	}
	if s.target, err = b.Texts(f.opts.Table.TargetColumn); err != nil {
		return s, err
	}
	s.sourceLanguage = languageOf(b, table.SourceLanguage, f.opts.Table.Source)
	s.targetLanguage = languageOf(b, table.TargetLanguage, f.opts.Table.Target)
	return s, nil
}

func languageOf(b *table.Batch, column, stated string) func(i int) string {
	texts, err := b.Texts(column)
	if stated != "" || err != nil { // no column: the language is as stated, or unknown
		return func(int) string { return stated }
	}
	names := map[string]string{}
	return func(i int) string {
		code, _ := texts(i)
		name, ok := names[code]
		if !ok {
			name, _ = corpus.ParseLanguage(code) // a code that is not known is an unknown language
			names[code] = name
		}
		return name
	}
}

func (s *sides) texts(i int) (source, target string) {
	source, _ = s.source(i)
	target, _ = s.target(i)
	return source, target
}

func (s *sides) languages(i int) (source, target string) {
	return s.sourceLanguage(i), s.targetLanguage(i)
}

// annotate adds the columns of all annotations.
func (f *filterer) annotate(ctx context.Context, b *table.Batch) (*table.Batch, error) {
	s, err := f.sidesOf(b)
	if err != nil {
		return nil, err
	}
	known := make([]annotate.Known, b.Len())
	languages := make([][2]string, b.Len())
	for i := range known {
		languages[i][0], languages[i][1] = s.languages(i)
		if known[i], err = f.survey.Next(languages[i][0], languages[i][1]); err != nil {
			return nil, err
		}
	}
	columns := newColumns(b.Len())
	err = Parallel(b.Len(), func(from, to int) error {
		var reader annotate.Reader
		for i := from; i < to; i++ {
			source, target := s.texts(i)
			columns.set(i, reader.Read(source, target, languages[i][0], languages[i][1], known[i]))
		}
		return ctx.Err()
	})
	if err != nil {
		return nil, err
	}
	return b.With(columns.values...)
}

// columns are the columns of annotations as they are filled, by several goroutines at different rows.
type columns struct {
	values []table.Values
}

func newColumns(rows int) *columns {
	c := &columns{values: make([]table.Values, len(annotate.All))}
	for i, a := range annotate.All {
		v := table.Values{Name: a.Name}
		switch a.Type {
		case annotate.Float:
			v.Float32 = make([]float32, rows)
		case annotate.Count:
			v.Uint32, v.Known = make([]uint32, rows), make([]bool, rows)
		case annotate.Row:
			v.Uint64 = make([]uint64, rows)
		case annotate.Name:
			v.Text, v.Known = make([]string, rows), make([]bool, rows)
		}
		c.values[i] = v
	}
	return c
}

func (c *columns) set(row int, p *annotate.Pair) {
	for i := range annotate.All {
		a, v := &annotate.All[i], &c.values[i]
		value := a.Of(p)
		switch a.Type {
		case annotate.Float:
			v.Float32[row] = float32(value)
		case annotate.Count:
			if v.Known[row] = value == value; v.Known[row] { // NaN differs from itself
				v.Uint32[row] = uint32(value)
			}
		case annotate.Row:
			v.Uint64[row] = uint64(value)
		case annotate.Name:
			v.Text[row] = a.Text(p)
			v.Known[row] = v.Text[row] != ""
		}
	}
}

// FixedColumns are those of repaired texts.
var FixedColumns = [2]string{"src_fixed", "tgt_fixed"}

// fix adds the columns of repaired texts. The original ones stay.
func (f *filterer) fix(b *table.Batch) (*table.Batch, error) {
	s, err := f.sidesOf(b)
	if err != nil {
		return nil, err
	}
	sources, targets := make([]string, b.Len()), make([]string, b.Len())
	changed := make([]bool, b.Len())
	err = Parallel(b.Len(), func(from, to int) error {
		for i := from; i < to; i++ {
			source, target := s.texts(i)
			sources[i], targets[i] = annotate.FixText(source), annotate.FixText(target)
			changed[i] = sources[i] != source || targets[i] != target
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for _, is := range changed {
		if is {
			f.report.Fixed++
		}
	}
	return b.With(table.Values{Name: FixedColumns[0], Text: sources}, table.Values{Name: FixedColumns[1], Text: targets})
}
