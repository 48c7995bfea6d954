package pairdocs

import (
	"bufio"
	"context"
	"errors"
	"os"
	"path/filepath"

	"bitextmine/align/match"
	"bitextmine/internal/atomicfile"
	"bitextmine/internal/spill"
	"bitextmine/pipeline/plan"
	"bitextmine/pipeline/progress"
	"bitextmine/pipeline/stage"
	"bitextmine/pipeline/store"
	"bitextmine/pipeline/view"
)

// Compare is the descriptor of the stage that compares the documents of a source shard with their candidates, which
// takes most of the time of pairing. Each night may find other candidates, so all keys change, but what changes is few:
// a task takes over the cosines that earlier outputs of its shard have of equal documents. They save time and change no
// byte.
var Compare = &stage.Descriptor{
	Name: view.DocCompare, Version: 1, Unit: "sentences", After: []string{view.DocNearest}, Wide: true, OnDemand: true,
}

func init() { // not in the declaration, as the functions refer to it
	Compare.Ledger, Compare.Check, Compare.Uses, Compare.Run = ledger, stage.CheckPairShard, stage.UseBases(view.DocCompare), compare
	stage.Register(Compare)
}

// compareArgs is a source shard of a pair.
type compareArgs struct {
	Pair  int      `json:"pair"`
	Shard int      `json:"shard"`
	Bases []string `json:"bases,omitempty"` // earlier outputs of the shard, newest first
}

// compareSpec lists all that the cosines depend on.
type compareSpec struct {
	Candidates string // key
	Shard      int    // place among those of the source
}

// wantCompared asks for the cosines of a pair's candidates and sets their keys.
func wantCompared(b *stage.Builder, pair int) {
	wantNearest(b, pair)
	before := stage.Before[plan.Earlier](b, Compare, pair)
	of := &b.Pairs[pair]
	of.Compared = nil
	for i, s := range b.Side(pair, 0).Shards {
		key := Compare.Key(compareSpec{of.DocumentCandidates, i})
		of.Compared = append(of.Compared, key)
		b.Add(Compare, key, int64(s.Rows), compareCost(b, pair, int64(s.Rows)), compareArgs{pair, i, before.Others(0, s.SHA256, key)})
	}
}

// compareCost is, in memory, the vectors and the cosines of some source documents, and the vectors of a target document
// for each thread. On disk it is the cosines.
func compareCost(b *stage.Builder, pair int, own int64) stage.Cost {
	candidates := candidatesOf(b, pair, own)
	return stage.Cost{
		Fixed:  192<<20 + 3*blockBytes,
		Memory: own / meanLength * 64,
		Disk:   candidates * candidateBytes,
		Read:   (own + int64(b.Side(pair, 1).Rows())) * (2*int64(b.Settings.Dim) + rowSize),
	}
}

// candidateBytes is the size of a candidate's cosines.
const candidateBytes = digestSize + 8 + 2*meanLength*4

// candidatesOf is about how many candidates the documents of so many source sentences have: all that either side names,
// which are not many of the same.
func candidatesOf(b *stage.Builder, pair int, sentences int64) int64 {
	rows := [2]int64{int64(b.Side(pair, 0).Rows()), int64(b.Side(pair, 1).Rows())}
	k := int64(match.DefaultOptions().Candidates)
	return sentences / meanLength * k * (rows[0] + rows[1]) / max(rows[0], 1)
}

// ledger names the newest cosines of every source shard. Two outputs are kept: one night may find other candidates and
// the next the same as before.
var ledger = &stage.ShardLedger{
	Wanted: func(s *plan.Settings) bool { return s.Documents != "" && s.DocPairs == "" }, Name: noteName, Kept: 2,
	Outputs: func(p *plan.Plan, pair int) [2][]string { return [2][]string{p.Pairs[pair].Compared} },
	Damage:  "the ledger of compared documents is damaged; they are compared again",
}

// noteName names the runs that share cosines: what these depend on is in the digests of documents.
func noteName(p *plan.Plan, pair int) string {
	return plan.Key("compared", Compare.Version, []any{p.Settings.Encoder, p.Side(pair, 0).Code, p.Side(pair, 1).Code}) + ".json"
}

// compareInfo is a task's record of its candidates.
type compareInfo struct {
	Candidates int `json:"candidates"`
	Compared   int `json:"compared"` // candidates that this task compared; the others were taken over
}

// compare writes the best cosines of the candidates of a source shard's documents.
func compare(ctx context.Context, e *stage.Env, t *plan.Task, dir string, meter progress.Meter) (_ any, err error) {
	a, err := stage.Args[compareArgs](t)
	if err != nil {
		return nil, err
	}
	all, err := openCandidates(ctx, e.Files, a.Pair)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, all.close()) }()
	room := &spill.Arena{Space: spill.In(dir)}
	defer func() { err = errors.Join(err, room.Close()) }()
	from, to := all.of(a.Shard)
	w := &comparison{pairs: all.pairs[from:to], threads: e.EncoderOptions().Threads, info: compareInfo{Candidates: to - from}}
	for side := range w.sides {
		w.sides[side] = newReader(e.Files, e.Plan.Side(a.Pair, side), all.places[side])
	}
	defer func() { err = errors.Join(err, w.close()) }()
	if err := w.open(ctx, room); err != nil {
		return nil, err
	}
	err = stage.TakeOver(ctx, e, Compare, a.Bases, "its documents are compared again", func(out *store.Output) error {
		before, err := openCosines(out.Path(cosinesFile))
		if err == nil {
			w.before = append(w.before, before)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	err = atomicfile.Write(filepath.Join(dir, cosinesFile), func(f *os.File) error {
		out := bufio.NewWriterSize(f, 1<<20)
		if err := w.out.write(out); err != nil {
			return err
		}
		shown := int64(0)
		for next := 0; next < len(w.pairs); {
			if next, err = w.block(ctx, next, out); err != nil {
				return err
			}
			done := t.Items * int64(next) / int64(len(w.pairs))
			meter.Add(done - shown)
			shown = done
		}
		meter.Add(t.Items - shown)
		return out.Flush()
	})
	return w.info, err
}
