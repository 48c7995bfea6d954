package distil

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"

	"gopkg.in/yaml.v3"

	"bitextmine/distil/fit"
	"bitextmine/distil/student"
	"bitextmine/encode"
	"bitextmine/encode/model"
	"bitextmine/encode/static"
	"bitextmine/internal/atomicfile"
	"bitextmine/internal/badinput"
	"bitextmine/train/export"
)

const (
	modelDir  = "model" // a directory in Options.Out
	modelFile = "model.onnx"
	// recordFile has the settings and the summary of a distillation, in its student's directory.
	recordFile = "distil.json"
	// agreement is the largest difference, as a share of a sentence's largest feature, between ONNX Runtime's features
	// and those of the table that an export may have.
	agreement = 1e-5
	// compared is the number of held-out sentences that student and teacher encode.
	compared = 2000
)

// studentName is the name of the student.
func (o Options) studentName(teacher *model.Model) string {
	return cmp.Or(o.Name, teacher.Name+"-static")
}

// refuseReplacing refuses a student's directory that has what the distillation reads, or what none has written.
func refuseReplacing(dir string, o Options) error {
	if err := model.RefuseReplacing(dir, o.Teacher, o.Beside); err != nil {
		return err
	}
	entries, err := os.ReadDir(dir)
	if _, absent := os.Lstat(dir); absent != nil || err == nil && len(entries) == 0 {
		return nil
	}
	if _, err := os.Stat(filepath.Join(dir, recordFile)); err != nil {
		return badinput.Errorf("%s would be replaced, and mine distill has not written it, as there is no %s in it: name another output directory, or move it away",
			dir, recordFile)
	}
	return nil
}

// publish rounds the table to its columns and bits, and writes the encoder and its record, unless ONNX Runtime's
// vectors are not those of the table.
func publish(ctx context.Context, o Options, t *source, r *result) (err error) {
	s, err := round(o, t, r)
	if err != nil {
		return err
	}
	o.Report("write the student")
	r.Model = filepath.Join(o.Out, modelDir)
	tmp := r.Model + atomicfile.Suffix
	defer func() { err = errors.Join(err, os.RemoveAll(tmp)) }()
	if err := errors.Join(os.RemoveAll(tmp), os.MkdirAll(tmp, 0o777)); err != nil {
		return err
	}
	write := func() (err error) {
		r.Bytes, err = writeStudent(tmp, o, t, r.pieces.vocabulary, s)
		return err
	}
	if err := write(); err != nil {
		return err
	}
	if s.Beside != nil {
		if s.Beside.Axes, r.Second.Turned, err = vectorAxes(ctx, o, tmp, s, r.pieces); err != nil {
			return err
		}
		if err := write(); err != nil {
			return err
		}
	}
	if err := compare(ctx, o, tmp, t, s, r); err != nil {
		return err
	}
	if err := writeRecord(tmp, o, t, r); err != nil {
		return err
	}
	return atomicfile.ReplaceDir(r.Model, tmp)
}

// round makes the student: it cuts the table to its columns and rounds it. r.RankLeft and r.BitsLeft are then the
// shares of held-out squares that are left after each.
func round(o Options, t *source, r *result) (_ *student.Student, err error) {
	dim, wide, values, factor := r.table.dim, wideOf(o, t), r.table.values, float32(1)
	s := &student.Student{Name: o.studentName(t.model), Dim: dim, Power: r.Power, Head: r.table.head}
	if r.second != nil {
		values, factor = join(r.table, r.second, o.BesideShare, r.problem.Total[0])
		s.Beside = &student.Beside{Columns: r.second.Columns, Share: o.BesideShare}
	}
	columns := cmp.Or(o.Rank, wide)
	r.RankLeft = r.table.left(o)
	if columns < wide {
		if values, s.Basis, err = fit.LowRank(values, wide, columns, r.pieces.counts()); err != nil {
			return nil, err
		}
		if r.RankLeft, err = leftBy(r.problem, r.table, fit.Product(values, columns, s.Basis, wide), wide); err != nil {
			return nil, err
		}
	} else if r.second != nil {
		s.Basis = make([]float32, wide*wide)
		for i := range wide {
			s.Basis[i*wide+i] = 1
		}
	}
	s.Table = student.Quantise(values, columns, o.Bits)
	shipped := s.Table.Values()
	if s.Basis != nil {
		shipped = fit.Product(shipped, columns, s.Basis, wide)
	}
	for i := range s.Basis {
		if i%wide >= dim {
			s.Basis[i] /= factor
		}
	}
	r.BitsLeft, err = leftBy(r.problem, r.table, shipped, wide)
	return s, err
}

// leftBy is the share of held-out squares that is left if the first columns of values [rows, wide] replace the table.
// The problem's features are the part that the table leaves.
func leftBy(f *fit.Problem, t *table, values []float32, wide int) (float64, error) {
	left := 0.0
	row := make([]float64, t.dim)
	for i, w := range f.Weights {
		if w != 0 {
			continue
		}
		clear(row)
		for _, id := range f.Sentences.At(i) {
			for k := range row {
				row[k] += float64(t.values[int(id)*t.dim+k] - values[int(id)*wide+k])
			}
		}
		for k, x := range row {
			e := float64(f.Features[i*f.Dim+k]) + float64(f.Scales[i])*x
			left += e * e
		}
	}
	if math.IsNaN(left) || math.IsInf(left, 0) {
		return 0, errors.New("the table is not finite")
	}
	return left / f.Total[1], nil
}

// writeStudent fills a directory with the graph, the tokenizer and the manifest, and returns the bytes of the first
// two.
func writeStudent(dir string, o Options, t *source, vocabulary *Vocabulary, s *student.Student) (size int, err error) {
	graph, err := s.Graph()
	if err != nil {
		return 0, err
	}
	data, err := graph.Model()
	if err != nil {
		return 0, err
	}
	tokenizer := t.model.Tokenizer
	tokenizer.File, tokenizer.SHA256 = "spm.model", ""
	if tokenizer.Kind == "wordpiece" {
		tokenizer.File = "vocab.txt"
	}
	tokenizer.Offset, tokenizer.Dictionary, tokenizer.Unknown, tokenizer.Pad = 0, "", nil, nil
	special := func(ids []int32) *model.Token {
		if len(ids) == 0 {
			return nil
		}
		return &model.Token{ID: vocabulary.Student[ids[0]]}
	}
	bos, eos := t.encoder.Vocabulary().Ends()
	tokenizer.BOS, tokenizer.EOS = special(bos), special(eos)
	manifest, err := yaml.Marshal(model.Manifest{
		Name: s.Name, ONNX: modelFile, Tokenizer: tokenizer, MaxTokens: t.model.MaxTokens,
		Inputs: model.Inputs{IDs: export.IDs},
		Output: s.Output(), Pooling: model.None, Normalise: t.model.Normalise && s.Beside == nil, Dim: s.VectorDim(),
		Tokens:  model.TokenOutput{Output: student.TokensOutput, Dim: s.Table.Dim, Static: true},
		Licence: cmp.Or(o.Licence, t.model.Licence), Languages: o.Languages, TrainedOn: o.TrainedOn,
	})
	if err != nil {
		return 0, err
	}
	return len(data) + len(vocabulary.File), errors.Join(atomicfile.WriteBytes(filepath.Join(dir, modelFile), data),
		atomicfile.WriteBytes(filepath.Join(dir, tokenizer.File), vocabulary.File),
		atomicfile.WriteBytes(filepath.Join(dir, model.FileName), manifest))
}

// heldOutText are held-out sentences in the student's ids and in the teacher's.
type heldOutText struct{ own, theirs [][]int32 }

func heldOutOf(r *result) (h heldOutText) {
	for i, w := range r.problem.Weights {
		if w == 0 && len(h.own) < compared {
			h.own, h.theirs = append(h.own, r.pieces.rows.At(i)), append(h.theirs, r.pieces.text.At(r.pieces.kept[i]))
		}
	}
	return h
}

// vectorAxes chooses the axes of the student's vectors: those that hold most of the vectors that the student in dir
// gives sentences of the text. It also returns the share that they hold.
func vectorAxes(ctx context.Context, o Options, dir string, s *student.Student,
	p *pieces) (axes []float32, held float64, err error) {
	written, err := loadStudent(dir)
	if err != nil {
		return nil, 0, err
	}
	var own [][]int32
	for i := 0; i < len(p.kept); i += (len(p.kept) + sampled - 1) / sampled {
		if p.text.Languages[p.kept[i]] != NoLanguage {
			own = append(own, p.rows.At(i))
		}
	}
	rows, err := vectorsOf(ctx, o, written, written.Output, own)
	if err != nil {
		return nil, 0, err
	}
	return fit.Axes(rows, s.VectorDim(), s.Head.Dim)
}

func loadStudent(dir string) (*model.Model, error) {
	m, err := model.Load(dir)
	if err != nil {
		return nil, fmt.Errorf("the student: %w", err)
	}
	return m, nil
}

// compare runs the student in dir. Its sums and features must be those of the table, whether the graph's operators or
// the encoder's own loop compute them. Its vectors are compared with those of the encoders that it learns from.
func compare(ctx context.Context, o Options, dir string, t *source, s *student.Student, r *result) error {
	written, err := loadStudent(dir)
	if err != nil {
		return err
	}
	held := heldOutOf(r)
	give := func(tensor string) ([]float32, error) {
		rows, err := vectorsOf(ctx, o, written, tensor, held.own)
		if err != nil {
			return nil, fmt.Errorf("the student: %w", err)
		}
		return rows, nil
	}
	sums := s.Sums(held.own)
	got, err := give(static.Sums) // the graph computes its sums if they are asked for
	if err == nil {
		err = agree(got, sums, s.Table.Dim)
	}
	if err != nil {
		return err
	}
	turned, rows, columns := s.Turned(sums)
	if got, err = give(turned); err == nil {
		err = agree(got, rows, columns)
	}
	if err != nil {
		return err
	}
	if r.second != nil {
		r.Second.Cosine = meanCosine(got, r.second.held, columns)
	}
	student, err := give(s.Head.To)
	if err != nil {
		return err
	}
	output := ""
	if t.model.Pooling == model.None {
		output = t.model.Output
	}
	teacher, err := vectorsOf(ctx, o, t.model, output, held.theirs)
	if err != nil {
		return fmt.Errorf("the teacher: %w", err)
	}
	r.Cosine = meanCosine(student, teacher, s.Head.Dim)
	return nil
}

// vectorsOf gives a tensor of a model for sentences of its ids.
func vectorsOf(ctx context.Context, o Options, m *model.Model, tensor string,
	sentences [][]int32) (_ []float32, err error) {
	e, err := encode.OpenInner(m, tensor, o.encodeOptions())
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	out := make([]float32, len(sentences)*e.Dim())
	return out, e.EncodeIDs(ctx, sentences, out)
}

// agree compares rows of dim.
func agree(got, want []float32, dim int) error {
	if len(got) != len(want) {
		return fmt.Errorf("the student's graph gives %d features in place of %d", len(got), len(want))
	}
	for i := 0; i < len(got); i += dim {
		most, worst := 1.0, 0.0
		for k := i; k < i+dim; k++ {
			most = max(most, math.Abs(float64(want[k])))
			worst = max(worst, math.Abs(float64(got[k]-want[k])))
		}
		if !(worst <= agreement*most) {
			return fmt.Errorf("ONNX Runtime's features of held-out sentence %d differ from the table's by %g, more than %g: the student is not written",
				i/dim, worst, agreement*most)
		}
	}
	return nil
}

func meanCosine(a, b []float32, dim int) float64 {
	sum := 0.0
	for i := 0; i < len(a); i += dim {
		ab, aa, bb := 0.0, 0.0, 0.0
		for k := i; k < i+dim; k++ {
			x, y := float64(a[k]), float64(b[k])
			ab, aa, bb = ab+x*y, aa+x*x, bb+y*y
		}
		sum += ab / math.Sqrt(max(aa*bb, math.SmallestNonzeroFloat64))
	}
	return sum * float64(dim) / float64(max(len(a), 1))
}
