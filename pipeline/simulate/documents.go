package simulate

import (
	"strings"

	"bitextmine/align/match"
	"bitextmine/corpus"
	"bitextmine/corpus/split"
	"bitextmine/internal/badinput"
	"bitextmine/pipeline/plan"
	"bitextmine/pipeline/record"
	"bitextmine/pipeline/setting"
	"bitextmine/pipeline/stage"
	"bitextmine/pipeline/stage/pairdocs"
)

// comparisonUnit is the unit of work in pairing documents.
const comparisonUnit = "comparisons"

// checkDocuments refuses to align documents of unknown length.
func checkDocuments(c *Cluster, s plan.Settings) error {
	if s.Documents != setting.DocumentsOn {
		return nil
	}
	for _, pair := range c.Pairs {
		for code := range strings.SplitSeq(pair, "-") {
			if c.Languages[code].Document == 0 {
				return badinput.Errorf("documents = on aligns documents, but the cluster's file does not say how long those of %s are: give languages.%s.document, the sentences of one", code, code)
			}
		}
	}
	return nil
}

// optionsOf says how the text of a corpus is cut; nil: as the settings say.
func (c Corpus) optionsOf(code string, s plan.Settings) *corpus.Options {
	if c.Document == 0 {
		return nil
	}
	o := s.Corpus
	o.Split, o.Documents = corpus.SplitBy(code, split.ShippedDigest()), s.Documents == setting.DocumentsOn
	return &o
}

// comparisons is about how many products of vectors it takes to pair documents: of all mean vectors by each side, and
// of the sentences of each document and its candidates, which the other side mostly names, too.
func comparisons(documents, sentences [2]float64) float64 {
	of := 2 * documents[0] * documents[1]
	candidates := float64(match.DefaultOptions().Candidates)
	pairs := candidates * max(documents[0], documents[1])
	return of + pairs*(sentences[0]/documents[0])*(sentences[1]/documents[1])
}

// compare gives the tasks that pair documents their comparisons as items: their time does not grow with sentences
// alone.
func compare(c *Cluster, p *plan.Plan) error {
	for w := range p.Waves {
		if p.Waves[w].Stage != pairdocs.Stage.Name {
			continue
		}
		p.Waves[w].Unit = comparisonUnit
		for i := range p.Waves[w].Tasks {
			t := &p.Waves[w].Tasks[i]
			a, err := stage.Args[struct {
				Pair int `json:"pair"`
			}](t)
			if err != nil {
				return err
			}
			var documents, sentences [2]float64
			for side := range sentences {
				of := c.Languages[p.Side(a.Pair, side).Code]
				documents[side], sentences[side] = of.Sentences/of.Document, of.Sentences
			}
			t.Items = int64(comparisons(documents, sentences))
		}
	}
	return nil
}

// compared is how many comparisons a run took to pair documents; 0: it paired none.
func compared(r *record.Report) float64 {
	d := r.Counts.Documents
	if d == nil || d.Source == 0 || d.Target == 0 {
		return 0
	}
	return comparisons([2]float64{float64(d.Source), float64(d.Target)}, [2]float64{float64(r.Counts.SourceIn), float64(r.Counts.TargetIn)})
}
