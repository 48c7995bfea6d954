// Package shard is the stage that cuts input files into shards of unique sentences.
package shard

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"bitextmine/bitext/exchange"
	"bitextmine/corpus"
	"bitextmine/corpus/input"
	"bitextmine/corpus/shard"
	"bitextmine/internal/badinput"
	"bitextmine/pipeline/plan"
	"bitextmine/pipeline/progress"
	"bitextmine/pipeline/setting"

	"bitextmine/pipeline/stage"
	"bitextmine/pipeline/store"
	"bitextmine/pipeline/view"
)

// Stage is the descriptor.
var Stage = &stage.Descriptor{
	Name: view.Shard, Version: 5, Unit: progress.Bytes, FromInputs: true,
}

func init() { // not in the declaration, as the functions refer to it
	Stage.Plan, Stage.Check, Stage.Uses, Stage.Run = planAll, check, uses, run
	stage.Register(Stage)
}

// args is an input file of a language, the first where several are cut together.
type args struct {
	Language int `json:"language"`
	Input    int `json:"input"`
}

// spec lists all that a file's shards depend on.
type spec struct {
	Input     string // SHA-256 of the file's bytes
	Name      string // base name: its extension may decide the format
	Normalise int    // version of corpus.Normalise
	Options   corpus.Options
	Formats   string `json:",omitempty"` // corpus.Formats
}

func specOf(in plan.Input, settings plan.Settings) spec {
	s := spec{Input: in.SHA256, Name: filepath.Base(in.Path), Normalise: corpus.NormaliseVersion, Options: in.Options(settings)}
	s.Formats = corpus.Formats(s.Name, s.Options.Format)
	return s
}

// Key is the key of an input's task.
func Key(in plan.Input, settings plan.Settings) string {
	if in.Group != "" {
		return in.Group
	}
	return Stage.Key(specOf(in, settings))
}

// planAll plans the cutting of every input. Inputs of the same bytes and name are one task.
func planAll(b *stage.Builder) error {
	for l, language := range b.Languages {
		for i := 0; i < len(language.Inputs); {
			members := together(language.Inputs[i:])
			if members[0].Bad != "" {
				i++
				continue
			}
			cost, bytes := stage.Cost{}, int64(0)
			for _, in := range members {
				bytes += in.Bytes
				need := memory(in.Options(b.Settings), in.Splitter != nil)
				if corpus.NamedPages(in.Path) {
					need += pageMemory
				}
				cost.Fixed = max(cost.Fixed, need)
			}
			cost.Disk, cost.Read = bytes, bytes
			b.Add(Stage, Key(members[0], b.Settings), bytes, cost, args{l, i})
			i += len(members)
		}
	}
	return nil
}

// pageMemory is the memory of the trees of pages that are parsed at once, and of what is remembered of a site.
const pageMemory = 768 << 20

// memory is an upper bound that was measured: a row group, the keys of one shard in a map, the decompressor. A record
// that is divided stands in it as it was read, decoded and normalised.
func memory(o corpus.Options, learned bool) int64 {
	bound := 96<<20 + 64*int64(o.ShardSize)
	if learned {
		bound += 16 * corpus.MaxRecordBytes // a record's tokens and their logits; the graph's weights are the process's
	}
	if o.Documents {
		bound += 96 * int64(o.ShardSize) // places of sentences, and those of repetitions
		bound += 64 * int64(o.ShardSize*len(o.Metadata()))
	}
	if o.Split != "" {
		bound += 4 * corpus.MaxRecordBytes
	}
	return bound
}

// maxPage is the size of a page that a task which asks for memory bytes may read, if as many tasks as fit read at once.
// 0 is no limit. A page may stand in memory copies times.
func maxPage(r setting.Resources, memory, copies int64) int64 {
	bound := r.MemoryBound()
	tasks := min(max(bound/max(memory, 1), 1), int64(max(r.Threads, 1)))
	return bound / tasks / copies
}

func check(p *plan.Plan, t *plan.Task) error {
	a, err := stage.Args[args](t)
	if err == nil {
		err = stage.Within("language", a.Language, len(p.Languages))
	}
	if err == nil {
		err = stage.Within("input", a.Input, len(p.Languages[a.Language].Inputs))
	}
	return err
}

// uses names the shards of every input: the later stages read them.
func uses(p *plan.Plan, use func(key string)) {
	for _, language := range p.Languages {
		for _, in := range language.Inputs {
			if in.Bad == "" {
				use(Key(in, p.Settings))
			}
		}
	}
}

// run makes the shards of one input file, or of several small ones.
func run(ctx context.Context, e *stage.Env, t *plan.Task, dir string, meter progress.Meter) (any, error) {
	a, err := stage.Args[args](t)
	if err != nil {
		return nil, err
	}
	members := together(e.Plan.Languages[a.Language].Inputs[a.Input:])
	texts := make([]shard.Text, len(members))
	if err := allUnchanged(members); err != nil {
		return nil, err
	}
	for i, in := range members {
		if texts[i], err = textOf(e, t.Memory, in); err != nil {
			return nil, err
		}
	}
	cut, bad, err := usable(ctx, e, texts, func(usable []shard.Text) (*shard.Together, error) {
		cut, err := shard.CutTogether(ctx, usable, dir, shard.Options{Report: bytesRead(meter)})
		return cut, withCharset(err, usable, e.Plan.Languages[a.Language].Code)
	})
	if err != nil && ctx.Err() == nil {
		// What looks bad may be a file that is being written, which is worth a retry.
		return nil, cmp.Or(allUnchanged(members), err)
	}
	if err != nil {
		return nil, err
	}
	// No half of one text and half of another may go under one key.
	return recordOf(cut, bad), allUnchanged(members)
}

// textOf says how an input is read and cut by a task that may take so many bytes of memory.
func textOf(e *stage.Env, memory int64, in plan.Input) (text shard.Text, err error) {
	text = shard.Text{File: in.Source(), Options: in.Options(e.Plan.Settings)}
	text.File.MaxPage = maxPage(e.Resources, memory, text.Options.PageCopies())
	if in.Splitter != nil {
		text.Learned, err = learned(e, *in.Splitter)
	}
	if in.Exclude != nil && err == nil {
		text.Exclude, err = excluded(e, *in.Exclude)
	}
	return text, err
}

// excluded returns the sentences of one side of translations, which are read once for all tasks.
func excluded(e *stage.Env, x plan.Exclude) (map[corpus.Key]bool, error) {
	sides, err := stage.Shared(e, "exclude "+x.Pairs(), func() (sides [2]map[corpus.Key]bool, _ func() error, err error) {
		if err := unchanged(plan.Input{Path: x.Path, SHA256: x.SHA256, Bytes: anySize}); err != nil {
			return sides, nil, err
		}
		pairs, err := exchange.ReadKnown(x.Path, x.Source, x.Target)
		if err != nil {
			return sides, nil, err
		}
		sides = [2]map[corpus.Key]bool{make(map[corpus.Key]bool, len(pairs)), make(map[corpus.Key]bool, len(pairs))}
		for _, p := range pairs {
			sides[0][corpus.KeyOf(p.Source)], sides[1][corpus.KeyOf(p.Target)] = true, true
		}
		return sides, nil, nil
	})
	return sides[x.Side], err
}

// thisFile stands for a file's path in the record of why it is bad: inputs of the same bytes and name share it.
const thisFile = "\x00"

func whyOf(t shard.Text, err error) string {
	return strings.ReplaceAll(err.Error(), t.File.Path, thisFile)
}

const skipBadFiles = "--on-bad-file skip"

// usable cuts texts. If one is bad and the plan sets bad files aside, it cuts the others and returns why each bad one
// is; empty: it is not.
func usable(
	ctx context.Context, e *stage.Env, texts []shard.Text, cut func([]shard.Text) (*shard.Together, error),
) (*shard.Together, []string, error) {
	bad := make([]string, len(texts))
	done, err := cut(texts)
	switch {
	case !OfFile(err):
		return done, bad, err
	case !e.Plan.SetAside:
		if strings.Contains(err.Error(), skipBadFiles) { // an archive whose undamaged parts can be read
			return nil, nil, err
		}
		return nil, nil, badinput.Errorf("%w; %s sets such files aside", err, skipBadFiles)
	case len(texts) == 1:
		bad[0] = whyOf(texts[0], err)
		return &shard.Together{}, bad, nil
	}
	var good []shard.Text
	for i, text := range texts {
		switch err := shard.Check(ctx, text); {
		case err == nil:
			good = append(good, text)
		case OfFile(err):
			bad[i] = whyOf(text, err)
		default:
			return nil, nil, err
		}
	}
	done, err = cut(good)
	return done, bad, err
}

// learned opens a splitter for all tasks.
func learned(e *stage.Env, s plan.Splitter) (setting.LearnedSplitter, error) {
	return stage.Shared(e, fmt.Sprintf("splitter %s %v", s.Path, s.Threshold), func() (setting.LearnedSplitter, func() error, error) {
		l, err := setting.OpenSplitter(e.Resources, s.Path, s.Threshold)
		if err != nil {
			return l, nil, err
		}
		return l, l.Close, nil
	})
}

// OfFile reports whether an error is one of the content of an input file, and not of the machine or of max_memory,
// which another run may raise.
func OfFile(err error) bool {
	return badinput.Is(err) && !badinput.OfSystem(err) && !errors.Is(err, input.ErrMemory)
}

// anySize is the size of an input of which only the digest is known.
const anySize = -1

// unchanged compares an input file with what the plan says of it.
func unchanged(in plan.Input) error {
	same, err := same(in)
	if err == nil && !same {
		err = plan.Changed(in.Path)
	}
	return err
}

func allUnchanged(inputs []plan.Input) error {
	for _, in := range inputs {
		if err := unchanged(in); err != nil {
			return err
		}
	}
	return nil
}

func same(in plan.Input) (bool, error) {
	now, err := plan.DigestListed(in.Source())
	return (in.Bytes == anySize || now.Bytes == in.Bytes) && now.SHA256 == in.SHA256, err
}

// Record is a task's record of an input.
type Record struct {
	*shard.Result
	Languages *Languages `json:"languages,omitempty"` // nil in records of program versions before 0.2
	Bad       string     `json:"bad,omitempty"`       // why the file cannot be used: it has no shards
	// Files are the records of files that were cut together, whose shards the record has.
	Files []Record `json:"files,omitempty"`
}

// recordOf records what was cut, and why some files are bad.
func recordOf(cut *shard.Together, bad []string) *Record {
	whole := &Record{Result: &shard.Result{Shards: cut.Shards}}
	good := []int{} // places of the usable files
	for i, why := range bad {
		one := Record{Result: &shard.Result{Shards: []shard.Info{}}, Bad: why}
		if n := len(good); why == "" {
			one.Result, one.Languages = &cut.Files[n], languagesOf(cut.Files[n].Sample)
			good = append(good, i)
		}
		whole.Files = append(whole.Files, one)
	}
	for s := range cut.Shards {
		for f := range cut.Shards[s].Files {
			from := &cut.Shards[s].Files[f]
			from.File = good[from.File]
		}
	}
	if len(bad) > 1 {
		return whole
	}
	if bad[0] == "" {
		whole.Files[0].Shards = cut.Shards
	}
	return &whole.Files[0]
}

// unknownCut is the error of a file of which it cannot be read how it was cut.
func unknownCut(path string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return badinput.Errorf("what was cut from %s is not in the work directory, or was made by another version of the program; "+
			"give mine run again", path)
	}
	return fmt.Errorf("read what was cut from %s: %w", path, err)
}

// Results returns what tasks of the stage recorded of a language's inputs, which are in their order. The shards of
// files that were cut together are with the first.
func Results(ctx context.Context, st *store.Store, inputs []plan.Input, s plan.Settings) ([]Record, error) {
	var all []Record
	key, group := "", Record{} // the last that was read
	for i, in := range inputs {
		if in.Bad != "" {
			all = append(all, Record{Result: &shard.Result{}, Bad: in.Bad})
			continue
		}
		if Key(in, s) != key || in.Group == "" {
			key, group = Key(in, s), Record{Result: &shard.Result{}}
			task := store.Task{Stage: Stage.Name, Key: key}
			out, err := st.Stat(ctx, task)
			if err == nil {
				err = json.Unmarshal(out.Info, &group)
			}
			if err != nil {
				return nil, unknownCut(in.Path, store.Discard(ctx, st, task, err))
			}
		}
		record := group
		if in.Group != "" {
			if in.Part >= len(group.Files) {
				return nil, unknownCut(in.Path, fs.ErrNotExist)
			}
			record = group.Files[in.Part]
			if i == 0 || inputs[i-1].Group != in.Group {
				record.Shards = group.Shards
			}
		}
		record.Bad = strings.ReplaceAll(record.Bad, thisFile, in.Path)
		all = append(all, record)
	}
	return all, nil
}

// Shards gives the shards that inputs were cut into their names and places. Several inputs were cut
// together.
func Shards(inputs []plan.Input, s plan.Settings, found []shard.Info) []plan.Shard {
	shards := make([]plan.Shard, len(found))
	places := map[int]int{} // shards of a file
	for n, one := range found {
		shards[n] = plan.Shard{Name: fmt.Sprintf("%s#%d", inputs[0].Path, n), Task: Key(inputs[0], s), File: one.File, SHA256: one.SHA256, Rows: one.Rows, Bytes: one.Bytes}
		for _, from := range one.Files {
			name := fmt.Sprintf("%s#%d", inputs[from.File].Path, places[from.File])
			places[from.File]++
			shards[n].Files = append(shards[n].Files, plan.Part{Name: name, First: from.First})
		}
	}
	return shards
}

// bytesRead turns the sharder's running totals into steps of a meter.
func bytesRead(meter progress.Meter) func(shard.Progress) {
	var shown int64
	return func(p shard.Progress) {
		meter.Add(p.Bytes - shown)
		shown = p.Bytes
	}
}
