package report

import (
	"bufio"
	"fmt"
	"os"
	"slices"

	"bitextmine/internal/atomicfile"
	"bitextmine/internal/badinput"
)

// WriteCurves writes the precision-recall curves of reports as TSV: one line per extracted pair, best first.
func WriteCurves(path string, reports []*Report) error {
	if !slices.ContainsFunc(reports, func(r *Report) bool { return len(r.Curves) > 0 }) {
		return badinput.Errorf(
			"%s: none of the protocols has a precision-recall curve: evaluate one with a threshold, such as bucc-laser", path)
	}
	return atomicfile.Write(path, func(f *os.File) error {
		w := bufio.NewWriter(f)
		fmt.Fprintln(w, "protocol\tpair\tscore\textracted\tcorrect\tprecision\trecall\tf1")
		for _, r := range reports {
			for _, c := range r.Curves {
				for _, p := range c.Points {
					fmt.Fprintf(w, "%s\t%s\t%v\t%d\t%d\t%.4f\t%.4f\t%.4f\n", r.Protocol, c.Name, p.Score, p.Extracted,
						p.Correct, p.Precision(), p.Recall(), p.F1())
				}
			}
		}
		return w.Flush()
	})
}
