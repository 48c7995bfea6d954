package bead

// Crossing is a passage that stands elsewhere in the other document: sentences that no bead could have without breaking
// the order, each of which is the best counterpart of one in the other span.
type Crossing struct {
	Source, Target Span
	Score          float32 // the mean of the sentences' scores
}

// minCrossing is the least score of a sentence that was moved: half of the way from random sentences to equal ones.
const minCrossing = 0.5

// farthest is the number of deleted sentences of the other document, before and after, that one is compared with.
const farthest = 500

// crossings looks for counterparts of deleted sentences among deleted ones.
func (a *aligner) crossings(beads []Bead) []Crossing {
	var sources, targets, near []int // near: the number of deleted target sentences before a deleted source sentence
	for _, b := range beads {
		switch {
		case b.Target.Count == 0:
			sources, near = append(sources, b.Source.First), append(near, len(targets))
		case b.Source.Count == 0:
			targets = append(targets, b.Target.First)
		}
	}
	best := make([]partner, len(sources))
	back := make([]partner, len(targets))
	for k, i := range sources {
		for q := max(near[k]-farthest, 0); q < min(near[k]+farthest, len(targets)); q++ {
			s := a.source.score(a.target.level, i, targets[q])
			best[k].offer(q, s)
			back[q].offer(k, s)
		}
	}
	var out []Crossing
	for k, p := range best {
		if p.score < minCrossing || back[p.at].at != k {
			continue
		}
		out = extend(out, sources[k], targets[p.at], p.score)
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
