package bead

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
