package cut

import (
	"fmt"
	"strings"

	"bitextmine/corpus"
	"bitextmine/internal/badinput"
	"bitextmine/pipeline/plan"
	"bitextmine/pipeline/record"
)

// maxNamed is how many files a warning names.
const maxNamed = 3

const (
	// maxAside is the share of a side's bytes that files set aside may have.
	maxAside = 1.0 / 3
	// maxAsideFiles is the share of a side's files, from manyFiles files on: a stray file among few is no alarm.
	maxAsideFiles, manyFiles = 0.5, 4
	// maxShrink is the share of the sentences of the run before that must still be there.
	maxShrink = 0.5
)

// asideOf says which of a language's files were set aside, and refuses too many; empty if there are none.
func asideOf(whole *plan.Language, aside []record.SetAside) (what string, err error) {
	if len(aside) == 0 {
		return "", nil
	}
	var bytes, all int64
	for _, in := range whole.Inputs {
		all += in.Bytes
	}
	var named []string
	for i, one := range aside {
		bytes += one.Bytes
		if i < maxNamed {
			named = append(named, one.Why)
		}
	}
	if more := len(aside) - maxNamed; more > 0 {
		named = append(named, fmt.Sprintf("and %d more, listed in %s", more, record.ReportName))
	}
	what = fmt.Sprintf("%d of %d files of %s are set aside: %s",
		len(aside), len(whole.Inputs), whole.Code, strings.Join(named, "; "))
	many := len(whole.Inputs) >= manyFiles && float64(len(aside)) > maxAsideFiles*float64(len(whole.Inputs))
	if len(aside) == len(whole.Inputs) || many || float64(bytes) > maxAside*float64(all) {
		return "", badinput.Errorf("%s; that is too much of the input: repair or remove the files", what)
	}
	return what, nil
}

// emptyOf says how many files of a language have no text; empty if there are none.
func emptyOf(whole *plan.Language, inputs []record.InputReport) string {
	n, first := 0, ""
	for _, in := range inputs {
		if in.Language == whole.Code && in.Counts.Lines == in.Counts.Skipped[corpus.ReasonEmpty] {
			if n++; n == 1 {
				first = in.Path
			}
		}
	}
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %d files of %s have no text: %s is the first", n, len(whole.Inputs), whole.Code, first)
}

// refuseShrunk refuses inputs that have lost half of a language's sentences since the run before.
func refuseShrunk(code string, earlier, inputs []record.InputReport) error {
	sentences := func(inputs []record.InputReport) (n uint64) {
		for _, in := range inputs {
			if in.Language == code {
				n += in.Counts.Kept + in.Counts.Duplicates
			}
		}
		return n
	}
	before, now := sentences(earlier), sentences(inputs)
	if float64(now) < maxShrink*float64(before) {
		return badinput.Errorf("the text of %s has shrunk from %d to %d sentences since the run before: look whether its "+
			"files are all there; if that is meant, run once with --on-bad-file fail", code, before, now)
	}
	return nil
}
