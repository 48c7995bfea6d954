// Command reproduce trains the systems of the five papers on the same bitext with the same encoder and steps, evaluates
// each with the same protocols, and stores each row as a file. From these files it decides which of the papers' claims
// are held, by one rule, and writes the pages.
//
//	scripts/bench reproduce -budget bench/reproduce/wacse.yaml -data DATA -out OUT \
//	    [-seeds "1 2 3"] [-steps 200] [-device xla:PLUGIN] [SYSTEM...]
//	scripts/bench reproduce      # only the verdicts and pages, from the rows
//
// DATA has train/ and tatoeba/, as the presets name them, and flores/, ntrex/, bucc/ and sts/. Rows that exist are not
// repeated, and a row that was stopped goes on from its last checkpoint. Several calls with the same DATA and OUT share
// the rows, such as on a machine with many CPUs: what one makes is left to it.
package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"bitextmine/encode/gpu"
	"bitextmine/internal/badinput"
)

type options struct {
	data, out, presets string
	mine               string // the program
	rows               string // directory of the rows' files
	library            string // path of ONNX Runtime's library
	device             string // that trains, as of mine train
	judging            gpu.Device
	seeds              []uint64
	systems            []string // the systems to train; empty means all
	steps              int      // steps of every training; 0: the budget's
	anyway             bool     // train also what cannot tell
}

func main() {
	var o options
	budgetFile := flag.String("budget", "", "encoder, steps and systems to train; empty: only the verdicts")
	budgets := flag.String("budgets", "bench/reproduce", "directory of all budgets, for the pages")
	flag.StringVar(&o.data, "data", "", "directory with train/, tatoeba/, flores/, ntrex/, bucc/ and sts/")
	flag.StringVar(&o.out, "out", "", "directory of all trainings")
	flag.StringVar(&o.rows, "rows", "bench/results/reproduction", "directory of the rows' files")
	flag.StringVar(&o.mine, "mine", "bin/mine", "the program, which mines for budgets that hide pairs")
	flag.StringVar(&o.presets, "presets", "configs/train", "directory of the systems' presets")
	flag.StringVar(&o.library, "onnxruntime", "bin/libonnxruntime.so", "ONNX Runtime's library")
	flag.StringVar(&o.device, "device", "cpu", "device that trains, as of mine train: cpu, cuda, go or xla:PLUGIN")
	judging := flag.String("encoders", "cpu", "device that evaluates transformers, as of mine run: cpu or cuda, which needs an ONNX Runtime for it in -onnxruntime")
	flag.IntVar(&o.steps, "steps", 0, "steps of every training, in place of the budget's")
	flag.BoolVar(&o.anyway, "anyway", false, "train although the budget cannot tell any claim")
	page := flag.String("page", "docs/reproduction.md", "page of the claims; empty: none")
	details := flag.String("details", "bench/results/reproduction.md", "page of the rows; empty: none")
	seeds := flag.String("seeds", "", "seeds of weights and batches (default: the budget's)")
	flag.Parse()
	o.systems = flag.Args()
	for _, path := range []*string{&o.rows, budgets, page, details} { // training changes the directory
		if full, err := filepath.Abs(*path); err == nil && *path != "" {
			*path = full
		}
	}
	var err error
	if o.judging, err = gpu.Parse(*judging); err != nil {
		fmt.Fprintln(os.Stderr, "bench/reproduce:", err)
		os.Exit(1)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err = makeRows(ctx, o, *budgetFile, *seeds)
	if err == nil {
		err = pages(o.rows, *budgets, *page, *details)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench/reproduce:", err)
		os.Exit(1)
	}
}

// makeRows makes the rows of a budget, if one is named.
func makeRows(ctx context.Context, o options, budgetFile, seeds string) error {
	if budgetFile == "" {
		return nil
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
	return m.makeAll(ctx)
}

// pages decides every claim from the rows and writes the pages.
func pages(rows, budgets, page, details string) error {
	claims, tables, err := decide(rows, budgets)
	if err != nil {
		return err
	}
	fmt.Print(claims)
	if page != "" {
		err = fill(page, "claims", claims)
	}
	if err == nil && details != "" {
		err = fill(details, "rows", tables)
	}
	return err
}

// decide returns the table of claims and that of all rows and comparisons.
func decide(rows, budgets string) (claims, tables string, err error) {
	files, err := filepath.Glob(filepath.Join(budgets, "*.yaml"))
	if err != nil {
		return "", "", err
	}
	slices.Sort(files)
	var all []budget
	var verdicts []verdict
	var w strings.Builder
	for _, file := range files {
		b, err := readBudget(file)
		if err != nil {
			return "", "", err
		}
		all = append(all, b)
		for _, part := range b.Parts {
			t, err := readTable(rows, b, part)
			if err != nil {
				return "", "", err
			}
			if !slices.ContainsFunc(b.systems(), func(s string) bool { return len(t[s]) > 0 }) {
				continue
			}
			verdicts = append(verdicts, b.verdicts(part, t)...)
			fmt.Fprintf(&w, "## `%s`, English with %s\n\n%s\n", b.name, strings.Join(part, ", "), partTables(b, part, t))
		}
	}
	return summary(verdicts, all), w.String(), nil
}
