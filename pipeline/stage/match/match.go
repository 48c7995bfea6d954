// Package match has the stages that choose the bitext of a pair of languages: Describe and Features, whose tasks divide
// by shard what a scorer needs to know of candidates, and Stage, which scores them, matches them one-to-one and writes
// the bitext.
package match

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"bitextmine/bitext"
	"bitextmine/internal/atomicfile"
	"bitextmine/internal/spill"
	"bitextmine/internal/usage"
	"bitextmine/pipeline/decide"
	"bitextmine/pipeline/plan"
	"bitextmine/pipeline/progress"
	"bitextmine/pipeline/record"
	"bitextmine/pipeline/stage"
	"bitextmine/pipeline/stage/shard"
	"bitextmine/pipeline/stage/shortlist"
	"bitextmine/pipeline/store"
	"bitextmine/pipeline/view"
	"bitextmine/score/feature"
)

// Stage is the descriptor.
var Stage = &stage.Descriptor{
	Name: view.Match, Version: 17, Unit: "sentences", After: []string{view.Merge, view.Features, view.Refine, view.Align, view.Judge},
	Wide: true,
}

func init() { // not in the declaration, as the functions refer to it
	Stage.Plan, Stage.Check, Stage.Run, Stage.Rate = planPairs, stage.CheckPair, run, rate
	stage.Register(Stage)
}

// args is a pair.
type args struct {
	Pair int `json:"pair"`
}

// spec lists all that the bitext depends on. Names of shards are in it, as the bitext gives them.
type spec struct {
	Version  string // the bitext names the program's
	Settings plan.Settings
	Sides    [2]specSide

	Documents string   `json:",omitempty"` // key of the pairs of documents, which are aligned
	Aligned   []string `json:",omitempty"` // keys of their beads
	decide.Way
}

type specSide struct {
	Language string
	Inputs   [][2]string // path, digest: the run's id
	Shards   [][3]string // name, digest, key of the merge
}

// planPairs plans the bitext of every pair. The stages that match reads have planned their tasks before.
func planPairs(b *stage.Builder) error {
	scorer, err := b.DecodedScorer()
	if err != nil {
		return err
	}
	for pair := range b.Pairs {
		// Strong vectors follow from the settings and the merges.
		s := spec{Version: b.Version, Settings: b.PairSettings(pair), Documents: b.Pairs[pair].DocumentPairs, Aligned: b.Pairs[pair].Aligned}
		s.Way = decide.WayOf(scorer, b.Plan, pair, b.Listed)
		rows := [2]int{}
		for side, merges := range b.Pairs[pair].Merges {
			language := b.Side(pair, side)
			rows[side] = language.Rows()
			s.Sides[side] = specOf(language, merges)
		}
		b.Pairs[pair].Bitext = Stage.Key(s)
		b.Add(Stage, b.Pairs[pair].Bitext, int64(rows[0]+rows[1]), cost(b, pair), args{pair})
	}
	return nil
}

func specOf(language *plan.Language, merges []string) specSide {
	s := specSide{Language: language.Code}
	for _, in := range language.Inputs {
		s.Inputs = append(s.Inputs, in.Named()...)
	}
	for i, shard := range language.Shards {
		s.Shards = append(s.Shards, [3]string{shard.Name, shard.SHA256, merges[i]})
	}
	return s
}

// mapped is the bytes of what is known of a sentence and of its candidates in files that are mapped.
const mapped = 120

// cost is, in memory, a measured upper bound: the fixed overhead, plus a few bytes per sentence; where the margin finds
// the candidates, also the candidates and the places and means of sentences. On disk it is the bitext and its copy. The
// number of pairs is not known: half of the smaller side's sentences is assumed, which is between a corpus where all
// are translated and one where hardly any is. Temporary files hold what does not stay in memory.
func cost(b *stage.Builder, pair int) stage.Cost {
	s, sides := b.Settings, [2]*plan.Language{b.Side(pair, 0), b.Side(pair, 1)}
	rows := [2]int64{int64(sides[0].Rows()), int64(sides[1].Rows())}
	n, list, candidates := rows[0]+rows[1], 8*int64(s.K), rows[0]*candidatesEach/100
	var text int64
	for _, side := range sides {
		for i := range side.Shards {
			text += stage.SizeOf(&side.Shards[i])
		}
	}
	pairs := min(rows[0], rows[1]) / 2
	if s.KeepBelow {
		pairs = candidates
	}
	c := stage.Cost{
		Fixed:    256 << 20,
		Expected: 16<<20 + min(text*8, 75<<20) + n*5,
		Disk:     2 * pairs * (pairSize + text/max(n, 1)*2),
		Read:     n*stage.KeyBytes + text,
	}
	if s.Scorer != "" {
		c.Memory += n * 6
		c.Read += candidates * candidateBytes
	}
	if !s.Scored() {
		c.Memory += n * 100
		c.Expected += n * 60
		c.Read += n * list
	}
	for _, n := range rows {
		c.Scratch += spilledOf(n, list)
		c.Memory += heldOf(n) * 5 / 4
		c.Expected += heldOf(n)
	}
	if s.Documents != "" {
		c.Memory += n * 400 // documents' sentences and beads
		c.Expected += n * 400
	}
	return c
}

// pairSize is the size of a pair in a bitext without its texts, in bytes.
const pairSize = 50

// Result is a task's record of its bitext.
type Result struct {
	RunID   string          `json:"run_id"`
	Counts  record.Counts   `json:"counts"`
	Rows    int             `json:"rows"`
	Samples []record.Sample `json:"samples"`
	// Rejected are the pairs that rules rejected, by the first reason of each.
	Rejected []record.Rejected `json:"rejected,omitempty"`
	// Threshold is the one that was used; Cut says how it came about.
	Threshold float64           `json:"threshold"`
	Cut       *record.CutReport `json:"cut,omitempty"`
	view.Recall
}

// ReadResult reads the record of an output of the stage.
func ReadResult(out *store.Output) (*Result, error) {
	r := &Result{}
	if err := json.Unmarshal(out.Info, r); err != nil || len(out.Files) != 1 {
		return nil, fmt.Errorf("the record of the bitext in %s is not one of this version; run again", out.Dir)
	}
	return r, nil
}

// manySentences is the number from which what is read of the sentences, which stays until all candidates are scored, is
// most of the heap. With fewer the garbage collector would run too often while it is read.
const manySentences = 100_000

// run scores the candidates of both sides' neighbours, matches them and writes the bitext.
func run(ctx context.Context, e *stage.Env, t *plan.Task, dir string, meter progress.Meter) (_ any, err error) {
	a, err := stage.Args[args](t)
	if err != nil {
		return nil, err
	}
	pair, err := e.Pair(a.Pair)
	if err = errors.Join(err, openedOf(e).close()); err != nil {
		return nil, err
	}
	usage.TrimHeap() // features leave much behind
	if pair.Sentences[0].Len()+pair.Sentences[1].Len() > manySentences {
		defer usage.SteadyHeap()()
	}
	pair.Space = spill.In(dir)
	defer func() { err = errors.Join(err, pair.Close()) }()
	decision, err := decide.Pair(ctx, pair, e.Model, e.EncoderOptions())
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, decision.Close()) }()
	meter.Add(t.Items)

	r := &Result{Recall: decision.Recall, Threshold: decision.Threshold, Cut: decision.Cut}
	if r.Counts, err = counts(ctx, pair); err != nil {
		return nil, err
	}
	c := &r.Counts
	c.SourceUnique, c.TargetUnique = pair.Sentences[0].Len(), pair.Sentences[1].Len()
	c.Judged = len(decision.Judged)
	c.Candidates, c.Kept = len(decision.Candidates), decision.Kept
	if info, ok := shortlist.ReadInfo(ctx, e.Store, e.Plan, a.Pair); ok && e.Plan.Refiner != nil {
		c.Refined = info.Sentences()
	}
	rows := &table{pair: pair, Decision: decision, threads: e.EncoderOptions().Threads}
	if rows.local, err = newLocal(ctx, e, pair, decision); err != nil {
		return nil, err
	}
	if rows.local != nil {
		c.Documents, c.Kept = &rows.local.counts, rows.local.kept(c.Kept)
	}
	if r.Rejected, err = rows.rejected(ctx); err != nil {
		return nil, err
	}
	return r, r.write(ctx, filepath.Join(dir, view.BitextFile), rows)
}

// counts adds up what sharding counted.
func counts(ctx context.Context, p *view.Pair) (c record.Counts, err error) {
	for side, into := range []*int{&c.SourceIn, &c.TargetIn} {
		records, err := shard.Results(ctx, p.Store, p.Language(side).Inputs, p.Plan.Settings)
		if err != nil {
			return c, err
		}
		for _, info := range records {
			*into += int(info.Counts.Kept + info.Counts.Duplicates)
			c.Skipped += int(info.Counts.SkippedTotal())
		}
	}
	return c, nil
}

// rowChunk is how many rows of the bitext are in memory at once: some 50 MB of ordinary sentences.
const rowChunk = 64 << 10

// write writes the bitext file and completes the result.
func (r *Result) write(ctx context.Context, path string, t *table) error {
	r.RunID = runID(t.pair)
	wanted, err := t.wanted(t.pair.Plan.Settings.KeepBelow)
	if err != nil {
		return err
	}
	r.Rows = len(wanted)
	if t.local != nil {
		r.Rows += len(t.local.rows)
	}
	metadata := r.metadata(t.pair)
	return atomicfile.Write(path, func(f *os.File) error {
		out, err := bitext.NewWriter(f, metadata)
		if err != nil {
			return err
		}
		kept := 0
		for chunk := range slices.Chunk(wanted, rowChunk) {
			if err := ctx.Err(); err != nil {
				return err
			}
			rows, err := t.rows(ctx, chunk)
			if err != nil {
				return err
			}
			for _, row := range rows {
				if err := out.Append(row); err != nil {
					return err
				}
			}
			kept = r.sample(rows, kept, t.Kept)
		}
		if t.local != nil {
			if err := t.local.append(ctx, out, t.threads, len(metadata.Features)); err != nil {
				return err
			}
		}
		return out.Close()
	})
}

// sampled is the number of pairs, the best ones, that a sample is spread over.
const sampled = 512 << 10

// sample keeps the pairs to show of rows, before which as many are kept as kept says, of n in all: as the bitext stands
// best first, what is shown is spread over the kept pairs. It returns kept with these rows.
func (r *Result) sample(rows []bitext.Row, kept, n int) int {
	if r.Samples == nil {
		r.Samples = []record.Sample{}
	}
	step := max(1, min(n, sampled)/record.MaxSamples)
	for i := range rows {
		if !rows[i].Keep {
			continue
		}
		if kept%step == 0 && len(r.Samples) < record.MaxSamples {
			r.Samples = append(r.Samples, sampleOf(&rows[i]))
		}
		kept++
	}
	return kept
}

func sampleOf(row *bitext.Row) record.Sample {
	return record.Sample{Score: row.Score, Prob: row.Prob, Source: row.Source.Text, Target: row.Target.Text}
}

// runID is the digest of settings and inputs.
func runID(p *view.Pair) string {
	var inputs [][2]string
	for side := range p.Sentences {
		for _, in := range p.Language(side).Inputs {
			inputs = append(inputs, in.Named()...)
		}
	}
	return plan.Digest([]any{p.Plan.Pairs[p.Index].ConfigDigest, inputs})
}

// divided says whether records of either side were divided into sentences.
func divided(p *view.Pair) bool {
	return slices.ContainsFunc([]int{0, 1}, func(side int) bool {
		return slices.ContainsFunc(p.Language(side).Inputs, func(in plan.Input) bool { return in.Options(p.Plan.Settings).Split != "" })
	})
}

// metadata describes the run in its bitext: nothing that changes between runs of the same inputs and settings.
func (r *Result) metadata(p *view.Pair) bitext.Metadata {
	s, c := p.Plan.PairSettings(p.Index), r.Counts
	var features []string
	if s.Features {
		features = feature.Names()
	}
	var refine *bitext.Refine
	if p.Plan.Refiner != nil {
		refine = &bitext.Refine{Encoder: p.Plan.Refiner.Name, Digest: s.Refine, Floor: s.RefineFloor, Doubt: s.RefineDoubt, Sentences: c.Refined}
	}
	var judge *bitext.Judge
	if j := p.Plan.Judge; j != nil {
		judge = &bitext.Judge{Model: j.Name, Digest: s.Judge, Doubt: s.JudgeDoubt, Pairs: c.Judged}
	}
	var documents *bitext.Documents
	if d := c.Documents; d != nil {
		documents = &bitext.Documents{Pairs: d.Pairs, Both: d.Both, Local: d.Local, Replaced: d.Replaced}
	}
	scorer := ""
	if s.Scored() {
		scorer = s.Scorer
	}
	return bitext.Metadata{
		RunID: r.RunID, ConfigDigest: s.ConfigDigest, Encoder: s.EncoderName, EncoderDigest: s.Encoder,
		Search: s.Search, Recall: r.Mean(), Margin: s.Margin, Retrieval: s.Retrieval, K: s.K, Threshold: r.Threshold,
		Scorer: scorer, Features: features, Refine: refine, Judge: judge, Documents: documents, Places: divided(p),
		SourceIn: c.SourceIn, TargetIn: c.TargetIn, SourceUnique: c.SourceUnique, TargetUnique: c.TargetUnique,
		Candidates: c.Candidates, Kept: c.Kept, Version: p.Plan.Version,
	}
}
