// Package cut reads the shards that the first tasks of a run cut from its input files. It sets aside the files that
// cannot be used, and refuses text that cannot be mined before anything is computed on it.
package cut

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"slices"

	"bitextmine/corpus"
	"bitextmine/index/backend"
	"bitextmine/internal/badinput"
	"bitextmine/pipeline/plan"
	"bitextmine/pipeline/record"
	"bitextmine/pipeline/stage/encode"
	"bitextmine/pipeline/stage/shard"
	"bitextmine/pipeline/store"
	"bitextmine/pipeline/view"
)

// Text is the text of a run, cut into shards.
type Text struct {
	Languages []plan.Language // their inputs without the files set aside
	Inputs    []record.InputReport
	SetAside  []record.SetAside
	Swapped   bool // each side is mostly in the other's language

	defects []string // warnings about text that is not UTF-8 or has columns, and about damaged archives
}

// Read reads the outputs of an executed plan of input files. previous are the inputs of the run before if a file may be
// set aside; a language that has lost half of its sentences since is then refused. encodings
// are the flags that name the encoding of each side.
func Read(
	ctx context.Context, files *view.Files, previous []record.InputReport, encodings [2]string, warn func(format string, args ...any),
) (*Text, error) {
	t := &Text{}
	doubts := make([][]doubted, len(files.Plan.Languages))
	for l := range files.Plan.Languages {
		whole := &files.Plan.Languages[l]
		before := len(t.SetAside)
		var err error
		if doubts[l], err = t.add(ctx, files, whole, encodings[l%2]); err != nil {
			return nil, err
		}
		for i, what := range t.defects {
			if i == maxNamed {
				warn("%d more files have such lines or parts", len(t.defects)-i)
				break
			}
			warn("%s", what)
		}
		t.defects = nil
		if what := emptyOf(whole, t.Inputs); what != "" {
			warn("%s", what)
		}
		if len(t.Languages[l].Shards) == 0 && len(t.SetAside) == before {
			return nil, t.nothingLeft(whole)
		}
		what, err := asideOf(whole, t.SetAside[before:])
		if err != nil {
			return nil, &record.AsideError{Files: len(t.SetAside), Err: err}
		}
		if what != "" {
			warn("%s", what)
		}
		if err := refuseShrunk(whole.Code, previous, t.Inputs); err != nil {
			return nil, err
		}
	}
	if what := t.nothingExcluded(); what != "" {
		warn("%s", what)
	}
	warnings, swapped := foreign(t.Languages, doubts)
	t.Swapped = swapped
	for _, what := range warnings {
		warn("%s", what)
	}
	digested := view.NewFiles(files.Store, &plan.Plan{Languages: t.Languages}, files.Work)
	return t, encode.DigestGiven(ctx, digested)
}

// add adds a language without the files that cannot be used, and returns the files whose text is not in the language.
func (t *Text) add(ctx context.Context, files *view.Files, whole *plan.Language, flag string) (doubts []doubted, err error) {
	p := files.Plan
	language := plan.Language{Code: whole.Code}
	records, err := shard.Results(ctx, files.Store, whole.Inputs, p.Settings)
	if err != nil {
		return nil, err
	}
	for i, in := range whole.Inputs {
		info := &records[i]
		if in.Group != "" && len(info.Shards) > 0 { // also those of the files after it
			language.Shards = append(language.Shards, shard.Shards(whole.Inputs[i:], p.Settings, info.Shards)...)
		}
		bad := info.Bad
		if err := encode.FitGiven(&in, info.Result); err != nil && bad == "" {
			if !p.SetAside {
				return nil, err
			}
			bad = err.Error()
		}
		if bad != "" {
			aside := record.SetAside{Language: language.Code, Path: in.Path, SHA256: in.SHA256, Bytes: in.Bytes, Why: bad}
			t.SetAside = append(t.SetAside, aside)
			continue
		}
		language.Inputs = append(language.Inputs, in)
		if in.Group == "" {
			language.Shards = append(language.Shards, shard.Shards(whole.Inputs[i:i+1], p.Settings, info.Shards)...)
		}
		t.Inputs = append(t.Inputs, inputReport(language.Code, in, info.Counts))
		for _, what := range []string{
			shard.OtherCharset(in.Source(), info.Counts, flag, in.Options(p.Settings).Encoding, whole.Code), damagedParts(&in, info.Counts), info.Counts.TabsWarning(in.Path),
		} {
			if what != "" {
				t.defects = append(t.defects, what)
			}
		}
		if d := info.Languages.Doubt(language.Code); d != nil {
			doubts = append(doubts, doubted{Path: in.Path, Doubt: *d})
		}
	}
	t.Languages = append(t.Languages, language)
	return doubts, nil
}

// nothingLeft is the error of a language without a sentence.
func (t *Text) nothingLeft(whole *plan.Language) error {
	excluded := func(in record.InputReport) bool {
		return in.Language == whole.Code && in.Counts.Skipped[corpus.ReasonExcluded] > 0
	}
	if from := whole.Inputs[0].Exclude; from != nil && slices.ContainsFunc(t.Inputs, excluded) {
		return badinput.Errorf("every sentence of the %s text stands in %s, which --exclude leaves out: run without it, or give more text",
			whole.Code, from.Path)
	}
	if lines := foreignLines(whole.Code, t.Inputs); lines > 0 {
		return badinput.Errorf("the %s text is empty: all %d lines of its documents are said to be in another language (seg_langs), and %s is the first file; "+
			"name that language, or give other text", whole.Code, lines, whole.Inputs[0].Path)
	}
	return badinput.Errorf("the %s text is empty: no file of it holds a line, and %s is the first; give text", whole.Code, whole.Inputs[0].Path)
}

// nothingExcluded says that the text has no sentence of the translations that are to be left out; empty: it has one, or
// there are none to leave out.
func (t *Text) nothingExcluded() string {
	var from *plan.Exclude
	for _, language := range t.Languages {
		for _, in := range language.Inputs {
			from = cmp.Or(from, in.Exclude)
		}
	}
	if from == nil || slices.ContainsFunc(t.Inputs, func(in record.InputReport) bool { return in.Counts.Skipped[corpus.ReasonExcluded] > 0 }) {
		return ""
	}
	return fmt.Sprintf("the text has no sentence of %s, so --exclude leaves nothing out: check that it is in %s and %s, and in which columns its texts are", from.Path,
		from.Source, from.Target)
}

// damagedParts says which parts of an archive are left out; empty: none are.
func damagedParts(in *plan.Input, counts corpus.Counts) string {
	n := counts.Skipped[corpus.ReasonDamaged]
	if n == 0 {
		return ""
	}
	first := ""
	for _, skip := range counts.Examples {
		if skip.Reason == corpus.ReasonDamaged {
			first = fmt.Sprintf("; record %d is the first: %s", skip.Line, skip.Detail)
			break
		}
	}
	return fmt.Sprintf("%d parts of %s are damaged and left out%s", n, in.Path, first)
}

// inputReport returns the entry of an input in run.json.
func inputReport(language string, in plan.Input, counts corpus.Counts) record.InputReport {
	report := record.InputReport{Language: language, Path: in.Path, SHA256: in.SHA256, Counts: counts, Seen: in.Seen}
	if in.Corpus != nil {
		report.Split = in.Corpus.SplitLanguage()
	}
	if v := in.Vectors; v != nil {
		report.Vectors, report.VectorsSHA256 = v.Path, v.SHA256
	}
	return report
}

// RemoveAside removes the records of files that earlier runs set aside from a store, for a plan that sets none aside.
// It reports whether there were any: their tasks are then to be done again.
func RemoveAside(ctx context.Context, st *store.Store, p *plan.Plan) (found bool, err error) {
	if p.SetAside {
		return false, nil
	}
	for _, language := range p.Languages {
		records, err := shard.Results(ctx, st, language.Inputs, p.Settings)
		if err != nil {
			return found, err
		}
		removed := "" // key
		for i, in := range language.Inputs {
			if records[i].Bad == "" || shard.Key(in, p.Settings) == removed {
				continue
			}
			found, removed = true, shard.Key(in, p.Settings)
			if err := st.Remove(ctx, store.Task{Stage: shard.Stage.Name, Key: shard.Key(in, p.Settings)}); err != nil {
				return found, err
			}
		}
	}
	return found, nil
}

// Split logs which files' records are divided into sentences, and returns a warning for each language with plain text
// whose lines look like documents.
func Split(log *slog.Logger, languages []plan.Language) (warnings []string) {
	for _, l := range languages {
		var divided, long []plan.Input
		for _, in := range l.Inputs {
			switch {
			case in.Corpus != nil && in.Corpus.Split != "":
				divided = append(divided, in)
			case in.Seen != nil:
				long = append(long, in)
			}
		}
		if len(divided) > 0 {
			log.Info(fmt.Sprintf("the records of %d of %d %s files are divided into sentences%s; --split off leaves them as they are",
				len(divided), len(l.Inputs), l.Code, measured(divided[0])))
		}
		if len(long) > 0 {
			warnings = append(warnings, fmt.Sprintf("the lines of %d of %d %s files look like documents%s, and each is taken for "+
				"a sentence: --split on divides them", len(long), len(l.Inputs), l.Code, measured(long[0])))
		}
	}
	return warnings
}

// measured describes the first records of an input; empty if they were not looked at.
func measured(in plan.Input) string {
	if in.Seen == nil {
		return ""
	}
	return fmt.Sprintf(" (%s: %v)", in.Path, *in.Seen)
}

// Neighbours refuses a language that has fewer sentences than the lists have places. A shard may: its lists are
// merged with others'.
func Neighbours(ctx context.Context, files *view.Files, k int, languages []plan.Language) error {
	for _, language := range languages {
		if slices.ContainsFunc(language.Shards, func(s plan.Shard) bool { return s.Rows >= k }) {
			continue
		}
		keys := map[corpus.Key]bool{} // a sentence may stand in several shards
		for i := 0; i < len(language.Shards) && len(keys) < k; i++ {
			found, err := files.Keys(ctx, &language.Shards[i])
			if err != nil {
				return err
			}
			for _, key := range found {
				keys[key] = true
			}
		}
		if len(keys) < k {
			return badinput.Errorf("the %s text has %d different sentences and k = %d neighbours of each are asked for; give more text, or lower --k",
				language.Code, len(keys), k)
		}
	}
	return nil
}

// Index refuses an index with more lists than any shard has rows: no cell would be searched by it.
func Index(search string, languages []plan.Language) error {
	minRows := backend.MinRows(search)
	for _, language := range languages {
		maxRows := 0
		for _, s := range language.Shards {
			maxRows = max(maxRows, s.Rows)
		}
		if maxRows < minRows {
			return badinput.Errorf("search %s has %d lists but no shard of the %s text more than %d sentences to train them on; use fewer lists, or exact",
				search, minRows, language.Code, maxRows)
		}
	}
	return nil
}
