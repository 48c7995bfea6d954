package report

import (
	"bufio"
	"fmt"
	"os"
	"slices"
	"strings"

	"bitextmine/internal/atomicfile"
	"bitextmine/internal/badinput"
)

// Pair is a pair of sentences that a protocol extracted, or that it should have.
type Pair struct {
	Set            string // languages
	Kind           string
	Score          float64 // score of an extracted pair
	Source, Target string
}

// The kinds of pairs.
const (
	Correct = "correct" // extracted, and in the gold
	Wrong   = "wrong"   // extracted, and not in the gold
	Missed  = "missed"  // gold pair that was not extracted
)

// WritePairs writes the pairs of reports as TSV: of each set the extracted ones, best first, and then the missed ones.
func WritePairs(path string, reports []*Report) error {
	if !slices.ContainsFunc(reports, func(r *Report) bool { return len(r.Pairs) > 0 }) {
		return badinput.Errorf(
			"%s: none of the protocols extracts pairs with a threshold: evaluate one that does, such as bucc-laser",
			path)
	}
	return atomicfile.Write(path, func(f *os.File) error {
		w := bufio.NewWriter(f)
		fmt.Fprintln(w, "protocol\tpair\tkind\tscore\tsrc_text\ttgt_text")
		for _, r := range reports {
			for _, p := range r.Pairs {
				score := ""
				if p.Kind != Missed {
					score = fmt.Sprint(p.Score)
				}
				fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", r.Protocol, p.Set, p.Kind, score, oneLine(p.Source),
					oneLine(p.Target))
			}
		}
		return w.Flush()
	})
}

// oneLine is a text as a field of TSV.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
