package simulate

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"bitextmine/internal/badinput"
	"bitextmine/pipeline/plan"
	"bitextmine/pipeline/stage"
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
		source, target, _ := strings.Cut(pair, "-")
		pairs[i] = plan.Pair{Source: slices.Index(codes, source), Target: slices.Index(codes, target)}
	}
	return languages, pairs
}

// addText adds files of text to a language, each of one shard.
func addText(l *plan.Language, c Corpus, sentences float64, name string, s plan.Settings) {
	for i := 0; sentences >= 1; i++ {
		rows := min(sentences, float64(s.Corpus.ShardSize))
		sentences -= rows
		path := fmt.Sprintf("%s/%s-%06d", l.Code, name, i)
		digest := plan.Digest(path)
		l.Inputs = append(l.Inputs, plan.Input{Path: path, Bytes: int64(rows * c.Bytes), SHA256: digest, Corpus: c.optionsOf(l.Code, s)})
		l.Shards = append(l.Shards, plan.Shard{Name: path + "#0", SHA256: digest, Rows: int(rows)})
	}
}

// checkCells refuses a cluster whose plan would be too large, for a real run as well.
func checkCells(c *Cluster, shardSize int) error {
	cells := 0.0
	for _, pair := range c.Pairs {
		source, target, _ := strings.Cut(pair, "-")
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
