package data

import (
	"cmp"
	"iter"
	"slices"

	"bitextmine/bitext/label"
	"bitextmine/corpus"
	"bitextmine/internal/badinput"
)

// Part is some sentences as a side. All sides of one length have the same number of rows, so the last rows of a side
// may be padding.
type Part struct {
	Side Side
	Rows []int // indices of the sentences in the texts; at most Side.N
}

// Parts tokenises sentences of one language as Read does. It yields them by length, in sides of n rows padded to the
// buckets of c, which gives few shapes and little padding. Sentences are truncated to MaxTokens. texts is not changed.
func (c Config) Parts(o Options, language string, texts []string, n int) iter.Seq2[Part, error] {
	return func(yield func(Part, error) bool) {
		var all side
		languages := make([]string, len(texts))
		for i := range languages {
			languages[i] = language
		}
		var cut uint64
		o.Texts = false
		if err := all.tokenize(o, c.MaxTokens, slices.Clone(texts), languages, &cut); err != nil {
			yield(Part{}, err)
			return
		}
		for part := range all.parts(n, c.lengths()) {
			if !yield(part, nil) {
				return
			}
		}
	}
}

// Parts does the same for the sources or targets of all pairs.
func (s *Set) Parts(target bool, n int) iter.Seq[Part] {
	if target {
		return s.target.parts(n, s.config.lengths())
	}
	return s.source.parts(n, s.config.lengths())
}

// parts cuts a side into sides of n rows, padded to buckets.
func (s *side) parts(n int, buckets []int) iter.Seq[Part] {
	return func(yield func(Part) bool) {
		order := make([]int, len(s.ends))
		for i := range order {
			order[i] = i
		}
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(len(s.at(a)), len(s.at(b))) })
		for len(order) > 0 {
			rows := order[:min(n, len(order))]
			at, _ := slices.BinarySearch(buckets, len(s.at(rows[len(rows)-1])))
			if !yield(Part{s.padded(rows, n, buckets[at]), rows}) {
				return
			}
			order = order[len(rows):]
		}
	}
}

// padded returns a side of n rows: the sentences of rows, then copies of the first one.
func (s *side) padded(rows []int, n, length int) Side {
	out := Side{N: n, Length: length, IDs: make([]int32, n*length), Lengths: make([]int32, n),
		Languages: make([]uint16, n)}
	for i := range n {
		row := rows[0]
		if i < len(rows) {
			row = rows[i]
		}
		out.Lengths[i] = int32(copy(out.IDs[i*length:(i+1)*length], s.at(row)))
	}
	return out
}

// Cut returns rows from to to-1 of a side.
func (s Side) Cut(from, to int) Side {
	out := Side{N: to - from, Length: s.Length, IDs: s.IDs[from*s.Length : to*s.Length], Lengths: s.Lengths[from:to]}
	if s.Languages != nil {
		out.Languages = s.Languages[from:to]
	}
	if s.Texts != nil {
		out.Texts = s.Texts[from:to]
	}
	return out
}

// Labels are people's decisions on the pairs of a run.
type Labels struct {
	only bool // pairs without a label are not used
	of   map[[2]corpus.Key]label.Label
}

// openLabels reads the labels of a run's output directory; nil if none is named. With only, pairs without a label are
// refused, too.
func openLabels(run string, only bool) (*Labels, error) {
	if run == "" {
		return nil, nil
	}
	latest, err := label.Latest(run)
	if err != nil {
		return nil, err
	}
	if len(latest) == 0 {
		return nil, badinput.Errorf("there is no label in %s: name the output directory of a run whose pairs were rejected or accepted, or remove labels",
			label.Path(run))
	}
	l := &Labels{only: only, of: map[[2]corpus.Key]label.Label{}}
	for _, one := range latest {
		var pair [2]corpus.Key
		for side, digits := range []string{one.Source, one.Target} {
			if pair[side], err = corpus.ParseKey(digits); err != nil {
				return nil, err
			}
		}
		l.of[pair] = one
	}
	return l, nil
}

// Refuse returns the reason why labels leave a pair out. A label holds in both directions; if it is of a corrected
// pair, p gets the texts that the person gave. Nil labels refuse no pair.
func (l *Labels) Refuse(p *Pair) Reason {
	if l == nil {
		return ""
	}
	source, target := corpus.KeyOf(p.Source), corpus.KeyOf(p.Target)
	one, ok := l.of[[2]corpus.Key{source, target}]
	texts := [2]string{one.SourceText, one.TargetText}
	if !ok {
		one, ok = l.of[[2]corpus.Key{target, source}]
		texts = [2]string{one.TargetText, one.SourceText}
	}
	switch {
	case !ok && l.only:
		return NotAccepted
	case ok && !one.Accepted:
		return Rejected
	case one.Edited():
		p.Source, p.Target = corpus.Normalise(texts[0]), corpus.Normalise(texts[1])
	}
	return ""
}
