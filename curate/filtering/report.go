package filtering

import (
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"text/tabwriter"

	"bitextmine/bitext/exchange"
	"bitextmine/filter/rule"
)

// Report counts what filtering rejected and kept.
type Report struct {
	Pairs  uint64 // all rows
	Before uint64 // rows that were rejected before filtering
	// Lacking are rows left out, as a text is null, and units without a translation.
	Lacking uint64
	Kept    uint64
	Fixed   uint64 // pairs of which a text was repaired
	Reused  bool   // the file had its annotations
	Bad     uint64 // lines left out, as they cannot be read
	Unnamed int    // columns of a file that names none, the first two of which were taken for the texts
	// Identified are the pairs of which the languages of both sides were identified, Swapped those whose sides are each in
	// the language of the other.
	Identified, Swapped uint64
	Others              bool // the file had annotations of other columns or languages, which were computed again
	Rules               []RuleReport

	at      map[string]int
	samples int
	rng     *rand.Rand
}

// RuleReport counts the pairs that one rule rejects and that were not rejected before filtering.
type RuleReport struct {
	Name, Condition string
	Rejected        uint64
	Alone           uint64            // that no other rule rejects
	With            map[string]uint64 // that another rule rejects too
	Samples         []Sample
}

// Sample is a pair that a rule rejects. Samples are drawn at random, with a fixed seed.
type Sample struct {
	Row            uint64 // rows count from 1
	Source, Target string
}

func newReport(rules *rule.Set, samples int) *Report {
	r := &Report{at: map[string]int{}, samples: samples, rng: rand.New(rand.NewPCG(20, 26))}
	for i, each := range rules.Rules {
		r.at[prefix+each.Name] = i
		r.Rules = append(r.Rules, RuleReport{Name: each.Name, Condition: each.Condition, With: map[string]uint64{}})
	}
	return r
}

// add counts a row. Row counts from 0.
func (r *Report) add(row uint64, reasons []string, texts func() (source, target string)) {
	r.Pairs++
	if len(reasons) == 0 {
		r.Kept++
		return
	}
	if !strings.HasPrefix(reasons[0], prefix) {
		r.Before++
		return
	}
	for _, reason := range reasons {
		of := &r.Rules[r.at[reason]]
		of.Rejected++
		if len(reasons) == 1 {
			of.Alone++
		}
		for _, other := range reasons {
			if other != reason {
				of.With[strings.TrimPrefix(other, prefix)]++
			}
		}
		r.sample(of, row, texts)
	}
}

// sample draws a reservoir.
func (r *Report) sample(of *RuleReport, row uint64, texts func() (source, target string)) {
	at := len(of.Samples)
	if at == r.samples {
		if at = int(min(of.Rejected, r.rng.Uint64N(of.Rejected))); at >= r.samples {
			return
		}
	} else {
		of.Samples = append(of.Samples, Sample{})
	}
	source, target := texts()
	of.Samples[at] = Sample{row + 1, strings.Clone(source), strings.Clone(target)}
}

// Summary writes the counts.
func (r *Report) Summary(w io.Writer) {
	fmt.Fprintf(w, "%d of %d pairs kept (%s)", r.Kept, r.Pairs, percent(r.Kept, r.Pairs))
	if r.Before > 0 {
		fmt.Fprintf(w, "; %d were rejected before", r.Before)
	}
	TellLeftOut(w, r.Lacking, r.Bad)
	fmt.Fprintln(w)
	if r.Others {
		fmt.Fprintln(w, "the file's annotations are of other texts or languages: they were computed again")
	}
}

// TellLeftOut writes how many rows have no text on one side, and how many lines cannot be read.
func TellLeftOut(w io.Writer, lacking, bad uint64) {
	if lacking > 0 {
		fmt.Fprintf(w, "; %d without a text on one side are left out", lacking)
	}
	if bad > 0 {
		fmt.Fprintf(w, "; %d lines that cannot be read are left out", bad)
	}
}

// Warnings name what may have been read otherwise than was meant.
func (r *Report) Warnings() (warnings []string) {
	if r.Unnamed > 0 {
		warnings = append(warnings, exchange.UnnamedWarning(r.Unnamed))
	}
	if 2*r.Swapped > r.Identified {
		warnings = append(warnings, fmt.Sprintf("of %d pairs whose languages were identified %d have each side in the language of the other: exchange --src and --tgt, or the columns",
			r.Identified, r.Swapped))
	}
	if r.Kept == 0 && r.Pairs > r.Before {
		warnings = append(warnings, "no pair is kept: see with --stats which rules reject them, and which columns are the texts (--src-column, --tgt-column)")
	}
	return warnings
}

// Table writes what each rule rejects, and samples, whose rows count from 0 as those of mine explain.
func (r *Report) Table(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "rule\trejected\t\talone\tmost often with\tcondition")
	for _, of := range r.Rules {
		fmt.Fprintf(t, "%s\t%d\t%s\t%d\t%s\t%s\n", of.Name, of.Rejected, percent(of.Rejected, r.Pairs-r.Before), of.Alone, of.companion(), of.Condition)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for _, of := range r.Rules {
		for i, s := range of.Samples {
			if i == 0 {
				fmt.Fprintf(w, "\n%s: %s\n", of.Name, of.Condition)
			}
			fmt.Fprintf(w, "  row %d\n    %s\n    %s\n", s.Row-1, oneLine(s.Source), oneLine(s.Target))
		}
	}
	return nil
}

// companion is the rule that most often rejects the same pairs.
func (of *RuleReport) companion() string {
	best, most := "-", uint64(0)
	for name, n := range of.With {
		if n > most || n == most && name < best {
			best, most = name, n
		}
	}
	if most == 0 {
		return best
	}
	return fmt.Sprintf("%s (%d)", best, most)
}

// maxSample is how many characters of a sentence are shown.
const maxSample = 200

func oneLine(text string) string {
	runes := []rune(strings.Join(strings.Fields(text), " "))
	if len(runes) > maxSample {
		return string(runes[:maxSample]) + "…"
	}
	return string(runes)
}

func percent(part, whole uint64) string {
	return fmt.Sprintf("%.1f%%", 100*float64(part)/float64(max(1, whole)))
}
