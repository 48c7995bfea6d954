package pipeline

import (
	"context"
	"fmt"
	"strings"

	"bitextmine/internal/badinput"
	"bitextmine/pipeline/config"
	"bitextmine/pipeline/plan"
	"bitextmine/pipeline/record"
	"bitextmine/pipeline/stage/shard"
	"bitextmine/pipeline/store"
)

const (
	// maxAside is the share of a side's bytes that files set aside may have.
	maxAside = 1.0 / 3
	// maxAsideFiles is the share of a side's files, from manyFiles files on: a stray file among few is no alarm.
	maxAsideFiles, manyFiles = 0.5, 4
	// maxShrink is the share of the sentences of the run before that must still be there.
	maxShrink = 0.5
)

// cut reads what was cut from the inputs into shards, and takes the files that cannot be used out of the languages.
func (r *run) cut(ctx context.Context, p *plan.Plan, languages []plan.Language) error {
	doubts := make([][]doubted, len(languages))
	for l := range languages {
		language := &languages[l]
		whole := *language
		language.Inputs = nil
		before := len(r.report.SetAside)
		for _, in := range whole.Inputs {
			info, err := shard.Result(ctx, r.store, in, p.Settings)
			if err != nil {
				return err
			}
			if info.Bad != "" {
				r.report.SetAside = append(r.report.SetAside, record.SetAside{Language: language.Code, Path: in.Path, SHA256: in.SHA256, Bytes: in.Bytes, Why: info.Bad})
				continue
			}
			language.Inputs = append(language.Inputs, in)
			language.Shards = append(language.Shards, shard.Shards(in, p.Settings, info.Shards)...)
			r.report.Inputs = append(r.report.Inputs, record.InputReport{Language: language.Code, Path: in.Path, SHA256: in.SHA256, Counts: info.Counts})
			if d := info.Languages.Doubt(language.Code); d != nil {
				doubts[l] = append(doubts[l], doubted{in.Path, *d})
			}
		}
		if err := r.checkAside(&whole, r.report.SetAside[before:]); err != nil {
			return err
		}
	}
	r.warnOfLanguages(languages, doubts)
	return nil
}

// retryAside removes what earlier runs recorded of files that they set aside, where this one must not set any aside. It
// reports whether there was any.
func (r *run) retryAside(ctx context.Context, p *plan.Plan, languages []plan.Language) (found bool, err error) {
	if p.SetAside {
		return false, nil
	}
	for _, language := range languages {
		for _, in := range language.Inputs {
			info, err := shard.Result(ctx, r.store, in, p.Settings)
			if err != nil {
				return found, err
			}
			if info.Bad != "" {
				found = true
				if err := r.store.Remove(ctx, store.Task{Stage: shard.Stage.Name, Key: shard.Key(in, p.Settings)}); err != nil {
					return found, err
				}
			}
		}
	}
	return found, nil
}

// checkAside warns of a language's files that were set aside, and stops the run if they are too many or if the language
// has lost half of its text since the run before.
func (r *run) checkAside(whole *plan.Language, aside []record.SetAside) error {
	var bytes, all int64
	for _, in := range whole.Inputs {
		all += in.Bytes
	}
	var named []string
	for i, one := range aside {
		bytes += one.Bytes
		if i < namedFiles {
			named = append(named, one.Why)
		}
	}
	if more := len(aside) - namedFiles; more > 0 {
		named = append(named, fmt.Sprintf("and %d more, listed in %s", more, record.ReportName))
	}
	what := fmt.Sprintf("%d of %d files of %s are set aside: %s", len(aside), len(whole.Inputs), whole.Code, strings.Join(named, "; "))
	many := len(whole.Inputs) >= manyFiles && float64(len(aside)) > maxAsideFiles*float64(len(whole.Inputs))
	if len(aside) == len(whole.Inputs) || many || float64(bytes) > maxAside*float64(all) {
		if len(aside) > 0 {
			return badinput.Errorf("%s; that is too much of the input: repair or remove the files", what)
		}
	}
	if len(aside) > 0 {
		r.warn("%s", what)
	}
	return r.checkShrink(whole.Code)
}

// checkShrink compares the sentences of a language with those of the run before, where files may be set aside.
func (r *run) checkShrink(code string) error {
	if r.previous == nil || r.cfg.OnBadFile != config.SkipBadFile {
		return nil
	}
	sentences := func(inputs []record.InputReport) (n uint64) {
		for _, in := range inputs {
			if in.Language == code {
				n += in.Counts.Kept + in.Counts.Duplicates
			}
		}
		return n
	}
	before, now := sentences(r.previous.Inputs), sentences(r.report.Inputs)
	if float64(now) < maxShrink*float64(before) {
		return badinput.Errorf("the text of %s has shrunk from %d to %d sentences since the run before: look whether its files are all there; if that is meant, run once with --on-bad-file fail",
			code, before, now)
	}
	return nil
}
