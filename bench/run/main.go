// Command run times `mine run` as a whole process and the same mining with Python's libraries, in turn. It prints the
// medians and their ratio.
//
//	go run ./bench/run -src SRC -tgt TGT -python PYTHON [-n 5]
package main

import (
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

type measure struct {
	wall, cpu time.Duration
	memory    int64 // peak resident size in bytes
}

func main() {
	source := flag.String("src", "", "source text, id<TAB>sentence")
	target := flag.String("tgt", "", "target text, id<TAB>sentence")
	python := flag.String("python", "", "a Python with bench/peer/requirements.txt installed")
	n := flag.Int("n", 5, "runs of each")
	flag.Parse()
	if err := compare(context.Background(), *source, *target, *python, *n); err != nil {
		fmt.Fprintln(os.Stderr, "bench/run:", err)
		os.Exit(1)
	}
}

func compare(ctx context.Context, source, target, python string, n int) (err error) {
	dir, err := os.MkdirTemp("", "mine-bench")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	var ours, theirs []measure
	for i := range n {
		out := filepath.Join(dir, fmt.Sprint(i)) // a new one each time, so nothing is cached
		a, err := run(ctx, "bin/mine", "run", "--src", "de", "--tgt", "en", "--src-text", source, "--tgt-text", target, "--out", out)
		if err != nil {
			return err
		}
		b, err := run(ctx, python, "bench/peer/mine.py", model, source, target, filepath.Join(dir, "peer.tsv"), "1.06")
		if err != nil {
			return err
		}
		ours, theirs = append(ours, a), append(theirs, b)
	}
	table := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "\twall s\tCPU s\tpeak MiB\t")
	a, b := median(ours), median(theirs)
	fmt.Fprintf(table, "mine run\t%.2f\t%.2f\t%d\t\n", a.wall.Seconds(), a.cpu.Seconds(), a.memory>>20)
	fmt.Fprintf(table, "Python: onnxruntime, faiss-cpu\t%.2f\t%.2f\t%d\t\n", b.wall.Seconds(), b.cpu.Seconds(), b.memory>>20)
	fmt.Fprintf(table, "theirs / ours\t%.2f\t%.2f\t%.2f\t\n", b.wall.Seconds()/a.wall.Seconds(), b.cpu.Seconds()/a.cpu.Seconds(), float64(b.memory)/float64(a.memory))
	return table.Flush()
}

func run(ctx context.Context, name string, args ...string) (measure, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	began := time.Now()
	if out, err := cmd.CombinedOutput(); err != nil {
		return measure{}, fmt.Errorf("%s: %w\n%s", name, err, out)
	}
	usage := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	return measure{time.Since(began), cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), usage.Maxrss << 10}, nil
}

// median computes the median of each figure separately.
func median(all []measure) measure {
	middle := func(figure func(measure) int64) int64 {
		values := make([]int64, len(all))
		for i, m := range all {
			values[i] = figure(m)
		}
		slices.Sort(values)
		return values[len(values)/2]
	}
	return measure{
		wall:   time.Duration(middle(func(m measure) int64 { return int64(m.wall) })),
		cpu:    time.Duration(middle(func(m measure) int64 { return int64(m.cpu) })),
		memory: middle(func(m measure) int64 { return m.memory }),
	}
}
