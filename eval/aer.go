package eval

import (
	"bitextmine/align/word"
)

// LinkCounts counts the links of aligned pairs. A is the set of links of an alignment, S the sure links of a gold
// standard, and P the union of S and its possible links:
//
//	precision = |A∩P| / |A|,  recall = |A∩S| / |S|,  AER = 1 - (|A∩S| + |A∩P|) / (|A| + |S|)
type LinkCounts struct {
	Pairs    int // sentence pairs
	Unlinked int // pairs without a link in the alignment
	NoGold   int // pairs without a link in the gold standard
	Links    int // |A|
	Sure     int // |S|
	InSure   int // |A∩S|
	InGold   int // |A∩P|
}

// Add counts the links of a pair. A link that is repeated counts once; one that is sure and possible is sure.
func (c *LinkCounts) Add(links, gold []word.Link) {
	type place struct{ source, target int }
	sure := make(map[place]bool, len(gold))
	for _, l := range gold {
		at := place{l.Source, l.Target}
		sure[at] = sure[at] || !l.Possible
	}
	for _, s := range sure {
		if s {
			c.Sure++
		}
	}
	seen := make(map[place]bool, len(links))
	for _, l := range links {
		at := place{l.Source, l.Target}
		if seen[at] {
			continue
		}
		seen[at] = true
		c.Links++
		if isSure, inGold := sure[at]; inGold {
			c.InGold++
			if isSure {
				c.InSure++
			}
		}
	}
	c.Pairs++
	if len(links) == 0 {
		c.Unlinked++
	}
	if len(gold) == 0 {
		c.NoGold++
	}
}

// AER is the alignment error rate in percent.
func (c LinkCounts) AER() float64 { return 100 - percent(c.InSure+c.InGold, c.Links+c.Sure) }

// Precision is the percentage of the alignment's links that are sure or possible.
func (c LinkCounts) Precision() float64 { return percent(c.InGold, c.Links) }

// Recall is the percentage of the sure links that the alignment has.
func (c LinkCounts) Recall() float64 { return percent(c.InSure, c.Sure) }

// percent is 100 of nothing: an alignment without links has no wrong one.
func percent(part, whole int) float64 {
	if whole == 0 {
		return 100
	}
	return 100 * float64(part) / float64(whole)
}
