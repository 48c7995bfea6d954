// Package align is the stage that aligns the documents of each pair that was found, one task for each shard of the
// source: the documents that begin there, with their partners wherever these stand.
//
// A task's key holds the pairs of documents, so it is planned before they are known, and all keys change when any
// document does. What changes from night to night is few documents, so a task takes over the beads of documents that
// earlier outputs of its shard have, of equal sentences on both sides, and aligns the rest. They save time and change
// no byte.
package align

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"bitextmine/align/bead"
	"bitextmine/align/document"
	"bitextmine/corpus"
	"bitextmine/corpus/shard"
	"bitextmine/internal/atomicfile"
	"bitextmine/pipeline/plan"
	"bitextmine/pipeline/progress"
	"bitextmine/pipeline/stage"
	"bitextmine/pipeline/stage/encode"
	"bitextmine/pipeline/stage/pairdocs"
	"bitextmine/pipeline/store"
	"bitextmine/pipeline/view"
)

// Stage is the descriptor.
var Stage = &stage.Descriptor{
	Name: view.Align, Version: 6, Unit: "sentences", After: []string{view.PairDocs}, GPU: true, OnDemand: true,
}

func init() { // not in the declaration, as the functions refer to it
	Stage.Plan, Stage.Ledger = planPairs, ledger
	Stage.Check, Stage.Uses, Stage.Run, Stage.Rate = stage.CheckPairShard, stage.UseBases(view.Align), run, rate
	stage.Register(Stage)
}

// args is a shard of the source of a pair.
type args struct {
	Pair  int      `json:"pair"`
	Shard int      `json:"shard"`
	Bases []string `json:"bases,omitempty"` // earlier outputs of the shard, newest first
}

// spec lists all that the beads depend on.
type spec struct {
	Pairs   string // key
	Shard   int    // place among those of the source
	Encoder string // digest
	Device  string `json:",omitempty"` // setting.Arithmetic
	Options bead.Options

	Languages [2]string // say how text is encoded
}

// wanted says whether the settings ask for documents to be aligned.
func wanted(s *plan.Settings) bool { return s.Documents != "" }

// planPairs asks for the beads of every pair if the settings ask for documents to be aligned.
func planPairs(b *stage.Builder) error {
	for pair := range b.Pairs {
		if wanted(&b.Settings) {
			want(b, pair)
		}
	}
	return nil
}

// want asks for the beads of a pair's documents and sets their keys.
func want(b *stage.Builder, pair int) {
	pairs := pairdocs.Want(b, pair)
	language := b.Side(pair, 0)
	before := stage.Before[plan.Earlier](b, Stage, pair)
	b.Pairs[pair].Aligned = nil
	for i, s := range language.Shards {
		key := Stage.Key(spec{pairs, i, b.Settings.Encoder, b.Settings.EncoderDevice, bead.DefaultOptions(), [2]string{language.Code, b.Side(pair, 1).Code}})
		b.Pairs[pair].Aligned = append(b.Pairs[pair].Aligned, key)
		bases := before.Others(0, s.SHA256, key)
		b.Add(Stage, key, int64(s.Rows), cost(b.Settings, int64(s.Rows)), args{pair, i, bases})
	}
}

// cost is, in memory, that of encoding, the texts of the documents, and the spans' vectors of a piece.
func cost(s plan.Settings, rows int64) stage.Cost {
	return stage.Cost{
		Fixed:  512<<20 + 16384*int64(s.Dim)*8,
		Memory: rows * 4 * stage.RowBytes,
		Disk:   rows * 40,
		Read:   rows * 2 * stage.RowBytes,
	}
}

// spansOfSentence is about how many texts are encoded for a source sentence: spans of up to six, of both sides.
const spansOfSentence = 12

// rate measures on the first shard.
func rate(ctx context.Context, e *stage.Env, left []*plan.Task) (float64, error) {
	a, err := stage.Args[args](left[0])
	if err != nil {
		return 0, err
	}
	encoder, err := e.Encoder()
	if err != nil {
		return 0, err
	}
	texts, err := encode.Rate(ctx, e, encoder, e.Plan.LanguageOf(a.Pair, 0), a.Shard)
	return texts / spansOfSentence, err
}

// Beads are the beads of a pair of documents.
type Beads struct {
	Source int         `json:"src"` // places in the collections of their languages
	Target int         `json:"tgt"`
	Digest string      `json:"digest"` // digest of both documents' sentences
	Beads  []bead.Bead `json:"beads"`  // all beads but deletions
}

// Info is a task's record of its beads.
type Info struct {
	Pairs   int `json:"pairs"`   // pairs of documents
	Aligned int `json:"aligned"` // pairs that this task aligned; the others were taken over
}

const fileName = "beads.jsonl"

// Read yields the beads of all documents of a pair of languages.
func Read(ctx context.Context, f *view.Files, pair int, each func(*Beads) error) error {
	for _, key := range f.Plan.Pairs[pair].Aligned {
		out, err := f.Output(ctx, Stage.Name, key)
		if err == nil {
			err = stage.ReadLines(out.Path(fileName), each)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// task is one task's documents.
type task struct {
	env     *stage.Env
	pair    *view.Pair
	sides   [2]*pairdocs.Collection
	encoder document.Encoder
	meter   progress.Meter
	before  map[string][]bead.Bead // beads of earlier outputs, by digest

	items, told     int64 // items of the task, and how many of them were told
	sentences, done int64 // sentences of source documents to align, and of those that are aligned
}

// tell tells the share of the task's items that the aligned sentences are: a document's sentence may be in the shard
// once and in documents often, or in none that is paired.
func (w *task) tell() {
	now := w.items
	if w.done < w.sentences {
		now = w.items * w.done / w.sentences
	}
	w.meter.Add(now - w.told)
	w.told = now
}

func run(ctx context.Context, e *stage.Env, t *plan.Task, dir string, meter progress.Meter) (any, error) {
	a, err := stage.Args[args](t)
	if err != nil {
		return nil, err
	}
	w := &task{env: e, meter: meter, items: t.Items}
	if w.pair, err = e.Pair(a.Pair); err != nil {
		return nil, err
	}
	for side := range w.sides {
		if w.sides[side], err = pairdocs.Documents(ctx, e, a.Pair, side); err != nil {
			return nil, err
		}
	}
	wanted, err := w.wanted(ctx, a)
	if err != nil {
		return nil, err
	}
	if err := w.takeOver(ctx, a.Bases); err != nil {
		return nil, err
	}
	info := Info{Pairs: len(wanted)}
	var left []*Beads
	for i := range wanted {
		if found, ok := w.before[wanted[i].Digest]; ok {
			wanted[i].Beads = found
			continue
		}
		left = append(left, &wanted[i])
	}
	info.Aligned = len(left)
	for _, b := range left {
		w.sentences += int64(len(w.sides[0].Documents[b.Source].Sentences))
	}
	if err := w.align(ctx, left); err != nil {
		return nil, err
	}
	w.tell()
	return info, atomicfile.Write(filepath.Join(dir, fileName), func(f *os.File) error {
		out := bufio.NewWriter(f)
		lines := json.NewEncoder(out)
		for i := range wanted {
			if err := lines.Encode(&wanted[i]); err != nil {
				return err
			}
		}
		return out.Flush()
	})
}

// wanted are the pairs whose source begins in the task's shard, in the order of their sources.
func (w *task) wanted(ctx context.Context, a args) ([]Beads, error) {
	pairs, _, err := pairdocs.Read(ctx, w.env.Files, a.Pair)
	if err != nil {
		return nil, err
	}
	var wanted []Beads
	for _, p := range pairs {
		if p.Source >= len(w.sides[0].Documents) || p.Target >= len(w.sides[1].Documents) {
			return nil, fmt.Errorf("a pair of documents names %d and %d, which do not exist; run again", p.Source, p.Target)
		}
		if d := &w.sides[0].Documents[p.Source]; int(d.Sentences[0].Shard) == a.Shard {
			wanted = append(wanted, Beads{Source: p.Source, Target: p.Target, Digest: w.digest(p)})
		}
	}
	slices.SortFunc(wanted, func(x, y Beads) int {
		if x.Source != y.Source {
			return x.Source - y.Source
		}
		return x.Target - y.Target
	})
	return wanted, nil
}

// digest stands for the sentences of both documents: the digests of their shards and the rows.
func (w *task) digest(p pairdocs.Pair) string {
	h := sha256.New()
	for side, d := range [2]*pairdocs.Document{&w.sides[0].Documents[p.Source], &w.sides[1].Documents[p.Target]} {
		shards := w.pair.Language(side).Shards
		for _, s := range d.Sentences {
			fmt.Fprintf(h, "%s %d\n", shards[s.Shard].SHA256, s.Row)
		}
		fmt.Fprintln(h)
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// takeOver reads the beads of earlier outputs of the shard.
func (w *task) takeOver(ctx context.Context, bases []string) error {
	w.before = map[string][]bead.Bead{}
	return stage.TakeOver(ctx, w.env, Stage, bases, "its documents are aligned again", func(out *store.Output) error {
		return stage.ReadLines(out.Path(fileName), func(b *Beads) error {
			w.before[b.Digest] = b.Beads
			return nil
		})
	})
}

// batch is about how many sentences of documents have their texts in memory at once.
const batch = 100_000

// align aligns pairs of documents.
func (w *task) align(ctx context.Context, left []*Beads) error {
	if len(left) == 0 {
		return nil
	}
	opened, err := w.env.Encoder()
	if err != nil {
		return err
	}
	encoder, ok := opened.(document.Encoder)
	if !ok {
		return fmt.Errorf("the encoder %s encodes files only, not spans", w.env.Model.Name)
	}
	w.encoder = encoder
	for len(left) > 0 {
		n, sentences := 0, 0
		for n < len(left) && (n == 0 || sentences < batch) {
			sentences += len(w.sides[0].Documents[left[n].Source].Sentences) + len(w.sides[1].Documents[left[n].Target].Sentences)
			n++
		}
		if err := w.some(ctx, left[:n]); err != nil {
			return err
		}
		left = left[n:]
	}
	return nil
}

// some aligns pairs of documents whose texts fit into memory.
func (w *task) some(ctx context.Context, of []*Beads) error {
	var docs [2][]*document.Document
	for side := range docs {
		var err error
		if docs[side], err = w.texts(ctx, side, of); err != nil {
			return err
		}
	}
	for i, b := range of {
		found, err := document.Align(ctx, w.encoder, docs[0][i], docs[1][i], bead.DefaultOptions())
		if err != nil {
			return err
		}
		b.Beads = slices.DeleteFunc(found.Beads, bead.Bead.Deletion)
		w.done += int64(len(docs[0][i].Sentences))
		w.tell()
	}
	return nil
}

// texts reads the documents of a side.
func (w *task) texts(ctx context.Context, side int, of []*Beads) ([]*document.Document, error) {
	docs := make([]*document.Document, len(of))
	var numbers []int32
	var into []*string
	for i, b := range of {
		d := &w.sides[side].Documents[[2]int{b.Source, b.Target}[side]]
		docs[i] = document.New(d.Name, w.pair.Language(side).Code, make([]string, len(d.Sentences)))
		for k, s := range d.Sentences {
			numbers, into = append(numbers, s.Number), append(into, &docs[i].Sentences[k])
		}
	}
	err := w.pair.RowsOf(ctx, side, numbers, func(at int, _ *plan.Shard, _ uint32, row shard.Row) { *into[at] = corpus.Normalise(row.Text) })
	return docs, err
}

// ledger names the newest beads of every source shard. Two outputs are kept: one night may pair the documents otherwise
// and the next as before.
var ledger = &stage.ShardLedger{
	Wanted: wanted, Name: noteName, Kept: 2,
	Outputs: func(p *plan.Plan, pair int) [2][]string { return [2][]string{p.Pairs[pair].Aligned} },
	Damage:  "the ledger of aligned documents is damaged; they are aligned again",
}

// noteName names the runs that share beads: these depend on the encoder, the options and the languages.
func noteName(p *plan.Plan, pair int) string {
	s, source, target := p.Settings, p.Side(pair, 0).Code, p.Side(pair, 1).Code
	return plan.Key("aligned", Stage.Version, []any{s.Encoder, s.EncoderDevice, bead.DefaultOptions(), source, target}) + ".json"
}
