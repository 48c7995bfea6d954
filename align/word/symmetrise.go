package word

import (
	"slices"
	"strings"

	"bitextmine/internal/badinput"
)

// Symmetry is how the alignments of both directions are combined (Koehn, Och and Marcu, 2003).
type Symmetry string

// The ways of fast_align's atools.
const (
	Forward          Symmetry = "forward"             // each target word's source word
	Backward         Symmetry = "backward"            // each source word's target word
	Intersect        Symmetry = "intersect"           // links of both
	Union            Symmetry = "union"               // links of either
	GrowDiag         Symmetry = "grow-diag"           // intersect, and what of union touches it and joins a word
	GrowDiagFinalAnd Symmetry = "grow-diag-final-and" // and then what joins two unaligned words

	// IterMax is of an encoder's cosines alone, as Jalili Sabet et al. (2020) in SimAlign: words that choose each other,
	// and then those that do where cosines beside a link count 0.9 and those between linked words nothing.
	IterMax Symmetry = "itermax"
)

// Symmetries are all ways that need no encoder.
var Symmetries = []Symmetry{Forward, Backward, Intersect, Union, GrowDiag, GrowDiagFinalAnd}

// ParseSymmetry finds a way by its name, with an encoder or without.
func ParseSymmetry(name string, encoder bool) (Symmetry, error) {
	names := make([]string, 0, len(Symmetries)+1)
	for _, s := range Symmetries {
		names = append(names, string(s))
	}
	if encoder {
		names = append(names, string(IterMax))
	}
	if slices.Contains(names, name) {
		return Symmetry(name), nil
	}
	return "", badinput.Errorf("symmetrisation %q is not known; choose one of %s", name, strings.Join(names, ", "))
}

// Which directions have a link, and whether it is in the combination.
const (
	inForward uint8 = 1 << iota
	inBackward
	chosen
)

// grid is the links of one pair.
type grid struct {
	n, m   int
	cells  []uint8   // [n, m]
	found  []Link    // links of either direction, ascending after links
	joined [2][]bool // words that have a chosen link
}

func newGrid(n, m int) *grid {
	return &grid{n: n, m: m, cells: make([]uint8, n*m), joined: [2][]bool{make([]bool, n), make([]bool, m)}}
}

// add adds a link of a direction.
func (g *grid) add(i, j int, from uint8, posterior float32) {
	if g.cells[i*g.m+j] == 0 {
		g.found = append(g.found, Link{Source: i, Target: j})
	}
	g.cells[i*g.m+j] |= from
	for k := range g.found {
		if g.found[k].Source == i && g.found[k].Target == j {
			g.found[k].Score += posterior / 2
		}
	}
}

// links returns the combination, ascending.
func (g *grid) links(how Symmetry) []Link {
	slices.SortFunc(g.found, CompareLinks)
	wanted := map[Symmetry]func(cell uint8) bool{
		Forward:  func(c uint8) bool { return c&inForward != 0 },
		Backward: func(c uint8) bool { return c&inBackward != 0 },
		Union:    func(uint8) bool { return true },
	}[how]
	if wanted == nil {
		wanted = func(c uint8) bool { return c == inForward|inBackward }
	}
	for _, l := range g.found {
		if wanted(g.cells[l.Source*g.m+l.Target]) {
			g.choose(l)
		}
	}
	if how == GrowDiag || how == GrowDiagFinalAnd {
		g.grow()
	}
	if how == GrowDiagFinalAnd {
		g.final(inForward)
		g.final(inBackward)
	}
	out := make([]Link, 0, len(g.found))
	for _, l := range g.found {
		if g.is(l, chosen) {
			out = append(out, l)
		}
	}
	return out
}

func (g *grid) choose(l Link) {
	g.cells[l.Source*g.m+l.Target] |= chosen
	g.joined[0][l.Source], g.joined[1][l.Target] = true, true
}

func (g *grid) is(l Link, what uint8) bool { return g.cells[l.Source*g.m+l.Target]&what != 0 }

// grow chooses links that touch a chosen one, also at a corner, and join a word that has none, until there is no other.
func (g *grid) grow() {
	for again := true; again; {
		again = false
		for _, l := range g.found {
			if !g.is(l, chosen) && (!g.joined[0][l.Source] || !g.joined[1][l.Target]) && g.touches(l) {
				g.choose(l)
				again = true
			}
		}
	}
}

func (g *grid) touches(l Link) bool {
	for i := max(0, l.Source-1); i <= min(g.n-1, l.Source+1); i++ {
		for j := max(0, l.Target-1); j <= min(g.m-1, l.Target+1); j++ {
			if g.cells[i*g.m+j]&chosen != 0 {
				return true
			}
		}
	}
	return false
}

// final chooses links of a direction that join two words without any.
func (g *grid) final(from uint8) {
	for _, l := range g.found {
		if g.is(l, from) && !g.joined[0][l.Source] && !g.joined[1][l.Target] {
			g.choose(l)
		}
	}
}

// iterate returns the links of IterMax.
func (g *grid) iterate(cosines []float32) (links []Link) {
	const beside, rounds = 0.9, 2
	alike := make([]float32, len(cosines))
	for range rounds {
		for at, c := range cosines {
			alike[at] = (1 + c) / 2
			switch i, j := at/g.m, at%g.m; {
			case g.joined[0][i] && g.joined[1][j]:
				alike[at] = 0
			case g.joined[0][i] || g.joined[1][j]:
				alike[at] *= beside
			}
		}
		for _, l := range mutualBest(alike, shape{g.n, g.m}) {
			at := l.Source*g.m + l.Target
			if l.Score = max(0, cosines[at]); alike[at] > 0 {
				links = append(links, l)
			}
		}
		for _, l := range links {
			g.choose(l)
		}
	}
	slices.SortFunc(links, CompareLinks)
	return links
}
