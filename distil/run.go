package distil

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"bitextmine/corpus"
	"bitextmine/distil/fit"
	"bitextmine/encode"
	"bitextmine/encode/model"
	"bitextmine/encode/onnxgraph"
	"bitextmine/encode/tokenizer"
	"bitextmine/internal/badinput"

	"bitextmine/distil/student"

	"bitextmine/distil/teacher"
)

// Summary says what a distillation did.
type Summary struct {
	Model     string   `json:"-"`        // directory of the encoder
	Warnings  []string `json:"warnings"` // sentences
	Tensor    string   `json:"tensor"`   // the teacher's tensor; "": its pooled output
	Sentences int      `json:"sentences"`
	Invented  int      `json:"invented"`
	Tokens    int      `json:"tokens"`
	Rows      int      `json:"rows"` // of the table: pieces and special tokens
	Fitted
	// What of the features' squares is left by the descent, the fewer columns, and the fewer bits.
	Descent       fit.Unexplained `json:"descent"`
	Losses        [2]float64      `json:"losses"` // means of the first and the last tenth of the descent's steps
	RankLeft      float64         `json:"rank_held_out"`
	BitsLeft      float64         `json:"bits_held_out"`
	Cosine        float64         `json:"cosine_held_out"` // mean, of student's and teacher's sentence vectors
	Text          []Source        `json:"text"`
	TeacherDigest string          `json:"teacher_digest"`
	Second        *Second         `json:"second,omitempty"`
	Bytes         int             `json:"bytes"` // of the graph and the tokenizer
}

// run holds a distillation's parts between its steps. It has 37 methods because every step takes what steps before it
// found: texts, vocabulary, head, table and fit.
type run struct {
	Options
	Summary
	model   *model.Model
	encoder *encode.Encoder // gives the features
	teacher *teacher.Teacher
	head    *student.Head
	frames  []Frame // by language, in the order of the text
	text    *Sentences
	vocab   *Vocabulary
	rows    fit.Sparse // sentences in the student's ids
	kept    []int      // which of the sentences those are
	fit     *fit.Problem
	table   []float32 // [student's ids, dim]
	beside  *beside   // nil: there is no second encoder
}

// Run distils a student into Options.Out.
func Run(ctx context.Context, o Options) (_ *Summary, err error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	r := &run{Options: o.withDefaults()}
	defer func() {
		if r.teacher != nil {
			err = errors.Join(err, r.teacher.Close())
		}
		if r.beside != nil {
			err = errors.Join(err, r.beside.teacher.Close())
		}
	}()
	if err := r.open(); err != nil {
		return nil, err
	}
	for _, step := range []func(context.Context) error{r.read, r.encode, r.solve, r.descend, r.fitBeside, r.cut, r.publish} {
		if err := step(ctx); err != nil {
			return nil, err
		}
	}
	return &r.Summary, nil
}

// open loads the teacher and finds its features.
func (r *run) open() error {
	model, err := model.Load(r.Teacher)
	if err != nil {
		return err
	}
	r.model, r.TeacherDigest = model, model.Digest
	r.warnOfLanguages()
	if err := r.openFeatures(); err != nil {
		return err
	}
	if err := r.checkHead(); err != nil {
		return errors.Join(err, r.encoder.Close())
	}
	cache := r.Cache
	if cache == "" {
		cache = filepath.Join(r.Out, "teacher")
	}
	if r.teacher, err = teacher.New(Features{Encoder: r.encoder}, cache, false); err != nil {
		return errors.Join(err, r.encoder.Close())
	}
	if err := r.openBeside(cache); err != nil {
		return err
	}
	return r.checkRank()
}

// checkRank says whether the table can have the columns that are asked for.
func (r *run) checkRank() error {
	switch wide := r.wide(); {
	case r.Rank > wide:
		return badinput.Errorf("--rank %d: the features have %d columns; ask for no more", r.Rank, wide)
	case cmp.Or(r.Rank, wide)%2 != 0 && r.Bits == 4:
		return badinput.Errorf("--rank %d: a table of 4 bits needs an even number of columns", cmp.Or(r.Rank, wide))
	}
	return nil
}

func (r *run) warn(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	r.Warnings = append(r.Warnings, text)
	r.Report("warning: " + text) // before the hours that it may be about
}

// warnOfLanguages names languages that the teacher was not trained on, or that no text is of.
func (r *run) warnOfLanguages() {
	written := r.languagesOf()
	if len(r.Languages) == 0 {
		r.Languages = written
	}
	var unknown, unwritten []string
	for _, l := range r.Languages {
		if !corpus.Lists(r.model.Languages, l) {
			unknown = append(unknown, l)
		}
		if !slices.Contains(written, l) {
			unwritten = append(unwritten, l)
		}
	}
	if unknown != nil {
		r.warn("the teacher %s was not trained on %s, and its student will be no better there", r.model.Name, strings.Join(unknown, ", "))
	}
	if unwritten != nil {
		r.warn("there is no text of %s: their pieces are learnt from invented sentences and from what the teacher says of a piece alone", strings.Join(unwritten, ", "))
	}
}

// openFeatures opens the encoder of the teacher's features: the tensor that is named, or the first, from the inputs on,
// that has one row a sentence and that everything passes through; the rest of the graph is the head. A graph that ends
// with its tokens' vectors has none.
func (r *run) openFeatures() error {
	options := encode.Options{Threads: r.Threads, Library: r.Library}
	if r.model.Pooling != model.None {
		if r.Features != "" {
			return badinput.Errorf("--features %s: the graph of %s ends with its tokens' vectors and has no head: leave the flag out", r.Features, r.model.Name)
		}
		var err error
		r.encoder, err = encode.OpenInner(r.model, "", options)
		r.head = &student.Head{From: "vectors", To: "vectors", Opset: 17}
		if err == nil {
			r.head.Dim = r.encoder.Dim()
		}
		return err
	}
	data, err := r.model.ReadFile(r.model.ONNX)
	if err != nil {
		return err
	}
	graph, err := onnxgraph.Parse(data)
	if err != nil {
		return badinput.Errorf("%s of encoder %s: %w", r.model.ONNX, r.model.Name, err)
	}
	if graph.Functions {
		return badinput.Errorf("the graph of %s defines operators of its own, which a student's graph cannot take over: export it with them inlined", r.model.Name)
	}
	waists := graph.Waists(r.model.Output)
	if r.Features != "" {
		if !slices.Contains(waists, r.Features) {
			return badinput.Errorf("--features %s: not all that %s of %s is made of passes through it; these would do: %s",
				r.Features, r.model.Output, r.model.Name, strings.Join(waists, ", "))
		}
		waists = []string{r.Features}
	}
	for _, name := range waists {
		if r.encoder, err = encode.OpenInner(r.model, name, options); err == nil {
			r.Tensor = name
			if r.head, err = student.FindHead(graph, name, r.model.Output, r.model.Dim); err != nil {
				return errors.Join(err, r.encoder.Close())
			}
			return nil
		}
	}
	return err
}

// read reads the text, chooses the vocabulary and invents sentences.
func (r *run) read(ctx context.Context) (err error) {
	r.Report("read the text")
	if r.text, err = ReadSentences(ctx, r.encoder, r.Texts, r.Bitexts); err != nil {
		return err
	}
	r.Text = r.text.Sources
	if n := r.text.Len(); n < minSentences {
		return badinput.Errorf("the text has %d different sentences, fewer than the %d that a table can be fitted on: name more --text", n, minSentences)
	}
	for _, language := range r.text.Names {
		before, after, err := r.encoder.Vocabulary().Frame(language)
		if err != nil {
			return err
		}
		r.frames = append(r.frames, Frame{Before: before, After: after})
	}
	v := r.encoder.Vocabulary()
	if r.vocab, err = r.chooseVocabulary(v); err != nil {
		return err
	}
	r.Rows = len(r.vocab.Teacher)
	if r.Invent > 0 {
		wanted := make([]bool, v.Rows())
		for _, id := range r.vocab.Teacher {
			wanted[id] = true
		}
		bos, eos := v.Ends()
		for _, id := range slices.Concat(bos, eos) {
			wanted[id] = false
		}
		r.Invented = r.text.Invent(v.Pieces(), wanted, r.frames[0], r.Invent, r.Seed)
	}
	r.text = r.text.Sample(r.Sample)
	return nil
}

// chooseVocabulary prunes the teacher's.
func (r *run) chooseVocabulary(v *tokenizer.Vocabulary) (*Vocabulary, error) {
	file, err := r.model.ReadFile(r.model.Tokenizer.File)
	if err != nil {
		return nil, err
	}
	counts := make([]int, v.Rows())
	for _, id := range r.text.IDs {
		counts[id]++
	}
	keep := make([]bool, v.Size())
	for i := range keep {
		keep[i] = true
	}
	if r.Pieces > 0 && r.Pieces < len(keep) {
		if r.model.Tokenizer.Kind != "sentencepiece" {
			return nil, badinput.Errorf("--pieces %d: only a SentencePiece vocabulary can be pruned, and the tokenizer of %s is %s: leave the flag out", r.Pieces, r.model.Name, r.model.Tokenizer.Kind)
		}
		p, err := ParsePieces(file)
		if err != nil {
			return nil, badinput.Errorf("%s of encoder %s: %w", r.model.Tokenizer.File, r.model.Name, err)
		}
		own := make([]int, len(keep))
		for id := range own {
			own[id] = counts[v.Number(int32(id))]
		}
		if keep, err = p.Choose(r.Pieces, own); err != nil {
			return nil, badinput.Errorf("%s of encoder %s: %w", r.model.Tokenizer.File, r.model.Name, err)
		}
		file = p.Model(keep)
	}
	bos, eos := v.Ends()
	return NewVocabulary(v.Rows(), keep, v.Number, slices.Concat(bos, eos), file)
}

// Print writes the summary for a person.
func (s *Summary) Print(w io.Writer) error {
	var b strings.Builder
	for _, t := range s.Text {
		fmt.Fprintf(&b, "read       %s %s: %d sentences\n", t.Language, t.File, t.Sentences)
	}
	for _, warning := range s.Warnings {
		fmt.Fprintf(&b, "warning    %s\n", warning)
	}
	fmt.Fprintf(&b, "fitted     %d sentences of %d tokens, drawn from the text and %d invented sentences; %d rows\n", s.Sentences, s.Tokens, s.Invented, s.Rows)
	descent := ""
	if s.Losses[0] > 0 {
		fmt.Fprintf(&b, "descent    loss %.4f at first, %.4f at last\n", s.Losses[0], s.Losses[1])
		descent = fmt.Sprintf("by the descent %.4f %.4f, ", s.Descent.Fitted, s.Descent.HeldOut)
	}
	fmt.Fprintf(&b, "left       of the features' squares, fitted and held out: by pieces alone %.4f %.4f, by the table %.4f %.4f, %swith its columns %.4f, with its bits %.4f\n",
		s.Prior.Fitted, s.Prior.HeldOut, s.Fit.Fitted, s.Fit.HeldOut, descent, s.RankLeft, s.BitsLeft)
	fmt.Fprintf(&b, "cosine     %.4f to the teacher's vectors of held-out sentences\n", s.Cosine)
	fmt.Fprintf(&b, "encoder    %s, %.1f MB\n", s.Model, float64(s.Bytes)/1e6)
	_, err := io.WriteString(w, b.String())
	return err
}
