package simulate

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"bitextmine/align/match"
	"bitextmine/corpus"
	"bitextmine/corpus/split"
	"bitextmine/internal/badinput"
	"bitextmine/pipeline/plan"
	"bitextmine/pipeline/record"
	"bitextmine/pipeline/setting"
	"bitextmine/pipeline/stage"
	"bitextmine/pipeline/stage/pairdocs"
	"bitextmine/pipeline/view"
)

// maxCells bounds the cells of a simulated run: the plan of a real one is held in memory just so.
const maxCells = 2_000_000

// plans are the plans of a run over the cluster's corpora, its input files and the rest, and what the run before it
// left done. Shards are as large as the settings say; a language has one input file for each.
func plans(c *Cluster, base stage.Request) (_ []*plan.Plan, done func(*plan.Task) bool, err error) {
	if err := checkCells(c, base.Settings.Corpus.ShardSize); err != nil {
		return nil, nil, err
	}
	if err := checkDocuments(c, base.Settings); err != nil {
		return nil, nil, err
	}
	before := base
	known := map[string]bool{}
	if before.Languages, before.Pairs = corpora(c, base.Settings, true); len(before.Languages) > 0 {
		built, err := both(before)
		if err != nil {
			return nil, nil, err
		}
		for _, p := range built {
			for _, w := range p.Waves {
				for i := range w.Tasks {
					known[w.Tasks[i].Stage+w.Tasks[i].Key] = true
				}
			}
		}
		var left []*plan.Ledger
		for pair := range built[1].Pairs {
			left = append(left, plan.NewLedger(built[1], pair))
		}
		base.Earlier = map[string]any{view.Merge: left}
	}
	base.Languages, base.Pairs = corpora(c, base.Settings, false)
	now, err := both(base)
	if err == nil {
		err = compare(c, now[1])
	}
	return now, func(t *plan.Task) bool { return known[t.Stage+t.Key] }, err
}

func both(r stage.Request) ([]*plan.Plan, error) {
	inputs, err := stage.Inputs(r)
	if err != nil {
		return nil, err
	}
	rest, err := stage.Build(r)
	return []*plan.Plan{inputs, rest}, err
}

// corpora makes the languages and pairs of a plan; old: without what was added since the last run, and none if that is
// everything.
func corpora(c *Cluster, s plan.Settings, old bool) ([]plan.Language, []plan.Pair) {
	codes := slices.Sorted(maps.Keys(c.Languages))
	languages := make([]plan.Language, len(codes))
	for i, code := range codes {
		corpus := c.Languages[code]
		if old && corpus.Added == 0 {
			return nil, nil
		}
		l := &languages[i]
		l.Code = code
		addText(l, corpus, corpus.Sentences-corpus.Added, "old", s)
		if !old {
			addText(l, corpus, corpus.Added, "new", s)
		}
		if len(l.Shards) == 0 {
			return nil, nil
		}
	}
	pairs := make([]plan.Pair, len(c.Pairs))
	for i, pair := range c.Pairs {
		source, target := c.sides(pair)
		pairs[i] = plan.Pair{Source: slices.Index(codes, source), Target: slices.Index(codes, target)}
	}
	return languages, pairs
}

// packed is the size of a sentence in a shard beside that of its text: it is compressed, and its key is not.
const packed = 0.45

// addText adds files of text to a language, each of one shard.
func addText(l *plan.Language, c Corpus, sentences float64, name string, s plan.Settings) {
	for i := 0; sentences >= 1; i++ {
		rows := min(sentences, float64(s.Corpus.ShardSize))
		sentences -= rows
		path := fmt.Sprintf("%s/%s-%06d", l.Code, name, i)
		digest := plan.Digest(path)
		l.Inputs = append(l.Inputs, plan.Input{Path: path, Bytes: int64(rows * c.Bytes), SHA256: digest, Corpus: c.optionsOf(l.Code, s)})
		l.Shards = append(l.Shards, plan.Shard{Name: path + "#0", SHA256: digest, Rows: int(rows), Bytes: int64(rows * (c.Bytes*packed + stage.KeyBytes))})
	}
}

// checkCells refuses a cluster whose plan would be too large, for a real run as well.
func checkCells(c *Cluster, shardSize int) error {
	cells := 0.0
	for _, pair := range c.Pairs {
		source, target := c.sides(pair)
		cells += shards(c.Languages[source], shardSize) * shards(c.Languages[target], shardSize)
	}
	if cells > maxCells {
		return badinput.Errorf("with shard_size = %d the pairs have %.3g cells, more than %d; raise --shard-size", shardSize, cells, maxCells)
	}
	return nil
}

// shards is how many shards a corpus has: what was added since the last run has its own.
func shards(c Corpus, size int) float64 {
	return math.Ceil((c.Sentences-c.Added)/float64(size)) + math.Ceil(c.Added/float64(size))
}

// comparisonUnit is the unit of work in comparing documents.
const comparisonUnit = "comparisons"

// checkDocuments refuses to align documents of unknown length.
func checkDocuments(c *Cluster, s plan.Settings) error {
	if s.Documents != setting.DocumentsOn {
		return nil
	}
	for _, pair := range c.Pairs {
		source, target := c.sides(pair)
		for _, code := range []string{source, target} {
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

// comparisons is about how many products of vectors a stage that pairs documents takes: of all mean vectors, or of the
// sentences of each document and its candidates, which the other side mostly names, too. ok is false for other stages.
func comparisons(stage string, documents, sentences [2]float64) (n float64, ok bool) {
	switch stage {
	case pairdocs.Nearest.Name:
		return match.Comparisons(documents[0], documents[1]), true
	case pairdocs.Compare.Name:
		pairs := float64(match.DefaultOptions().Candidates) * max(documents[0], documents[1])
		return pairs * (sentences[0] / documents[0]) * (sentences[1] / documents[1]), true
	}
	return 0, false
}

// compare gives the tasks that compare documents their comparisons as items: their time does not grow with sentences
// alone.
func compare(c *Cluster, p *plan.Plan) error {
	for w := range p.Waves {
		name := p.Waves[w].Stage
		if _, ok := comparisons(name, [2]float64{}, [2]float64{}); !ok {
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
			n, _ := comparisons(name, documents, sentences)
			if name == pairdocs.Compare.Name {
				n *= float64(t.Items) / sentences[0] // the task's part of the source
			}
			t.Items = int64(n)
		}
	}
	return nil
}

// compared is how many comparisons a run's stage made; 0: it paired no documents. ok is false for stages whose items
// are in the run's report.
func compared(stage string, r *record.Report) (n float64, ok bool) {
	d := r.Counts.Documents
	if d == nil || d.Source == 0 || d.Target == 0 {
		_, ok = comparisons(stage, [2]float64{}, [2]float64{})
		return 0, ok
	}
	return comparisons(stage, [2]float64{float64(d.Source), float64(d.Target)}, [2]float64{float64(r.Counts.SourceIn), float64(r.Counts.TargetIn)})
}
