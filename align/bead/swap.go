package bead

import (
	"strings"
	"unicode"
)

// Crossing is a passage that stands elsewhere in the other document: sentences that no good bead could have without
// breaking the order, each of which is the best counterpart of one in the other span.
type Crossing struct {
	Source, Target Span
	Score          float32 // the mean of the sentences' scores
}

// minCrossing is the least score of a sentence that was moved: half of the way from random sentences to equal ones.
const minCrossing = 0.5

// weakBead is the score below which a bead does not keep its sentences from having counterparts elsewhere: where
// passages changed places, sentences of both stand in such beads. It is the least score of a run's beads by default.
const weakBead = 0.4

// farthest is the number of free sentences of the other document, before and after, that one is compared with.
const farthest = 500

// free is the sentences of a side that have no counterpart, or one in a weak bead.
type free struct {
	at, bead []int // sentence, and place of its bead
}

func (f *free) add(s Span, bead int) {
	for i := s.First; i < s.End(); i++ {
		f.at, f.bead = append(f.at, i), append(f.bead, bead)
	}
}

// crossings looks for counterparts of free sentences among free ones of other beads.
func (a *aligner) crossings(beads []Bead) []Crossing {
	var sources, targets free
	var near []int // number of free target sentences before a free source sentence
	for k, b := range beads {
		if b.Score() >= weakBead {
			continue
		}
		for range b.Source.Count {
			near = append(near, len(targets.at))
		}
		sources.add(b.Source, k)
		targets.add(b.Target, k)
	}
	best := make([]partner, len(sources.at))
	back := make([]partner, len(targets.at))
	for k, i := range sources.at {
		for q := max(near[k]-farthest, 0); q < min(near[k]+farthest, len(targets.at)); q++ {
			if sources.bead[k] == targets.bead[q] {
				continue
			}
			s := a.source.score(a.target.level, i, targets.at[q])
			best[k].offer(q, s)
			back[q].offer(k, s)
		}
	}
	var out []Crossing
	for k, p := range best {
		if p.score < minCrossing || back[p.at].at != k {
			continue
		}
		out = extend(out, sources.at[k], targets.at[p.at], p.score)
	}
	return out
}

// partner is the best counterpart of a sentence.
type partner struct {
	at    int
	score float32
}

func (p *partner) offer(at int, score float32) {
	if score > p.score {
		*p = partner{at, score}
	}
}

// extend adds a pair of sentences to the last block, if it goes on from there, or begins another.
func extend(blocks []Crossing, i, j int, score float32) []Crossing {
	if k := len(blocks) - 1; k >= 0 && blocks[k].Source.End() == i && blocks[k].Target.End() == j {
		b := &blocks[k]
		b.Score = (b.Score*float32(b.Source.Count) + score) / float32(b.Source.Count+1)
		b.Source.Count++
		b.Target.Count++
		return blocks
	}
	return append(blocks, Crossing{Span{i, 1}, Span{j, 1}, score})
}

// Two sentences change places if each has at least minSwap, in parts of the usual score, with the other's counterpart,
// and both together swapGain more than in order.
const (
	minSwap  = 0.5
	swapGain = 0.3
)

// swapped divides the beads of 2:2 sentences that have changed places.
func (l *lattice) swapped(beads []Bead) []Bead {
	out := make([]Bead, 0, len(beads))
	for _, b := range beads {
		if b.Source.Count != 2 || b.Target.Count != 2 {
			out = append(out, b)
			continue
		}
		i, j := b.Source.End()-l.source.First, b.Target.End()-l.target.First
		sum, ok := float32(0), true
		for _, place := range [...]struct {
			i, j int
			sign float32
		}{{i - 1, j - 1, -1}, {i, j, -1}, {i - 1, j, 1}, {i, j - 1, 1}} {
			score, in := l.score(place.i, 1, place.j, 1)
			sum += place.sign * score
			ok = ok && in && (place.sign < 0 || score > minSwap)
		}
		if ok && sum > swapGain {
			out = append(out, l.bead(i-1, 1, j, 1), l.bead(i, 1, j-1, 1))
		} else {
			out = append(out, b)
		}
	}
	return out
}

// mark classifies the punctuation that ends a sentence.
type mark uint8

const (
	noMark mark = iota
	fullStop
	exclamation
	question
	semicolon
	colon
	comma
)

// marks lists the punctuation of scripts that do not use the Latin marks.
var marks = [...]string{
	fullStop: ".。．｡।॥።။۔…", exclamation: "!！", question: "?？؟፧", semicolon: ";；؛", colon: ":：", comma: ",，、،",
}

// markOf is a text's last mark, before quotes and brackets that close.
func markOf(text string) mark {
	for text := []rune(text); len(text) > 0; text = text[:len(text)-1] {
		last := text[len(text)-1]
		for m, of := range marks {
			if strings.ContainsRune(of, last) {
				return mark(m)
			}
		}
		if !unicode.In(last, unicode.Pi, unicode.Pf, unicode.Pe, unicode.Space) && last != '"' && last != '\'' {
			return noMark
		}
	}
	return noMark
}

// final reports whether a mark ends sentences.
func (m mark) final() bool { return m >= fullStop && m <= question }

// endings are the marks that the sentences of two documents end with.
type endings [2][]mark

// minFinal is the part of either document's sentences that end with a final mark, at least, if marks are to count.
// Languages such as Thai have none, and some text lost them.
const minFinal = 0.5

// newEndings reads the marks of two documents; nil if they do not count.
func newEndings(source, target []string) *endings {
	e := &endings{}
	for side, sentences := range [2][]string{source, target} {
		final := 0
		for _, text := range sentences {
			m := markOf(text)
			if m.final() {
				final++
			}
			e[side] = append(e[side], m)
		}
		if float64(final) < minFinal*float64(len(sentences)) {
			return nil
		}
	}
	return e
}

// compare reports as 1 or 0 whether spans that end with sentence i of the source and j of the target end with the same
// mark, and whether both end with a final one; 0 where marks do not count.
func (e *endings) compare(i, j int) (same, final float32) {
	if e == nil {
		return 0, 0
	}
	a, b := e[0][i], e[1][j]
	if a == b {
		same = 1
	}
	if a.final() && b.final() {
		final = 1
	}
	return same, final
}
