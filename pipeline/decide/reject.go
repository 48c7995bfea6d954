package decide

import (
	"context"
	"encoding/hex"
	"slices"

	"bitextmine/bitext/label"
	"bitextmine/filter"
	"bitextmine/filter/language"
	"bitextmine/internal/spill"
	"bitextmine/mine"
	"bitextmine/pipeline/stage/shard"
	"bitextmine/pipeline/view"
)

// textChunk is how many pairs have their texts in memory at once: some 50 MB of ordinary sentences.
const textChunk = 64 << 10

// Rules are the rules of package filter that a run asks for.
type Rules struct {
	copies  bool                    // text that was not translated is rejected
	foreign [2]*language.Identifier // nil: text in other languages is not rejected
	// others are of languages that much of a side's text is in.
	others [2][]other
}

// other is a language that much of a side's text is in.
type other struct {
	*language.Identifier
	opposite bool // the other side is in it
}

// NewRules returns the rules that the settings of a pair's run ask for.
func NewRules(ctx context.Context, p *view.Pair) (*Rules, error) {
	s, codes := p.Plan.Settings, p.Codes()
	r := &Rules{copies: leavesCopiesOut(p)}
	for side, code := range codes {
		if identifier := language.For(code); !s.KeepForeign && identifier.Judges() {
			r.foreign[side] = identifier
			others, err := othersOf(ctx, p, side)
			if err != nil {
				return nil, err
			}
			for _, code := range others {
				r.others[side] = append(r.others[side], other{language.For(code), language.Same(code, codes[1-side])})
			}
		}
	}
	return r, nil
}

// othersOf lists the languages that many sentences of a side's files are in instead of the side's own.
func othersOf(ctx context.Context, p *view.Pair, side int) (codes []string, err error) {
	cuts, err := shard.Results(ctx, p.Store, p.Language(side).Inputs, p.Plan.Settings)
	if err != nil {
		return nil, err
	}
	for i := range cuts {
		for _, other := range cuts[i].Languages.Others(p.Language(side).Code) {
			if !slices.Contains(codes, other.Code) {
				codes = append(codes, other.Code)
			}
		}
	}
	return codes, nil
}

// none reports whether no rule applies.
func (r *Rules) none() bool { return !r.copies && r.foreign[0] == nil && r.foreign[1] == nil }

// Reject returns the rules that reject a pair.
func (r *Rules) Reject(source, target *Sentence) (why filter.Rejection) {
	sentences := [2]*Sentence{source, target}
	for side, s := range sentences {
		if l := r.foreign[side]; l != nil && (l.Foreign(s.Text, s.guess) || r.rather(side, s.Text, sentences[1-side].Text)) {
			why |= [2]filter.Rejection{filter.SourceLanguage, filter.TargetLanguage}[side]
		}
	}
	if r.copies && filter.Copied(source.Text, target.Text) {
		why |= filter.Untranslated
	}
	return why
}

// rather reports whether a text of a side is in one of the other languages that much of the side is in. In that of the
// sentence that it is matched with it is only if they are alike: short texts are often taken for another language.
func (r *Rules) rather(side int, text, with string) bool {
	return slices.ContainsFunc(r.others[side], func(o other) bool {
		return r.foreign[side].Rather(o.Identifier, text) && (!o.opposite || filter.Alike(text, with))
	})
}

// rejecting applies the rules to candidates that may be kept: texts below the threshold are not read.
type rejecting struct {
	*decider
	rules   *Rules
	labels  map[[2]int32]bool
	checked []bool  // one for each candidate; nil: no rule applies
	wanted  []int32 // buffer of next, one for each candidate
}

// newRejecting prepares the rules for the candidates, and rejects what people rejected.
func (p *decider) newRejecting(ctx context.Context, d *Decision) (*rejecting, error) {
	r := &rejecting{decider: p}
	var err error
	if r.rules, err = NewRules(ctx, p.Pair); err != nil {
		return nil, err
	}
	if r.labels, err = Labels(ctx, p.Pair, p.Plan.Labels); err != nil || r.rules.none() && r.labels == nil {
		return r, err
	}
	if d.Rejections, err = spill.Make[filter.Rejection](p.Room(), len(d.Candidates)); err != nil {
		return nil, err
	}
	if !r.rules.none() {
		if r.checked, err = spill.Make[bool](p.Room(), len(d.Candidates)); err != nil {
			return nil, err
		}
		if r.wanted, err = p.Room().Ints(len(d.Candidates)); err != nil {
			return nil, err
		}
	}
	d.label(r.labels)
	return r, nil
}

// next looks at the candidates that pass the threshold and were not looked at. It reports whether it rejected one.
func (r *rejecting) next(ctx context.Context, d *Decision) (more bool, err error) {
	wanted := r.wanted[:0]
	for i, checked := range r.checked {
		if !checked && d.passes(i) {
			wanted = append(wanted, int32(i))
			r.checked[i] = true
		}
	}
	for chunk := range slices.Chunk(wanted, textChunk) {
		if err := r.rejectChunk(ctx, d, r.rules, chunk); err != nil {
			return false, err
		}
	}
	d.label(r.labels)
	return slices.ContainsFunc(wanted, func(at int32) bool { return d.Candidates[at].Rejected }), nil
}

// rejectChunk rejects among some candidates, given by their places.
func (p *decider) rejectChunk(ctx context.Context, d *Decision, rules *Rules, wanted []int32) error {
	var texts [2][]Sentence
	for side := range texts {
		numbers := make([]int32, len(wanted))
		for i, at := range wanted {
			numbers[i] = sentenceOf(&d.Candidates[at], side)
		}
		var err error
		if texts[side], err = p.texts.Read(ctx, side, numbers); err != nil {
			return err
		}
	}
	return view.Parallel(ctx, p.options.Threads, len(wanted), func(i int) {
		at := wanted[i]
		d.Rejections[at] = rules.Reject(&texts[0][i], &texts[1][i])
		d.Candidates[at].Rejected = d.Rejections[at] != 0
	})
}

// sentenceOf is the number of a candidate's sentence of a side.
func sentenceOf(c *mine.Candidate, side int) int32 { return [2]int32{c.Source, c.Target}[side] }

// passes reports whether a candidate may be kept.
func (d *Decision) passes(i int) bool {
	if d.Probabilities == nil {
		return float64(d.Candidates[i].Score) > d.Threshold
	}
	return float64(d.Probabilities[i]) >= d.Threshold
}

// Labels returns those of the labels whose sentences are both in the pair's text, by the numbers of the sentences:
// true for a pair that was accepted. Without labels it is nil.
func Labels(ctx context.Context, p *view.Pair, labels []label.Label) (map[[2]int32]bool, error) {
	if len(labels) == 0 {
		return nil, nil
	}
	var numbers [2]map[string]int32
	for side := range numbers {
		wanted := map[string]bool{}
		for _, l := range labels {
			wanted[[2]string{l.Source, l.Target}[side]] = true
		}
		numbers[side] = map[string]int32{}
		language := p.Language(side)
		for i := range language.Shards {
			keys, err := p.Keys(ctx, &language.Shards[i])
			if err != nil {
				return nil, err
			}
			for row, key := range keys {
				if digits := hex.EncodeToString(key[:]); wanted[digits] {
					numbers[side][digits] = p.Sentences[side].Rows[i][row]
				}
			}
		}
	}
	found := map[[2]int32]bool{}
	for _, l := range labels {
		source, inSource := numbers[0][l.Source]
		target, inTarget := numbers[1][l.Target]
		if inSource && inTarget {
			found[[2]int32{source, target}] = l.Accepted
		}
	}
	return found, nil
}

// label rejects the candidates that people rejected, and lets those pass that people accepted.
func (d *Decision) label(labels map[[2]int32]bool) {
	if len(labels) == 0 {
		return
	}
	for i := range d.Candidates {
		c := &d.Candidates[i]
		accepted, ok := labels[[2]int32{c.Source, c.Target}]
		switch {
		case !ok:
		case accepted:
			c.Rejected, d.Rejections[i] = false, 0
		default:
			c.Rejected = true
			d.Rejections[i] |= filter.Label
		}
	}
}
