package match

import (
	"cmp"
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"slices"
	"strings"

	"bitextmine/align/bead"
	"bitextmine/bitext"
	"bitextmine/corpus"
	"bitextmine/filter"
	"bitextmine/mine"
	"bitextmine/pipeline/decide"
	"bitextmine/pipeline/record"
	"bitextmine/pipeline/stage"
	"bitextmine/pipeline/stage/align"
	"bitextmine/pipeline/stage/pairdocs"
	"bitextmine/pipeline/view"
)

// local holds the pairs that aligning documents found, joined with the decision of global mining.
type local struct {
	pair   *view.Pair
	texts  *decide.Texts
	sides  [2]*pairdocs.Collection
	of     map[int]*found // keys are places of candidates that are the same pair
	less   map[int]bool   // candidates that were kept and that a bead contradicts
	rows   []*found       // the others, best first
	counts record.DocumentCounts
}

// found is a bead between spans of two documents.
type found struct {
	docs [2]int // places in the collections
	bead.Bead
	docScore float32
}

func (f *found) span(side int) bead.Span { return [2]bead.Span{f.Source, f.Target}[side] }

// score is the bead's score.
func (f *found) score() float32 { return f.Bead.Score() }

// sentences are the sentences of a side of a bead.
func (l *local) sentences(f *found, side int) []pairdocs.Sentence {
	s := f.span(side)
	return l.sides[side].Documents[f.docs[side]].Sentences[s.First:s.End()]
}

// name stands for the sentences of a bead: those of equal text have one name.
func (l *local) name(f *found) string {
	var name []byte
	for side := range l.sides {
		name = append(name, byte(f.span(side).Count))
		for _, s := range l.sentences(f, side) {
			name = binary.LittleEndian.AppendUint32(name, uint32(s.Number))
		}
	}
	return string(name)
}

// newLocal reads the beads of a pair and joins them with the candidates. Without documents it is nil.
func newLocal(ctx context.Context, e *stage.Env, pair *view.Pair, d *decide.Decision) (*local, error) {
	if e.Plan.Settings.Documents == "" {
		return nil, nil
	}
	l := &local{pair: pair, texts: d.Texts, of: map[int]*found{}, less: map[int]bool{}}
	for side := range l.sides {
		var err error
		if l.sides[side], err = pairdocs.Documents(ctx, e, pair.Index, side); err != nil {
			return nil, err
		}
	}
	beads, err := l.read(ctx)
	if err != nil {
		return nil, err
	}
	l.join(beads, d)
	if err := l.reject(ctx, d, e.EncoderOptions().Threads); err != nil {
		return nil, err
	}
	l.contradict(d)
	return l, nil
}

// read returns the beads from the wanted score up, by name; of those of equal sentences the best.
func (l *local) read(ctx context.Context) (map[string]*found, error) {
	pairs, info, err := pairdocs.Read(ctx, l.pair.Files, l.pair.Index)
	if err != nil {
		return nil, err
	}
	l.counts = record.DocumentCounts{Source: info.Documents[0], Target: info.Documents[1], Pairs: info.Pairs, Unknown: info.Unknown, Metadata: info.Metadata}
	for _, aside := range info.Aside {
		l.counts.Short += aside.Short
		l.counts.Repeated += aside.Repeated
	}
	scores := map[[2]int]float32{}
	for _, p := range pairs {
		scores[[2]int{p.Source, p.Target}] = float32(p.Score)
	}
	best := map[string]*found{}
	err = align.Read(ctx, l.pair.Files, l.pair.Index, func(b *align.Beads) error {
		docs := [2]int{b.Source, b.Target}
		for _, one := range b.Beads {
			f := &found{docs, one, scores[docs]}
			if float64(f.score()) < l.pair.Plan.Settings.BeadScore {
				continue
			}
			name := l.name(f)
			if before := best[name]; before == nil || f.score() > before.score() {
				best[name] = f
			}
		}
		return nil
	})
	l.counts.Beads = len(best)
	return best, err
}

// join finds the beads that are candidates, without those that were rejected. Beads that are none become rows.
func (l *local) join(beads map[string]*found, d *decide.Decision) {
	for at, c := range d.Candidates {
		name := nameOf(c.Source, c.Target)
		f := beads[name]
		if f == nil {
			continue
		}
		delete(beads, name)
		switch d.Verdicts[at] {
		case mine.Rejected:
			l.counts.Rejected++
			continue
		case mine.Kept:
			l.counts.Both++
		default:
			l.counts.Local++
		}
		l.of[at] = f
	}
	for _, f := range beads {
		l.rows = append(l.rows, f)
	}
	slices.SortFunc(l.rows, func(a, b *found) int {
		return cmp.Or(cmp.Compare(b.score(), a.score()), slices.Compare(a.docs[:], b.docs[:]), cmp.Compare(a.Source.First, b.Source.First))
	})
}

// contradict finds the kept candidates that beads contradict, of which none is rejected. A bead contradicts another
// pair that has one of its sentences, unless that sentence stands several times in the text: it may be translated
// otherwise elsewhere.
func (l *local) contradict(d *decide.Decision) {
	var in [2]map[int32]bool // sentences that stand once, and in a bead
	for side := range in {
		in[side] = map[int32]bool{}
		times := map[int32]int{}
		for _, doc := range l.sides[side].Documents {
			for _, s := range doc.Sentences {
				times[s.Number]++
			}
		}
		add := func(f *found) {
			for _, s := range l.sentences(f, side) {
				if times[s.Number] == 1 {
					in[side][s.Number] = true
				}
			}
		}
		for _, f := range l.of {
			add(f)
		}
		for _, f := range l.rows {
			add(f)
		}
	}
	for at, c := range d.Candidates {
		if l.of[at] == nil && d.Verdicts[at] == mine.Kept && (in[0][c.Source] || in[1][c.Target]) {
			l.less[at] = true
			l.counts.Replaced++
		}
	}
}

// nameOf is the name of a bead of two sentences.
func nameOf(source, target int32) string {
	var name [10]byte
	name[0], name[5] = 1, 1
	binary.LittleEndian.PutUint32(name[1:], uint32(source))
	binary.LittleEndian.PutUint32(name[6:], uint32(target))
	return string(name[:])
}

// kept is the number of rows that belong to the bitext, where global mining kept so many.
func (l *local) kept(global int) int { return global + l.counts.Local - l.counts.Replaced }

// mark completes the row of a candidate.
func (l *local) mark(at int, row *bitext.Row) {
	row.Alignment = &bitext.Alignment{FoundBy: bitext.Global, Sentences: [2]uint32{1, 1}}
	if l.less[at] {
		row.Keep, row.Reasons = false, []string{Aligned}
	}
	f := l.of[at]
	if f == nil {
		return
	}
	if row.Alignment.FoundBy = bitext.Both; !row.Keep {
		row.Alignment.FoundBy, row.Keep, row.Reasons = bitext.Local, true, nil
	}
	l.describe(f, row)
}

// Aligned is the reason of a pair that a bead contradicts.
const Aligned = "aligned"

// describe says of a row what the bead says, and that its sentences stand where the bead has them.
func (l *local) describe(f *found, row *bitext.Row) {
	b := &bitext.Bead{Score: f.score(), DocScore: f.docScore}
	for side, s := range []*bitext.Sentence{&row.Source, &row.Target} {
		span, of := f.span(side), l.sentences(f, side)
		doc := &l.sides[side].Documents[f.docs[side]]
		row.Alignment.Sentences[side], b.First[side] = uint32(span.Count), uint32(span.First)
		first, last := of[0], of[len(of)-1]
		s.Shard, s.Row = l.pair.Language(side).Shards[first.Shard].FileName(int(first.File)), first.Row
		s.Doc, s.URL, s.Line = doc.ID, doc.URL, first.Line
		s.Place = nil
		if first.Place != nil {
			place := *first.Place
			if last.Line == first.Line {
				place.End = last.Place.End
			}
			s.Place = &place
		}
	}
	row.Alignment.Bead = b
}

// table returns rows of beads that are no candidates, and what the rules, if there are any, say of each.
func (l *local) table(ctx context.Context, some []*found, rules *decide.Rules, threads int) ([]bitext.Row, []filter.Rejection, error) {
	rows, rejections := make([]bitext.Row, len(some)), make([]filter.Rejection, len(some))
	var sides [2][]decide.Sentence
	for side := range sides {
		var err error
		if sides[side], err = l.joined(ctx, side, some, threads); err != nil {
			return nil, nil, err
		}
	}
	for i, f := range some {
		rows[i] = bitext.Row{
			Source: sides[0][i].Sentence, Target: sides[1][i].Sentence,
			Cosine: min(f.Cosine, 1), SourceRank: mine.Unranked, TargetRank: mine.Unranked, Keep: true, Alignment: &bitext.Alignment{FoundBy: bitext.Local},
		}
		l.describe(f, &rows[i])
		if rules != nil {
			rejections[i] = rules.Reject(&sides[0][i], &sides[1][i])
		}
	}
	return rows, rejections, nil
}

// joined reads one side of beads: the sentences of each as one text.
func (l *local) joined(ctx context.Context, side int, some []*found, threads int) ([]decide.Sentence, error) {
	var numbers []int32
	for _, f := range some {
		for _, s := range l.sentences(f, side) {
			numbers = append(numbers, s.Number)
		}
	}
	read, err := l.texts.Read(ctx, side, numbers)
	if err != nil {
		return nil, err
	}
	joined := make([]decide.Sentence, len(some))
	for i, f := range some {
		n := f.span(side).Count
		parts := make([]string, n)
		for j := range parts {
			parts[j] = read[j].Text
		}
		joined[i].Text, joined[i].Lang = strings.Join(parts, " "), l.pair.Language(side).Code
		joined[i].Key = corpus.KeyOf(corpus.Normalise(joined[i].Text))
		read = read[n:]
	}
	return joined, view.Parallel(ctx, threads, len(joined), func(i int) { l.texts.Identify(side, &joined[i]) })
}

// reject leaves out the beads that the rules reject, or people did. Of candidates the decision looked only at those
// that pass its threshold.
func (l *local) reject(ctx context.Context, d *decide.Decision, threads int) error {
	rules, err := decide.NewRules(ctx, l.pair)
	if err != nil {
		return err
	}
	labels := map[[2]string]bool{}
	for _, label := range l.pair.Plan.Labels {
		labels[[2]string{label.Source, label.Target}] = label.Accepted
	}
	var places []int
	var beads, left []*found
	for at, f := range l.of {
		if d.Verdicts[at] != mine.Kept {
			places, beads = append(places, at), append(beads, f)
		}
	}
	beads = append(beads, l.rows...)
	at := 0
	for some := range slices.Chunk(beads, rowChunk) {
		rows, rejections, err := l.table(ctx, some, rules, threads)
		if err != nil {
			return err
		}
		for i := range rows {
			accepted, labelled := labels[[2]string{hex.EncodeToString(rows[i].Source.Key[:]), hex.EncodeToString(rows[i].Target.Key[:])}]
			rejected := labelled && !accepted || rejections[i] != 0 && !accepted
			if rejected {
				l.counts.Rejected++
			}
			switch {
			case at >= len(places) && !rejected:
				left = append(left, some[i])
			case at < len(places) && rejected:
				delete(l.of, places[at])
				l.counts.Local--
			}
			at++
		}
	}
	l.rows = left
	l.counts.Local += len(left)
	return nil
}

// append writes the rows of beads that are no candidates.
func (l *local) append(ctx context.Context, out *bitext.Writer, threads, features int) error {
	for some := range slices.Chunk(l.rows, rowChunk) {
		rows, _, err := l.table(ctx, some, nil, threads)
		if err != nil {
			return err
		}
		for i := range rows {
			rows[i].Features = make([]float32, features)
			err = errors.Join(err, out.Append(rows[i]))
		}
		if err != nil {
			return err
		}
	}
	return nil
}
