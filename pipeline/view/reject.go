package view

import (
	"context"
	"slices"

	"bitextmine/corpus/shard"
	"bitextmine/filter"
	"bitextmine/filter/language"

	"bitextmine/pipeline/plan"
)

// textChunk is how many pairs have their texts in memory at once: some 50 MB of ordinary sentences. For each so many
// pairs the text is read again, which takes less than the search of the text that has them.
const textChunk = 128 << 10

// reject marks the candidates that the rules of package filter reject, among those that the threshold lets pass: what
// stands below it is not read.
func (p *Pair) reject(ctx context.Context, d *Decision, threads int) error {
	s := p.Plan.Settings
	r := rejecter{pair: p, d: d, threads: threads, copies: !s.KeepCopies && !language.Near(p.Language(0).Code, p.Language(1).Code)}
	for side := range r.sides {
		r.sides[side].identifier = language.For(p.Language(side).Code)
		if !s.KeepForeign && r.sides[side].identifier.Judges() {
			r.sides[side].known = make([]judgement, p.Sentences[side].Len())
		}
	}
	labels, err := p.Labelled(ctx, p.Plan.Labels)
	if err != nil {
		return err
	}
	if !r.copies && r.sides[0].known == nil && r.sides[1].known == nil && labels == nil {
		return nil
	}
	d.Rejections = make([]filter.Rejection, len(d.Candidates))
	var wanted []int32
	for i := range d.Candidates {
		if d.passes(i, s.Precision) {
			wanted = append(wanted, int32(i))
		}
	}
	for chunk := range slices.Chunk(wanted, textChunk) {
		if err := r.chunk(ctx, chunk); err != nil {
			return err
		}
	}
	d.label(labels)
	return nil
}

// passes reports whether a candidate may be kept: with a wanted precision the threshold is not known yet.
func (d *Decision) passes(i int, precision float64) bool {
	switch {
	case d.Probabilities == nil:
		return float64(d.Candidates[i].Score) > d.Threshold
	case precision > 0:
		return true
	}
	return float64(d.Probabilities[i]) >= d.Threshold
}

// rejecter judges candidates by their texts.
type rejecter struct {
	pair    *Pair
	d       *Decision
	threads int
	copies  bool // they are rejected
	sides   [2]struct {
		identifier *language.Identifier
		known      []judgement // by sentence; nil: sentences in other languages are not rejected
	}
}

// judgement is what is known of a sentence.
type judgement uint8

const (
	unseen judgement = iota
	fine
	foreign
)

// chunk judges candidates, given by their places.
func (r *rejecter) chunk(ctx context.Context, wanted []int32) error {
	var texts [2][]string
	for side := range texts {
		texts[side] = make([]string, len(wanted))
		numbers := make([]int32, len(wanted))
		for i, at := range wanted {
			c := &r.d.Candidates[at]
			numbers[i] = [2]int32{c.Source, c.Target}[side]
		}
		err := r.pair.RowsOf(ctx, side, numbers, func(at int, _ *plan.Shard, _ uint32, row shard.Row) { texts[side][at] = row.Text })
		if err != nil {
			return err
		}
		if err := r.judge(ctx, side, numbers, texts[side]); err != nil {
			return err
		}
	}
	return EachInParallel(ctx, r.threads, len(wanted), func(i int) {
		c := &r.d.Candidates[wanted[i]]
		var why filter.Rejection
		for side, number := range [2]int32{c.Source, c.Target} {
			if known := r.sides[side].known; known != nil && known[number] == foreign {
				why |= [2]filter.Rejection{filter.SourceLanguage, filter.TargetLanguage}[side]
			}
		}
		if r.copies && filter.Copied(texts[0][i], texts[1][i]) {
			why |= filter.Untranslated
		}
		r.d.Rejections[wanted[i]] = why
		c.Rejected = why != 0
	})
}

// judge identifies the languages of a side's sentences that were not seen yet.
func (r *rejecter) judge(ctx context.Context, side int, numbers []int32, texts []string) error {
	known := r.sides[side].known
	if known == nil {
		return nil
	}
	var wanted []int32 // the first place of each sentence: no two goroutines write to one judgement
	for i, number := range numbers {
		if known[number] == unseen {
			known[number] = fine
			wanted = append(wanted, int32(i))
		}
	}
	l := r.sides[side].identifier
	return EachInParallel(ctx, r.threads, len(wanted), func(i int) {
		at := wanted[i]
		if l.Foreign(texts[at], l.Identify(texts[at])) {
			known[numbers[at]] = foreign
		}
	})
}
