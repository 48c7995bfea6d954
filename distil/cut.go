package distil

import (
	"context"
	"slices"

	"bitextmine/distil/fit"
	"bitextmine/encode/model"
	"bitextmine/encode/tokenizer"
	"bitextmine/internal/badinput"
)

// pieces is the text of a distillation in the pieces of teacher and student.
type pieces struct {
	text       *Sentences // the drawn sentences, including invented ones, in the teacher's ids
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
	if p.vocabulary, err = chooseVocabulary(t.model, v, text, o.Pieces); err != nil {
		return nil, err
	}
	bos, eos := v.Ends()
	if len(bos) > 0 {
		p.first = p.vocabulary.Student[bos[0]]
	}
	if o.Invent > 0 {
		wanted := make([]bool, v.Rows())
		for _, id := range p.vocabulary.Teacher {
			wanted[id] = true
		}
		for _, id := range slices.Concat(bos, eos) {
			wanted[id] = false
		}
		p.invented = text.Invent(v.Pieces(), wanted, p.frames[0], o.Invent, o.Seed)
	}
	p.text = text.Sample(o.Sample)
	p.translate(bos, eos)
	return p, nil
}

// translate writes the sentences in the student's ids, without the language's prefix, which a student does not take. A
// sentence with a piece that the student lacks is left out.
func (p *pieces) translate(bos, eos []int32) {
	var ids []int32
	for i := range p.text.Len() {
		frame := p.frames[max(p.text.Languages[i], 0)]
		whole := p.text.At(i)
		begin := min(len(frame.Before), len(whole))
		own := whole[begin:max(len(whole)-len(frame.After), begin)]
		ids = append(append(append(ids[:0], bos...), own...), eos...)
		ids, ok := p.vocabulary.Translate(ids, nil)
		if !ok {
			continue
		}
		p.rows.IDs = append(p.rows.IDs, ids...)
		p.rows.Ends = append(p.rows.Ends, int64(len(p.rows.IDs)))
		p.kept = append(p.kept, i)
	}
}

// counts are the occurrences of each of the student's ids.
func (p *pieces) counts() []int {
	counts := make([]int, len(p.vocabulary.Teacher))
	for _, id := range p.rows.IDs {
		counts[id]++
	}
	return counts
}

// singles are sentences of one piece each, for all of the student's ids.
func (p *pieces) singles() *Sentences {
	singles := &Sentences{}
	for _, id := range p.vocabulary.Teacher {
		singles.IDs = append(singles.IDs, p.frames[0].Around([]int32{id})...)
		singles.Ends = append(singles.Ends, len(singles.IDs))
	}
	return singles
}

// chooseVocabulary prunes the teacher's vocabulary to so many pieces; 0 keeps all.
func chooseVocabulary(m *model.Model, v *tokenizer.Vocabulary, text *Sentences, size int) (*Vocabulary, error) {
	file, err := m.ReadFile(m.Tokenizer.File)
	if err != nil {
		return nil, err
	}
	keep := slices.Repeat([]bool{true}, v.Size())
	if size > 0 && size < len(keep) {
		if m.Tokenizer.Kind != "sentencepiece" {
			return nil, badinput.Errorf("--pieces %d: only a SentencePiece vocabulary can be pruned, and the tokenizer of %s is %s: leave the flag out", size, m.Name, m.Tokenizer.Kind)
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
			keep, err = p.Choose(size, own)
		}
		if err != nil {
			return nil, badinput.Errorf("%s of encoder %s: %w", m.Tokenizer.File, m.Name, err)
		}
		file = p.Model(keep)
	}
	bos, eos := v.Ends()
	return NewVocabulary(v.Rows(), keep, v.Number, slices.Concat(bos, eos), file)
}
