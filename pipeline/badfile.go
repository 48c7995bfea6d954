package pipeline

import (
	"context"
	"fmt"

	"bitextmine/corpus"
	"bitextmine/internal/badinput"

	"bitextmine/pipeline/config"
	"bitextmine/pipeline/plan"
	"bitextmine/pipeline/record"
	"bitextmine/pipeline/stage/encode"
	"bitextmine/pipeline/stage/shard"
	"bitextmine/pipeline/store"
)

// cut reads what was cut from the inputs into shards, and takes the files that cannot be used out of the languages.
func (r *run) cut(ctx context.Context, p *plan.Plan, languages []plan.Language) error {
	doubts := make([][]checkDoubted, len(languages))
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
			bad := info.Bad
			if err := encode.ExternalFit(&in, info.Result); err != nil && bad == "" {
				if !p.SetAside {
					return err
				}
				bad = err.Error()
			}
			if bad != "" {
				r.report.SetAside = append(r.report.SetAside, record.SetAside{Language: language.Code, Path: in.Path, SHA256: in.SHA256, Bytes: in.Bytes, Why: bad})
				continue
			}
			language.Inputs = append(language.Inputs, in)
			language.Shards = append(language.Shards, shard.Shards(in, p.Settings, info.Shards)...)
			r.report.Inputs = append(r.report.Inputs, inputReport(language.Code, in, info.Counts))
			if d := info.Languages.Doubt(language.Code); d != nil {
				doubts[l] = append(doubts[l], checkDoubted{Path: in.Path, Doubt: *d})
			}
		}
		what, err := checkAside(&whole, r.report.SetAside[before:])
		if err != nil {
			return err
		}
		if what != "" {
			r.warn("%s", what)
		}
		if r.previous != nil && r.cfg.OnBadFile == config.SkipBadFile {
			if err := checkShrunk(language.Code, r.previous.Inputs, r.report.Inputs); err != nil {
				return err
			}
		}
	}
	warnings, swapped := checkForeign(languages, doubts)
	if swapped && !r.cfg.Swapped {
		return badinput.Errorf("the sides are swapped: the text that is said to be %s is mostly %s, and the other way round; swap --src and --tgt or the files, or give --swapped to go on",
			languages[0].Code, languages[1].Code)
	}
	for _, what := range warnings {
		r.warn("%s", what)
	}
	return nil
}

// inputReport is what run.json says of an input.
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

// warn logs a warning and adds it to the report.
func (r *run) warn(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	r.report.Warnings = append(r.report.Warnings, text)
	r.Log.Warn(text)
}
