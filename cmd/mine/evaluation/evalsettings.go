package evaluation

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"bitextmine/cmd/mine/program"
	"bitextmine/corpus"
	"bitextmine/encode/embedding"
	"bitextmine/eval"
	"bitextmine/eval/report"
	"bitextmine/index"
	"bitextmine/index/backend"
)

// measuredSearch is a search that notes the lowest recall that it measured.
type measuredSearch struct {
	index.Searcher
	measured bool
	recall   float64
}

// Search searches as index.Searcher does.
func (m *measuredSearch) Search(ctx context.Context, source, target index.Side, k int,
	progress func(fraction float64)) (index.Result, error) {
	found, err := m.Searcher.Search(ctx, source, target, k, progress)
	if r := found.Recall; err == nil && r.SourceRows+r.TargetRows > 0 {
		if !m.measured || r.Min() < m.recall {
			m.measured, m.recall = true, r.Min()
		}
	}
	return found, err
}

// describe gives reports the settings that they were made with. Where the search is approximate or a value is not the
// default, a note says so.
func (o *evalOptions) describe(reports []*report.Report, protocols []*eval.Protocol) error {
	unlisted := o.unlisted()
	for i, r := range reports {
		made := &madeWith{}
		made.add("program", program.Version, program.Version)
		o.describeEncoder(made)
		if err := o.describeSet(made, protocols[i], protocols[0].Dataset); err != nil {
			return err
		}
		made.add("dtype", o.dtype, string(embedding.Float32))
		if protocols[i].Data() == eval.BUCCSets || protocols[i].Data() == eval.AlignedSets {
			o.describeSearch(made, r)
		}
		o.describeDecision(made, protocols[i])
		if len(made.other) > 0 {
			r.Note("not the default: %s", strings.Join(made.other, ", "))
		}
		if len(unlisted) > 0 {
			r.Note("the manifest of the encoder does not list: %s", strings.Join(unlisted, ", "))
		}
		r.Settings = made.settings
	}
	return nil
}

// unlisted are the languages of the sets that the encoder's manifest does not list.
func (o *evalOptions) unlisted() []string {
	if o.embedder == nil {
		return nil
	}
	return slices.DeleteFunc(o.embedder.Asked(), func(language string) bool { return corpus.Lists(o.model.Languages, language) })
}

// madeWith is the settings of a report, and those that are not the default.
type madeWith struct {
	settings []report.Setting
	other    []string
}

// add adds a setting with its default.
func (m *madeWith) add(name string, value, usual any) {
	m.settings = append(m.settings, report.Setting{Name: name, Value: value})
	if value != usual {
		m.other = append(m.other, fmt.Sprintf("%s %v", name, value))
	}
}

// state adds a setting that has no default.
func (m *madeWith) state(name string, value any) { m.add(name, value, value) }

func (o *evalOptions) describeEncoder(made *madeWith) {
	if o.model != nil {
		made.state("encoder", o.model.Name)
		made.state("digest", o.model.Digest)
	}
	if o.sourceEmb != "" {
		made.state("src_emb", o.sourceEmb)
		made.state("tgt_emb", o.targetEmb)
	}
}

// describeSet adds what is evaluated. dataset is the set that is taken where no directory is named.
func (o *evalOptions) describeSet(made *madeWith, p *eval.Protocol, dataset string) error {
	if o.sourceText != "" && p.Data() == eval.AlignedSets {
		made.state("src_text", o.sourceText)
		made.state("tgt_text", o.targetText)
	} else {
		dir, err := o.directory(dataset)
		if err != nil {
			return err
		}
		made.state("directory", dir)
		if o.parts && p.Data() == eval.AlignedSets {
			made.add("split", o.split, defaultSplit)
		}
	}
	if p.Data() == eval.STSSets || p == eval.Pairs {
		return nil
	}
	target, err := corpus.ParseLanguage(o.target)
	made.add("target", target, defaultTarget)
	return err
}

func (o *evalOptions) describeSearch(made *madeWith, r *report.Report) {
	name := o.searcher.Name()
	made.state("search", name)
	if backend.Exact(name) {
		return
	}
	for _, of := range []struct {
		name  string
		value int
	}{{"nprobe", o.cfg.NProbe}, {"ef_search", o.cfg.EfSearch}} {
		if of.value != 0 {
			made.add(of.name, of.value, 0)
		}
	}
	if !o.searcher.measured {
		r.Note("%s searched all exactly, as the sets are too small for an approximate search", name)
		return
	}
	made.state("recall", o.searcher.recall)
	r.Note("the search is approximate (%s); its recall, measured on a sample, is %.4f", name, o.searcher.recall)
}

// describeDecision adds what decides between candidates where that is not the margin alone.
func (o *evalOptions) describeDecision(made *madeWith, p *eval.Protocol) {
	if p.Scorer {
		made.add("scorer", o.scorer, defaultScorer)
	}
	if o.strong != nil && (p.Strong || p.Scorer) {
		made.state("refine", o.strong.Name)
		made.state("refine_digest", o.strong.Digest)
	}
	if p == eval.XSimPlusPlus {
		made.state("negatives", o.negatives) // a note says where they are from
	}
	if o.byText && p.ByText {
		made.state("eval_text", true)
	}
}
