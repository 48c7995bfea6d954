package bead

// band is the places of a dynamic programme that are looked at. Place (i, j) is between sentences: i of the source
// and j of the target are behind it. Row i has the places (i, first[i]) to (i, first[i] + its width - 1).
type band struct {
	first []int // [n+1]
	begin []int // [n+2] where a row's places begin among all
	m     int
}

// newBand makes the band of rows lo to hi, both included, of a target of m sentences.
func newBand(lo, hi []int, m int) *band {
	b := &band{first: lo, begin: make([]int, len(lo)+1), m: m}
	for i := range lo {
		b.begin[i+1] = b.begin[i] + hi[i] - lo[i] + 1
	}
	return b
}

// full is the band of all places.
func full(n, m int) *band {
	lo, hi := make([]int, n+1), make([]int, n+1)
	for i := range hi {
		hi[i] = m
	}
	return newBand(lo, hi, m)
}

// around is the band of all places at most width from a path. The path begins at (0, 0) and ends at (n, m).
func around(path []place, width, n, m int) *band {
	lo, hi := make([]int, n+1), make([]int, n+1)
	for i := range lo {
		lo[i], hi[i] = m, 0
	}
	widen := func(i, j int) {
		for r := max(i-width, 0); r <= min(i+width, n); r++ {
			lo[r], hi[r] = min(lo[r], max(j-width, 0)), max(hi[r], min(j+width, m))
		}
	}
	for k, p := range path {
		widen(p.i, p.j)
		if k == 0 {
			continue
		}
		// A step that is longer than 1 is a straight line.
		q := path[k-1]
		steps := max(p.i-q.i, p.j-q.j)
		for s := 1; s < steps; s++ {
			widen(q.i+(p.i-q.i)*s/steps, q.j+(p.j-q.j)*s/steps)
		}
	}
	return newBand(lo, hi, m)
}

// rows is the number of rows.
func (b *band) rows() int { return len(b.first) }

// last is the last place of row i.
func (b *band) last(i int) int { return b.first[i] + b.begin[i+1] - b.begin[i] - 1 }

// places is the number of places.
func (b *band) places() int { return b.begin[len(b.begin)-1] }

// at returns the index of a place, or -1 if it is not in the band.
func (b *band) at(i, j int) int {
	if i < 0 || i >= len(b.first) || j < b.first[i] {
		return -1
	}
	if k := b.begin[i] + j - b.first[i]; k < b.begin[i+1] {
		return k
	}
	return -1
}

// place is a place in a dynamic programme.
type place struct{ i, j int }
