package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"bitextmine/align/document"
	"bitextmine/bitext"
	"bitextmine/corpus"
	"bitextmine/eval/documents"
)

// pair is a found or a gold pair: normalised texts of both sides.
type pair [2]string

// set is a pair of documents and its gold beads.
type set struct {
	sides [2][]string
	gold  documents.Ladder
}

type options struct {
	languages, texts [2]string
	dir              string
	made, length     int
	seed             uint64
}

const maxLine = 64 << 10

// compareDocuments compares mining alone with mining of paired and aligned documents: precision and recall of the
// bitext of `mine run` against the gold beads of documents, with --documents off and on. Documents come from a
// directory (Bleualign's set as vecalign has it) or are made of line-aligned text as in `mine eval beads`.
func compareDocuments(ctx context.Context, args []string) (err error) {
	var o options
	flag.StringVar(&o.languages[0], "src", "de", "source language")
	flag.StringVar(&o.languages[1], "tgt", "en", "target language")
	flag.StringVar(&o.dir, "dir", "", "directory of documents NAME.SRC, NAME.TGT and gold beads NAME.SRCTGT")
	flag.StringVar(&o.texts[0], "src-text", "", "line-aligned source files to make documents of, with commas")
	flag.StringVar(&o.texts[1], "tgt-text", "", "their target files")
	flag.IntVar(&o.made, "made", 60, "documents to make")
	flag.IntVar(&o.length, "length", 33, "lines of each")
	flag.Uint64Var(&o.seed, "seed", 1, "of what is changed in documents that are made")
	_ = flag.CommandLine.Parse(args)
	sets, err := o.sets()
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "mine-documents")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	gold := map[pair]bool{}
	for _, s := range sets {
		for _, rung := range s.gold {
			if len(rung.Source) > 0 && len(rung.Target) > 0 {
				gold[pair{span(s.sides[0], rung.Source), span(s.sides[1], rung.Target)}] = true
			}
		}
	}
	var found [2]map[pair]bool
	for k, documents := range []string{"off", "on"} {
		if found[k], err = o.mine(ctx, dir, documents, sets); err != nil {
			return err
		}
	}
	return report(gold, found)
}

// mine runs the program on the documents' sentences and reads the pairs that it keeps.
func (o *options) mine(ctx context.Context, dir, documents string, sets []set) (map[pair]bool, error) {
	args := []string{
		"run", "--src", o.languages[0], "--tgt", o.languages[1], "--doc-column", "doc", "--split", "off",
		"--documents", documents, "--work", filepath.Join(dir, "work"), "--out", filepath.Join(dir, documents),
	}
	for side, flag := range []string{"--src-text", "--tgt-text"} {
		path := filepath.Join(dir, o.languages[side]+".jsonl")
		if err := write(path, sets, side); err != nil {
			return nil, err
		}
		args = append(args, flag, path)
	}
	if out, err := exec.CommandContext(ctx, "bin/mine", args...).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("bin/mine %s: %w\n%s", strings.Join(args, " "), err, out)
	}
	return read(ctx, filepath.Join(dir, documents, o.languages[0]+"-"+o.languages[1]+".parquet"))
}

func read(ctx context.Context, path string) (_ map[pair]bool, err error) {
	r, err := bitext.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	found := map[pair]bool{}
	for row, err := range r.Rows(ctx) {
		if err != nil {
			return nil, err
		}
		if row.Keep {
			found[pair{corpus.Normalise(row.Source.Text), corpus.Normalise(row.Target.Text)}] = true
		}
	}
	return found, nil
}

// write writes the sentences of one side with their documents' names.
func write(path string, sets []set, side int) (err error) {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	lines := json.NewEncoder(f)
	for k, s := range sets {
		for _, text := range s.sides[side] {
			if err := lines.Encode(map[string]string{"text": text, "doc": fmt.Sprintf("%s%03d", "d", k)}); err != nil {
				return err
			}
		}
	}
	return nil
}

// span is the text of some sentences.
func span(sentences []string, numbers []int) string {
	var texts []string
	for _, n := range numbers {
		texts = append(texts, sentences[n])
	}
	return corpus.Normalise(strings.Join(texts, " "))
}

func report(gold map[pair]bool, found [2]map[pair]bool) error {
	table := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "\tpairs\tP\tR\tF1\t")
	for k, name := range []string{"mining alone", "--documents on"} {
		right := 0
		for p := range found[k] {
			if gold[p] {
				right++
			}
		}
		precision, recall := 100*float64(right)/float64(max(1, len(found[k]))), 100*float64(right)/float64(len(gold))
		fmt.Fprintf(table, "%s\t%d\t%.1f\t%.1f\t%.1f\t\n", name, len(found[k]), precision, recall, 2*precision*recall/max(precision+recall, 1e-9))
	}
	if err := table.Flush(); err != nil {
		return err
	}
	left, right := 0, 0
	for p := range found[0] {
		if !found[1][p] {
			left++
			if gold[p] {
				right++
			}
		}
	}
	fmt.Printf("%d gold beads; of %d pairs that mining alone has and --documents on has not, %d are right\n", len(gold), left, right)
	return nil
}

// sets reads the documents, or makes them evenly from the whole of the texts.
func (o *options) sets() (sets []set, err error) {
	if o.dir != "" {
		return o.read()
	}
	var text [2][]string
	for side, paths := range o.texts {
		for path := range strings.SplitSeq(paths, ",") {
			d, err := document.Read(path, o.languages[side], maxLine)
			if err != nil {
				return nil, err
			}
			text[side] = append(text[side], d.Sentences...)
		}
	}
	n := len(text[0])
	if n != len(text[1]) || n < o.length || o.made < 2 {
		return nil, fmt.Errorf("the texts have %d and %d lines, which must be as many, at least %d, for two documents or more", n, len(text[1]), o.length)
	}
	for k := range o.made {
		from := (n - o.length) * k / (o.made - 1)
		made := documents.Make(text[0][from:from+o.length], text[1][from:from+o.length], o.seed+uint64(k))
		sets = append(sets, set{[2][]string{made.Source, made.Target}, made.Gold})
	}
	return sets, nil
}

func (o *options) read() (sets []set, err error) {
	found, err := documents.Sets(o.dir, o.languages[0], o.languages[1])
	if err != nil {
		return nil, err
	}
	for _, f := range found {
		var s set
		for side, path := range []string{f.Source, f.Target} {
			d, err := document.Read(path, o.languages[side], maxLine)
			if err != nil {
				return nil, err
			}
			s.sides[side] = d.Sentences
		}
		if s.gold, err = documents.ReadLadder(f.Gold); err != nil {
			return nil, err
		}
		sets = append(sets, s)
	}
	return sets, nil
}
