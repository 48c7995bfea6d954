package distil

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"bitextmine/distil/fit"
	"bitextmine/distil/student"
	"bitextmine/encode/model"
	"bitextmine/encode/tokenizer"
	"bitextmine/internal/badinput"
)

// pieces is the text of a distillation in the pieces of teacher and student.
type pieces struct {
	text       *Sentences // the drawn sentences, including invented ones, in the teacher's ids
	lacking    int        // sentences of the text that are left out, because they have a piece that the student lacks
	invented   int        // sentences, before any were drawn
	frames     []Frame    // frame of each language of text.Names
	vocabulary *Vocabulary
	rows       fit.Sparse // sentences in the student's ids
	kept       []int      // the sentence in text of each of rows
	first      int32      // the student's id that every sentence begins with; unmapped: there is none
}

// readPieces reads the text, chooses the vocabulary, invents sentences and translates all into the student's ids.
func readPieces(ctx context.Context, o Options, t *source) (*pieces, error) {
	o.Report("read the text")
	text, err := ReadSentences(ctx, t.encoder, o.Texts, o.Bitexts)
	if err != nil {
		return nil, err
	}
	if n := text.Len(); n < minSentences {
		return nil, badinput.Errorf("the text has %d different sentences, fewer than the %d that a table can be fitted on: name more --text", n, minSentences)
	}
	p := &pieces{first: unmapped}
	v := t.encoder.Vocabulary()
	for _, language := range text.Names {
		before, after, err := v.Frame(language)
		if err != nil {
			return nil, err
		}
		p.frames = append(p.frames, Frame{Before: before, After: after})
	}
	if p.vocabulary, err = chooseVocabulary(o, t.model, v, text); err != nil {
		return nil, err
	}
	bos, eos := v.Ends()
	if len(bos) > 0 {
		p.first = p.vocabulary.Student[bos[0]]
	}
	if err := p.countLacking(o, text, bos, eos); err != nil {
		return nil, err
	}
	if o.Invent > 0 {
		wanted := make([]bool, v.Rows())
		for id := range wanted {
			wanted[id] = p.vocabulary.Student[id] != unmapped
		}
		for _, id := range slices.Concat(bos, eos) {
			wanted[id] = false
		}
		p.invented = text.Invent(v.Pieces(), wanted, p.frames, o.Invent, o.Seed)
	}
	p.text = text.Sample(o.Sample)
	p.translate(bos, eos)
	return p, nil
}

// translate writes the sentences in the student's ids, without the language's prefix, which a student does not take. A
// sentence with a piece that the student lacks is left out.
func (p *pieces) translate(bos, eos []int32) {
	for i := range p.text.Len() {
		ids, ok := p.translated(p.text, i, bos, eos)
		if !ok {
			continue
		}
		p.rows.IDs = append(p.rows.IDs, ids...)
		p.rows.Ends = append(p.rows.Ends, int64(len(p.rows.IDs)))
		p.kept = append(p.kept, i)
	}
}

// translated is sentence i of a text in the student's ids; false if the student lacks one of its pieces.
func (p *pieces) translated(text *Sentences, i int, bos, eos []int32) ([]int32, bool) {
	return p.vocabulary.Translate(slices.Concat(bos, text.own(i, p.frames), eos), nil)
}

// countLacking counts the sentences of the text, before any are invented, that have a piece that the student lacks. It
// refuses a text of which too few are left.
func (p *pieces) countLacking(o Options, text *Sentences, bos, eos []int32) error {
	all := text.Len()
	for i := range all {
		if _, ok := p.translated(text, i, bos, eos); !ok {
			p.lacking++
		}
	}
	if p.lacking == 0 {
		return nil
	}
	if left := all - p.lacking; left < minSentences {
		return badinput.Errorf("the student's vocabulary (--pieces %d) lacks a piece of %d of the text's %d different sentences, and the other %d are "+
			"fewer than the %d that a table can be fitted on: give more --pieces, or name more --text", o.Pieces, p.lacking,
			all, left, minSentences)
	}
	o.Report(leftOut(p.lacking, o.Pieces))
	return nil
}

// leftOut says for a person how many sentences are not fitted, and why.
func leftOut(sentences, pieces int) string {
	return fmt.Sprintf("%d sentences of the text are left out: the student's vocabulary (--pieces %d) lacks a piece of each", sentences, pieces)
}

// counts are the occurrences of each of the student's ids.
func (p *pieces) counts() []int {
	counts := make([]int, len(p.vocabulary.Teacher))
	for _, id := range p.rows.IDs {
		counts[id]++
	}
	return counts
}

// singles are sentences of one piece each, for all of the student's ids. lengths are their numbers of the teacher's
// ids, in units of those of a piece that is no merge.
func (p *pieces) singles() (singles *Sentences, lengths []float64) {
	singles = &Sentences{}
	frame := len(p.frames[0].Around(nil))
	for _, ids := range p.vocabulary.Teacher {
		singles.IDs = append(singles.IDs, p.frames[0].Around(ids)...)
		singles.Ends = append(singles.Ends, len(singles.IDs))
		lengths = append(lengths, float64(frame+len(ids))/float64(frame+1))
	}
	return singles, lengths
}

// chooseVocabulary prunes the teacher's vocabulary to so many pieces, 0 for all, and adds merges.
func chooseVocabulary(o Options, m *model.Model, v *tokenizer.Vocabulary, text *Sentences) (*Vocabulary, error) {
	file, err := m.ReadFile(m.Tokenizer.File)
	if err != nil {
		return nil, err
	}
	keep, merged := slices.Repeat([]bool{true}, v.Size()), newMerges()
	if o.Pieces > 0 && o.Pieces < len(keep) || o.Merges > 0 {
		if m.Tokenizer.Kind != "sentencepiece" {
			return nil, badinput.Errorf("--pieces %d, --merges %d: only a SentencePiece vocabulary can be changed, and the tokenizer of %s is %s: leave the flags out", o.Pieces, o.Merges, m.Name, m.Tokenizer.Kind)
		}
		counts, own := make([]int, v.Rows()), make([]int, len(keep))
		for _, id := range text.IDs {
			counts[id]++
		}
		for id := range own {
			own[id] = counts[v.Number(int32(id))]
		}
		p, err := ParsePieces(file)
		if err == nil {
			keep, err = p.Choose(o.Pieces, own)
		}
		if err != nil {
			return nil, badinput.Errorf("%s of encoder %s: %w", m.Tokenizer.File, m.Name, err)
		}
		if o.Merges > 0 {
			merged = p.merges(text, keep, v, o.Merges)
		}
		file = p.Model(keep, merged.pieces...)
	}
	bos, eos := v.Ends()
	return NewVocabulary(v.Rows(), keep, v.Number, merged, slices.Concat(bos, eos), file)
}

// merges chooses merges of the kept pieces.
func (p *Pieces) merges(text *Sentences, keep []bool, v *tokenizer.Vocabulary, n int) *merges {
	usable, begins, taken := make([]bool, v.Rows()), make([]bool, v.Rows()), map[string]bool{}
	places := make([]int32, v.Rows()) // places in the file
	for id, spelling := range p.spelling {
		if !keep[id] {
			continue
		}
		taken[spelling] = true
		at := v.Number(int32(id))
		places[at] = int32(id)
		begins[at] = strings.HasPrefix(spelling, wordMark)
		usable[at] = p.normal[id] && strings.ContainsFunc(spelling, func(r rune) bool {
			return unicode.In(r, unicode.Letter, unicode.Mark, unicode.Digit)
		})
	}
	spell := func(ids []int32) string {
		var all strings.Builder
		for _, id := range ids {
			all.WriteString(p.spelling[places[id]])
		}
		return all.String()
	}
	m := chooseMerges(text, usable, begins, spell, taken, n)
	for i, parts := range m.parts {
		score := mergeBonus * m.weight[i]
		for _, id := range parts {
			score += float64(p.score[places[id]])
		}
		m.pieces = append(m.pieces, piece{spell(parts), float32(score)})
	}
	return m
}

// descend trains table and head by gradient descent. problem.Features are then what the new table leaves.
func descend(ctx context.Context, o Options, p *pieces, problem *fit.Problem, from *table) (*table, error) {
	o.Report("finish by gradient descent")
	head := *from.head
	head.Weights = slices.Clone(head.Weights)
	network, err := head.Network()
	if err != nil {
		return nil, err
	}
	if err := problem.Restore(ctx, from.values); err != nil { // the teacher's features again
		return nil, err
	}
	dim := from.dim
	targets, err := network.Vectors(p.rows.Rows(), dim, head.Dim, o.Threads,
		func(i int, to []float32) { copy(to, problem.Features[i*problem.Dim:][:dim]) })
	if err != nil {
		return nil, err
	}
	s := fit.DefaultSettings()
	s.Epochs, s.Seed, s.Threads = o.Epochs, o.Seed, o.Threads
	s.Report = func(step, steps int, _ float64) { o.Progress("steps", step, steps) }
	data := &fit.Data{
		Sentences: p.rows, Scales: problem.Scales, Items: items(p, problem.Weights), Targets: targets, Vector: head.Dim,
		Dim:   dim,
		Round: rounding(o, problem.Pieces, dim),
	}
	out := *from
	values := fit.Cut(from.values, problem.Dim, dim)
	if out.losses[0], out.losses[1], err = fit.Finish(ctx, data, values, network, s); err != nil {
		return nil, err
	}
	head.Take(network)
	out.head = &head
	out.values, _ = fit.Padded(values, dim)
	if err := problem.Explain(ctx, out.values); err != nil {
		return nil, err
	}
	out.descent = problem.Left()
	return &out, nil
}

// items are all sentences that are fitted, each with itself, and the pairs of the bitext, each in both directions.
func items(p *pieces, weights []float32) []fit.Item {
	var items []fit.Item
	row := make([]int32, p.text.Len()) // row of each sentence; -1: it is not fitted
	for i := range row {
		row[i] = -1
	}
	for i, from := range p.kept {
		if weights[i] != 0 {
			row[from] = int32(i)
			items = append(items, fit.Item{Sentence: int32(i), Aim: int32(i)})
		}
	}
	for _, pair := range p.text.Pairs {
		if a, b := row[pair[0]], row[pair[1]]; a >= 0 && b >= 0 {
			items = append(items, fit.Item{Sentence: a, Aim: b}, fit.Item{Sentence: b, Aim: a})
		}
	}
	return items
}

// rescale: a row's scale is chosen anew at every sixteenth of its roundings, because choosing takes longer than
// rounding.
const rescale = 16

// rounding rounds rows as they ship, so that the descent sees them so; nil for columns that are cut later.
func rounding(o Options, rows, dim int) func(row int, values, shipped []float32) {
	if o.Rank != 0 && o.Rank != dim {
		return nil
	}
	scales, times := make([]float32, rows), make([]int, rows)
	return func(row int, values, shipped []float32) {
		if times[row]%rescale == 0 {
			scales[row] = student.BestScale(values, o.Bits)
		}
		times[row]++
		student.Round(values, scales[row], o.Bits, shipped)
	}
}
