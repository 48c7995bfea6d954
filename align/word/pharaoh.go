package word

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"bitextmine/internal/badinput"
)

// Link joins source word Source and target word Target, which count from 0.
type Link struct {
	Source, Target int
	Score          float32 // 0 to 1; 1 if the file has no scores
	Possible       bool    // a link of a gold standard that is not sure
}

// CompareLinks orders links by source word, then by target word.
func CompareLinks(a, b Link) int {
	return cmp.Or(cmp.Compare(a.Source, b.Source), cmp.Compare(a.Target, b.Target))
}

// maxWord is the maximum number of a word. It is far more than any sentence has.
const maxWord = 1<<20 - 1

// ParseLinks appends the links of a line to links, in the format of the decoder Pharaoh: one line per sentence
// pair, with links i-j of source word i and target word j separated by spaces. A pair without links has an empty
// line. A score may follow a link, i-j:0.93. In gold standards, i-j is a sure link and ipj (or i?j) a possible
// one. base is the number of the first word: 0, or 1 in some gold standards.
func ParseLinks(links []Link, line string, base int) ([]Link, error) {
	for field := range strings.FieldsSeq(line) {
		link, err := parseLink(field, base)
		if err != nil {
			return links, err
		}
		links = append(links, link)
	}
	return links, nil
}

func parseLink(field string, base int) (link Link, err error) {
	at := strings.IndexAny(field, "-p?")
	if at < 0 {
		return link, fmt.Errorf("%q is not a link such as 0-1", field)
	}
	target, score, scored := strings.Cut(field[at+1:], ":")
	link = Link{Score: 1, Possible: field[at] != '-'}
	if link.Source, err = parseWord(field[:at], base); err != nil {
		return link, fmt.Errorf("%q: %w", field, err)
	}
	if link.Target, err = parseWord(target, base); err != nil {
		return link, fmt.Errorf("%q: %w", field, err)
	}
	if scored {
		value, err := strconv.ParseFloat(score, 32)
		if err != nil || math.IsNaN(value) || value < 0 || value > 1 {
			return link, fmt.Errorf("%q: the score %q is not a number from 0 to 1", field, score)
		}
		link.Score = float32(value)
	}
	return link, nil
}

func parseWord(text string, base int) (int, error) {
	n, err := strconv.ParseUint(text, 10, 32)
	if err != nil || n > maxWord {
		return 0, fmt.Errorf("%q is not the number of a word", text)
	}
	if int(n) < base {
		return 0, fmt.Errorf("word %d does not exist where words count from %d", n, base)
	}
	return int(n) - base, nil
}

// CheckLinks returns an error if a link is outside a pair of n source and m target words. The error counts words from
// base, as the links' file does.
func CheckLinks(links []Link, n, m, base int) error {
	for _, l := range links {
		if l.Source >= n || l.Target >= m {
			return fmt.Errorf("the link %d-%d is outside its sentences, which have %d and %d words", l.Source+base,
				l.Target+base, n, m)
		}
	}
	return nil
}

// LinkReader reads lines of links.
type LinkReader struct {
	name  string
	base  int
	lines *bufio.Scanner
	line  int
}

// maxLine is the maximum length of a line in bytes.
const maxLine = 1 << 20

// NewLinkReader reads in; name is for messages.
func NewLinkReader(in io.Reader, name string, base int) *LinkReader {
	r := &LinkReader{name: name, base: base, lines: bufio.NewScanner(in)}
	r.lines.Buffer(make([]byte, 0, 4096), maxLine)
	return r
}

// Next returns the links of the next line, or io.EOF after the last.
func (r *LinkReader) Next() ([]Link, error) {
	if !r.lines.Scan() {
		if err := r.lines.Err(); err != nil {
			return nil, badinput.Errorf("%s:%d: %w", r.name, r.line+1, err)
		}
		return nil, io.EOF
	}
	r.line++
	links, err := ParseLinks(nil, r.lines.Text(), r.base)
	if err != nil {
		return nil, badinput.Errorf("%s:%d: %w: correct the line", r.name, r.line, err)
	}
	return links, nil
}

// Line is the number of the line that Next returned last, from 1.
func (r *LinkReader) Line() int { return r.line }

// AppendLinks appends a line of links, with their scores if scored is set, and a line feed.
func AppendLinks(line []byte, links []Link, scored bool) []byte {
	for i, l := range links {
		if i > 0 {
			line = append(line, ' ')
		}
		line = strconv.AppendInt(line, int64(l.Source), 10)
		line = append(line, '-')
		line = strconv.AppendInt(line, int64(l.Target), 10)
		if scored {
			line = append(line, ':')
			line = strconv.AppendFloat(line, float64(l.Score), 'g', 4, 32)
		}
	}
	return append(line, '\n')
}

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
	if name == string(IterMax) {
		return "", badinput.Errorf("--symmetry %s is of the vectors of an encoder: name one with --encoder", name)
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
	places []int32   // [n, m]: places in found, until links sorts it
	found  []Link    // links of either direction, ascending after links
	joined [2][]bool // words that have a chosen link
}

// reset makes a grid that of a pair without links.
func (g *grid) reset(n, m int) {
	g.n, g.m, g.found = n, m, g.found[:0]
	g.cells, g.places = zeros(g.cells, n*m), zeros(g.places, n*m)
	g.joined = [2][]bool{zeros(g.joined[0], n), zeros(g.joined[1], m)}
}

func zeros[T any](s []T, n int) []T {
	s = grown(s, n)
	clear(s)
	return s
}

// add adds a link of a direction.
func (g *grid) add(i, j int, from uint8, posterior float32) {
	at := i*g.m + j
	if g.cells[at] == 0 {
		g.places[at] = int32(len(g.found))
		g.found = append(g.found, Link{Source: i, Target: j})
	}
	g.cells[at] |= from
	g.found[g.places[at]].Score += posterior / 2
}

// links returns the combination, ascending.
func (g *grid) links(how Symmetry) []Link {
	slices.SortFunc(g.found, CompareLinks)
	for _, l := range g.found {
		cell := g.cells[l.Source*g.m+l.Target]
		wanted := cell == inForward|inBackward
		switch how {
		case Forward:
			wanted = cell&inForward != 0
		case Backward:
			wanted = cell&inBackward != 0
		case Union:
			wanted = true
		}
		if wanted {
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
