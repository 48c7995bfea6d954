package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"text/tabwriter"
	"time"

	"bitextmine/fixtures"
)

const model = "fixtures/models/" + fixtures.Encoder

// measure is seconds of wall and of CPU time, and peak resident size in MiB.
type measure [3]float64

// compareRuns times `mine run` as a whole process and the same mining with Python's libraries, in turn. It prints the
// medians and their ratio.
func compareRuns(ctx context.Context, args []string) (err error) {
	source := flag.String("src", "", "source text, id<TAB>sentence")
	target := flag.String("tgt", "", "target text, id<TAB>sentence")
	python := flag.String("python", "", "a Python with bench/peer/requirements.txt installed")
	n := flag.Int("n", 5, "runs of each")
	_ = flag.CommandLine.Parse(args)
	dir, err := os.MkdirTemp("", "mine-bench")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	var ours, theirs []measure
	for i := range *n {
		out := filepath.Join(dir, fmt.Sprint(i)) // a new one each time, so nothing is cached
		a, err := timed(ctx, "bin/mine", "run", "--src", "de", "--tgt", "en", "--src-text", *source, "--tgt-text", *target, "--out", out)
		if err != nil {
			return err
		}
		b, err := timed(ctx, *python, "bench/peer/mine.py", model, *source, *target, filepath.Join(dir, "peer.tsv"), "1.06")
		if err != nil {
			return err
		}
		ours, theirs = append(ours, a), append(theirs, b)
	}
	table := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "\twall s\tCPU s\tpeak MiB\t")
	a, b := medians(ours), medians(theirs)
	fmt.Fprintf(table, "mine run\t%.2f\t%.2f\t%.0f\t\n", a[0], a[1], a[2])
	fmt.Fprintf(table, "Python: onnxruntime, faiss-cpu\t%.2f\t%.2f\t%.0f\t\n", b[0], b[1], b[2])
	fmt.Fprintf(table, "theirs / ours\t%.2f\t%.2f\t%.2f\t\n", b[0]/a[0], b[1]/a[1], b[2]/a[2])
	return table.Flush()
}

func timed(ctx context.Context, name string, args ...string) (measure, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	began := time.Now()
	if out, err := cmd.CombinedOutput(); err != nil {
		return measure{}, fmt.Errorf("%s: %w\n%s", name, err, out)
	}
	wall, state := time.Since(began), cmd.ProcessState
	memory := float64(state.SysUsage().(*syscall.Rusage).Maxrss) / 1024
	return measure{wall.Seconds(), (state.UserTime() + state.SystemTime()).Seconds(), memory}, nil
}

// medians computes the median of each figure separately.
func medians(all []measure) (m measure) {
	for figure := range m {
		slices.SortFunc(all, func(a, b measure) int { return cmp.Compare(a[figure], b[figure]) })
		m[figure] = all[len(all)/2][figure]
	}
	return m
}
