package distil

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"

	"gopkg.in/yaml.v3"

	"bitextmine/distil/fit"
	"bitextmine/distil/student"
	"bitextmine/encode"
	"bitextmine/encode/model"
	"bitextmine/encode/static"
	"bitextmine/internal/atomicfile"
	"bitextmine/train/export"
)

const (
	modelDir  = "model" // in Options.Out
	modelFile = "model.onnx"
	// agreement is the largest difference, as a share of a sentence's largest feature, between ONNX Runtime's features
	// and those of the table that an export may have.
	agreement = 1e-5
	// compared is how many held-out sentences are encoded by student and teacher.
	compared = 2000
)

// publish cuts the table to its columns and bits, and writes the encoder, unless ONNX Runtime does not give what the
// table gives.
func (r *run) publish(ctx context.Context) (err error) {
	s, err := r.student()
	if err != nil {
		return err
	}
	r.Report("write the student")
	r.Model = filepath.Join(r.Out, modelDir)
	tmp := r.Model + atomicfile.Suffix
	defer func() { err = errors.Join(err, os.RemoveAll(tmp)) }()
	if err := errors.Join(os.RemoveAll(tmp), os.MkdirAll(tmp, 0o755)); err != nil {
		return err
	}
	if err := r.write(tmp, s); err != nil {
		return err
	}
	if r.HeadBits == 8 {
		if err := r.writeHead(ctx, tmp, s); err != nil {
			return err
		}
	}
	if s.Beside != nil {
		if err := r.turnBeside(ctx, tmp, s); err != nil {
			return err
		}
	}
	if err := r.compare(ctx, tmp, s); err != nil {
		return err
	}
	if err := r.writeRecord(tmp); err != nil {
		return err
	}
	if err := errors.Join(os.RemoveAll(r.Model), os.Rename(tmp, r.Model)); err != nil {
		return err
	}
	return atomicfile.SyncDir(r.Out)
}

// student rounds the table, and says what each step leaves leastsquares.Unexplained of held-out sentences.
func (r *run) student() (*student.Student, error) {
	dim, values := r.teacher.Dim(), r.table
	s := &student.Student{Name: r.name(), Dim: dim, Power: r.Power, Head: r.head}
	wide, factor := r.wide(), float32(1)
	if r.beside != nil {
		values, factor = r.join()
		s.Beside = &student.Beside{Columns: r.BesideColumns, Share: r.BesideShare}
	}
	columns := cmp.Or(r.Rank, wide)
	r.RankLeft = r.Fit.HeldOut
	if r.Epochs > 0 {
		r.RankLeft = r.Descent.HeldOut
	}
	if columns < wide {
		counts := make([]int, r.Rows)
		for _, id := range r.rows.IDs {
			counts[id]++
		}
		var err error
		if values, s.Basis, err = fit.LowRank(values, wide, columns, counts); err != nil {
			return nil, err
		}
		if r.RankLeft, err = r.leftBy(fit.Product(values, columns, s.Basis, wide), wide); err != nil {
			return nil, err
		}
	} else if r.beside != nil {
		s.Basis = make([]float32, wide*wide)
		for i := range wide {
			s.Basis[i*wide+i] = 1
		}
	}
	s.Table = student.Quantise(values, columns, r.Bits)
	shipped := s.Table.Values()
	if s.Basis != nil {
		shipped = fit.Product(shipped, columns, s.Basis, wide)
	}
	for i := range s.Basis {
		if i%wide >= dim {
			s.Basis[i] /= factor
		}
	}
	var err error
	r.BitsLeft, err = r.leftBy(shipped, wide)
	return s, err
}

// name is the student's.
func (r *run) name() string { return cmp.Or(r.Name, r.model.Name+"-static") }

// leftBy is what another table than r.table, the first columns of values [rows, wide], leaves of held-out sentences.
// The fit's features are what r.table leaves.
func (r *run) leftBy(values []float32, wide int) (float64, error) {
	f, dim := r.fit, r.teacher.Dim()
	left := 0.0
	row := make([]float64, dim)
	for i, w := range f.Weights {
		if w != 0 {
			continue
		}
		clear(row)
		for _, id := range f.Sentences.At(i) {
			for k := range row {
				row[k] += float64(r.table[int(id)*dim+k] - values[int(id)*wide+k])
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

// write fills a directory with the graph, the tokenizer and the manifest.
func (r *run) write(dir string, s *student.Student) error {
	graph, err := s.Graph()
	if err != nil {
		return err
	}
	data, err := graph.Model()
	if err != nil {
		return err
	}
	tokenizer := r.model.Tokenizer
	tokenizer.File, tokenizer.SHA256 = "spm.model", ""
	if tokenizer.Kind == "wordpiece" {
		tokenizer.File = "vocab.txt"
	}
	tokenizer.Offset, tokenizer.Dictionary, tokenizer.Unknown, tokenizer.Pad = 0, "", nil, nil
	bos, eos := r.encoder.Vocabulary().Ends()
	tokenizer.BOS, tokenizer.EOS = r.special(bos), r.special(eos)
	manifest, err := yaml.Marshal(model.Manifest{
		Name: s.Name, ONNX: modelFile, Tokenizer: tokenizer, MaxTokens: r.model.MaxTokens, Inputs: model.Inputs{IDs: export.IDs},
		Output: s.Output(), Pooling: model.None, Normalise: r.model.Normalise && s.Beside == nil, Dim: s.VectorDim(),
		Tokens:  model.TokenOutput{Output: student.TokensOutput, Dim: s.Table.Dim, Static: true},
		Licence: cmp.Or(r.Licence, r.model.Licence), Languages: r.Languages, TrainedOn: r.TrainedOn,
	})
	if err != nil {
		return err
	}
	r.Bytes = len(data) + len(r.vocab.File)
	return errors.Join(atomicfile.WriteBytes(filepath.Join(dir, modelFile), data),
		atomicfile.WriteBytes(filepath.Join(dir, tokenizer.File), r.vocab.File),
		atomicfile.WriteBytes(filepath.Join(dir, model.FileName), manifest))
}

// writeHead writes the student again with its head in 8 bits, whose ranges it takes from the one that was written
// before.
func (r *run) writeHead(ctx context.Context, dir string, s *student.Student) error {
	model, err := model.Load(dir)
	if err != nil {
		return fmt.Errorf("the student: %w", err)
	}
	own, _ := r.comparedSentences()
	spans, err := r.spans(ctx, model, s.Head, own)
	if err != nil {
		return fmt.Errorf("the student's head: %w", err)
	}
	s.Head.Spans = spans
	return r.write(dir, s)
}

// comparedSentences are held-out ones in the student's ids and in the teacher's.
func (r *run) comparedSentences() (own, theirs [][]int32) {
	for i, w := range r.fit.Weights {
		if w == 0 && len(own) < compared {
			own, theirs = append(own, r.rows.At(i)), append(theirs, r.text.At(r.kept[i]))
		}
	}
	return own, theirs
}

// special is the student's id of a token at a sentence's end.
func (r *run) special(ids []int32) *model.Token {
	if len(ids) == 0 {
		return nil
	}
	return &model.Token{ID: r.vocab.Student[ids[0]]}
}

// compare runs what was written: its sums and features must be those of the table, whether the graph's operators or the
// encoder's own loop compute them, and its vectors are compared with the teacher's.
func (r *run) compare(ctx context.Context, dir string, s *student.Student) error {
	own, theirs := r.comparedSentences()
	written, err := model.Load(dir)
	if err != nil {
		return fmt.Errorf("the student: %w", err)
	}
	sums := s.Sums(own)
	turned, rows, columns := s.Turned(sums)
	for _, want := range []struct {
		tensor  string
		rows    []float32
		columns int
	}{{static.Sums, sums, s.Table.Dim}, {turned, rows, columns}} { // the graph computes its sums if they are asked for
		got, err := r.vectorsOf(ctx, written, want.tensor, own)
		if err != nil {
			return fmt.Errorf("the student: %w", err)
		}
		if err := agree(got, want.rows, want.columns); err != nil {
			return err
		}
	}
	if r.beside != nil {
		got, err := r.vectorsOf(ctx, written, turned, own)
		if err != nil {
			return fmt.Errorf("the student: %w", err)
		}
		r.Second.Cosine = meanCosine(got, r.beside.held, columns)
	}
	student, err := r.vectorsOf(ctx, written, s.Head.To, own)
	if err != nil {
		return fmt.Errorf("the student: %w", err)
	}
	of := ""
	if r.model.Pooling == model.None {
		of = r.model.Output
	}
	teacher, err := r.vectorsOf(ctx, r.model, of, theirs)
	if err != nil {
		return fmt.Errorf("the teacher: %w", err)
	}
	r.Cosine = meanCosine(student, teacher, r.head.Dim)
	return nil
}

// vectorsOf gives a tensor of a model for sentences of its ids.
func (r *run) vectorsOf(ctx context.Context, model *model.Model, tensor string, sentences [][]int32) (_ []float32, err error) {
	e, err := encode.OpenInner(model, tensor, encode.Options{Threads: r.Threads, Library: r.Library})
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
			return fmt.Errorf("ONNX Runtime's features of held-out sentence %d differ from the table's by %g, more than %g: the student is not written", i/dim, worst, agreement*most)
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

// writeRecord writes what was done, for programs and for people.
func (r *run) writeRecord(dir string) error {
	record, err := json.MarshalIndent(struct {
		Settings Options `json:"settings"`
		Summary  Summary `json:"summary"`
	}{r.Options, r.Summary}, "", "  ")
	if err != nil {
		return err
	}
	return errors.Join(atomicfile.WriteBytes(filepath.Join(dir, "distil.json"), append(record, '\n')),
		atomicfile.WriteBytes(filepath.Join(dir, "README.md"), r.card()))
}

// card is the student's model card.
func (r *run) card() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "# %s\n\nA static student of %s, made by `mine distill`, for %s: a table of %d subword vectors of %d columns, %d bits a number, whose sum, divided by tokens^%g,\n"+
		"stands for the teacher's tensor %q; the teacher's head makes the sentence vector of it. %.1f MB.\n\n", r.name(), r.model.Name,
		strings.Join(r.Languages, ", "), r.Rows, cmp.Or(r.Rank, r.wide()), r.Bits, r.Power, r.Tensor, float64(r.Bytes)/1e6)
	fmt.Fprintf(&b, "Licence: %s. Teacher: digest %s, licence %s.\n\n", cmp.Or(r.Licence, r.model.Licence, "not stated"), r.TeacherDigest, cmp.Or(r.model.Licence, "not stated"))
	fmt.Fprintf(&b, "%d sentences, %d tokens, were fitted, invented ones for seldom pieces among them (%d before any were drawn):\n\n| language | file | sentences | sha256 |\n| --- | --- | --- | --- |\n",
		r.Sentences, r.Tokens, r.Invented)
	for _, t := range r.Text {
		fmt.Fprintf(&b, "| %s | %s | %d | %s |\n", t.Language, t.File, t.Sentences, t.SHA256)
	}
	if r.Epochs > 0 {
		fmt.Fprintf(&b, "\nThe table and the head were then trained for %g passes over the text and %d pairs of bitext by gradient descent: the loss went from %.4f to %.4f.\n",
			r.Epochs, len(r.text.Pairs), r.Losses[0], r.Losses[1])
	}
	fmt.Fprintf(&b, "\nOf the features' squares, on held-out sentences, %.4f are left by the linear map of pieces alone, %.4f by the table (ridge %g), %.4f with its columns and %.4f with its bits.\n"+
		"Mean cosine to the teacher's vectors of held-out sentences: %.4f.\n", r.Prior.HeldOut, r.Fit.HeldOut, r.Ridge, r.RankLeft, r.BitsLeft, r.Cosine)
	if o := r.Second; o != nil {
		fmt.Fprintf(&b, "\nBeside it stands %s (digest %s, licence %s): %d of the columns, on the same pieces, stand for its sums, on the axes that hold %.4f of its vectors' squares.\n"+
			"Of the sums' squares, on held-out sentences, %.4f are left by the linear map of pieces alone and %.4f by the table (ridge %g); mean cosine to its vectors there: %.4f.\n"+
			"It has %g of the square of a vector's length. Vectors are on %d axes, which hold %.4f of both.\n",
			o.Encoder, o.Digest, cmp.Or(o.Licence, "not stated"), o.Columns, o.Kept, o.Fitted.Prior.HeldOut, o.Fitted.Fit.HeldOut, o.Fitted.Ridge, o.Cosine, o.Share, r.head.Dim, o.Turned)
	}
	return b.Bytes()
}

// spans runs a student with its float32 head and takes the ranges of the head's inputs.
func (r *run) spans(ctx context.Context, model *model.Model, h *student.Head, sentences [][]int32) (map[string]student.Span, error) {
	spans := map[string]student.Span{}
	for _, name := range h.Inputs() {
		rows, err := r.vectorsOf(ctx, model, name, sentences)
		if err != nil {
			return nil, err
		}
		s := student.Span{}
		for _, x := range rows {
			s.Low, s.High = min(s.Low, x), max(s.High, x)
		}
		spans[name] = s
	}
	return spans, nil
}
