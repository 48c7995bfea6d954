// Command reproduce trains the systems of the five papers on the same bitext with the same encoder and steps, evaluates
// each with the same protocols, and writes tables of mean and spread over seeds, with plots. It computes from the rows
// which of the papers' claims are held, by one rule.
//
//	scripts/bench reproduce -budget bench/reproduce/imascl.yaml -data DATA -out OUT \
//	    [-seeds "1 2 3"] [-steps 200] [-device xla:PLUGIN] \
//	    [-doc bench/results/reproduction.md -claims docs/reproduction.md] [SYSTEM...]
//	scripts/bench reproduce -summarise -doc bench/results/reproduction.md -claims docs/reproduction.md
//
// DATA has train/ and tatoeba/, as the presets name them, and flores/, ntrex/, bucc/ and sts/. Rows that exist in OUT
// are not repeated; the tables are made from the existing rows.
package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"

	"bitextmine/bench/reproduce/verdict"
	"bitextmine/internal/atomicfile"
	"bitextmine/internal/badinput"
)

type options struct {
	data, out, presets string
	library            string // path of ONNX Runtime's library
	device             string // that trains, as of mine train
	doc                string // a page whose marked part is replaced by the tables; empty if none
	claims             string // a page whose table of claims is made from those tables; empty if none
	summarise          bool   // read no rows, only make that table
	seeds              []uint64
	systems            []string // the systems to train; empty means all
	steps              int      // of every training, in place of the budget's; 0: the budget's
	table              bool     // train nothing, only write the tables
}

func main() {
	var o options
	budgetFile := flag.String("budget", "bench/reproduce/imascl.yaml", "encoder, steps and systems")
	flag.StringVar(&o.data, "data", "", "directory with train/, tatoeba/, flores/, ntrex/, bucc/ and sts/")
	flag.StringVar(&o.out, "out", "", "directory of all trainings")
	flag.StringVar(&o.presets, "presets", "configs/train", "directory of the systems' presets")
	flag.StringVar(&o.library, "onnxruntime", "bin/libonnxruntime.so", "ONNX Runtime's library")
	flag.StringVar(&o.device, "device", "cpu", "device that trains, as of mine train: cpu, cuda, go or xla:PLUGIN")
	flag.StringVar(&o.doc, "doc", "", "page whose marked part is replaced by the tables")
	flag.StringVar(&o.claims, "claims", "", "page whose table of claims is made from the tables of -doc")
	flag.BoolVar(&o.summarise, "summarise", false, "read no rows, only make the table of -claims")
	flag.BoolVar(&o.table, "table", false, "train nothing, only write the tables")
	flag.IntVar(&o.steps, "steps", 0, "steps of every training, in place of the budget's")
	seeds := flag.String("seeds", "", "seeds of weights and batches (default: the budget's)")
	flag.Parse()
	o.systems = flag.Args()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, o, *budgetFile, *seeds); err != nil {
		fmt.Fprintln(os.Stderr, "bench/reproduce:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, o options, budgetFile, seeds string) error {
	if o.summarise {
		return verdict.Write(o.doc, o.claims, said())
	}
	b, err := readBudget(budgetFile)
	if err != nil {
		return err
	}
	for _, s := range strings.Fields(cmp.Or(seeds, b.Seeds)) {
		seed, err := strconv.ParseUint(s, 10, 64)
		if err != nil {
			return badinput.Errorf("seeds: %q is not a number", s)
		}
		o.seeds = append(o.seeds, seed)
	}
	m, err := newMaker(ctx, o, b)
	if err != nil {
		return err
	}
	if !o.table {
		if err := m.makeAll(ctx); err != nil {
			return err
		}
	}
	var all strings.Builder
	for _, part := range b.Parts {
		rows, err := results(m, part)
		if err != nil {
			return err
		}
		text := report(b, part, rows)
		if err := plots(m.dir, b, part, rows); err != nil {
			return err
		}
		fmt.Fprintf(&all, "### English with %s\n\n%s\n", strings.Join(part, ", "), text)
	}
	text := strings.TrimSpace(all.String()) + "\n"
	if err := atomicfile.WriteBytes(filepath.Join(m.dir, "tables.md"), []byte(text)); err != nil {
		return err
	}
	fmt.Print(text)
	if m.doc == "" {
		return nil
	}
	if err := verdict.Fill(m.doc, b.name, text); err != nil || m.claims == "" {
		return err
	}
	return verdict.Write(m.doc, m.claims, said())
}
