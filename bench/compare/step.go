package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"bitextmine/internal/usage"
	"bitextmine/train/data"
	"bitextmine/train/device"
	"bitextmine/train/encoder"
	"bitextmine/train/layers"
	"bitextmine/train/objective"
	_ "bitextmine/train/objective/contrastive" // the loss of the step
	"bitextmine/train/step"
	"bitextmine/train/weights"
)

const (
	pairs  = 64
	tokens = 32
	words  = 8000
)

// compareSteps times a training step of a transformer against the same step in PyTorch, and on several devices, by
// turns in one run.
//
// The step: a transformer of 4 layers, 256 wide, 4 heads, FFN 1,024, dropout 0.1; 64 pairs of 32 tokens each side;
// forward, contrastive loss over normalised vectors, backward to the gradients of every weight. No optimiser.
func compareSteps(ctx context.Context, args []string) error {
	python := flag.String("python", "/usr/bin/python3", "a Python with PyTorch; empty: none")
	script := flag.String("script", "bench/peer/step.py", "the step in PyTorch")
	library := flag.String("onnxruntime", "bin/libonnxruntime.so", "ONNX Runtime's library")
	rounds := flag.Int("rounds", 10, "timed steps of each")
	dropout := flag.Float64("dropout", 0.1, "dropout of both")
	threads := flag.Int("threads", runtime.NumCPU(), "PyTorch's threads; ONNX Runtime takes every core. 0: as many as PyTorch takes by itself")
	devices := flag.String("device", "cpu", "devices of mine train, separated by commas; the first is compared with PyTorch")
	_ = flag.CommandLine.Parse(args)
	return timeSteps(ctx, *python, *script, *library, strings.Split(*devices, ","), *rounds, *threads, *dropout)
}

// stepper runs one step and tells how long it took: on the clock, and of the processors' time, which a busy machine
// changes less.
type stepper struct {
	name       string
	step       func() (wall, cpu float64, err error) // seconds
	wall, cpus []float64
}

func timeSteps(ctx context.Context, python, script, library string, devices []string, rounds, threads int, dropout float64) (err error) {
	var steppers []*stepper
	for _, name := range devices {
		ours, err := newOurs(ctx, name, library, dropout)
		if err != nil {
			return err
		}
		steppers = append(steppers, ours)
	}
	if python != "" {
		torch, stop, failure := newTorch(python, script, threads, dropout)
		if failure != nil {
			return failure
		}
		defer func() { err = errors.Join(err, stop()) }()
		steppers = append(steppers, torch)
	}
	for i := range rounds + 2 {
		for _, s := range steppers {
			wall, cpu, err := s.step()
			if err != nil {
				return fmt.Errorf("%s: %w", s.name, err)
			}
			if i >= 2 { // the first compile and fill caches
				s.wall, s.cpus = append(s.wall, wall), append(s.cpus, cpu)
			}
		}
	}
	for _, s := range steppers {
		slices.Sort(s.wall)
		slices.Sort(s.cpus)
		fmt.Printf("%-8s min %6.0f ms   median %6.0f ms   processors min %6.0f ms   median %6.0f ms\n", s.name,
			1000*s.wall[0], 1000*median(s.wall), 1000*s.cpus[0], 1000*median(s.cpus))
	}
	if a, b := steppers[0], steppers[len(steppers)-1]; python != "" {
		fmt.Printf("mine / torch: min %.2f, median %.2f; processors min %.2f, median %.2f\n",
			a.wall[0]/b.wall[0], median(a.wall)/median(b.wall), a.cpus[0]/b.cpus[0], median(a.cpus)/median(b.cpus))
	}
	return nil
}

func median(sorted []float64) float64 { return sorted[len(sorted)/2] }

func newOurs(ctx context.Context, on, library string, dropout float64) (*stepper, error) {
	backend, err := device.Open(on, library)
	if err != nil {
		return nil, err
	}
	s := encoder.DefaultSettings()
	s.Vocabulary, s.Dropout = words, dropout
	var all []*weights.Tensor
	for _, spec := range s.Specs() {
		all = append(all, weights.New(spec, 1))
	}
	t, err := encoder.NewTransformer(s, backend, all)
	if err != nil {
		return nil, err
	}
	loss, err := objective.Default("contrastive").Build(objective.Training{Dim: s.Width, Width: s.Width, Vocabulary: words, Languages: []string{"en"}})
	if err != nil {
		return nil, err
	}
	steps := step.New(t, loss, nil, backend, step.Options{})
	b := &data.Batch{Views: []data.Side{side(1), side(2)}}
	n := 0
	return &stepper{name: "mine " + on, step: func() (float64, float64, error) {
		n++
		for _, w := range all {
			w.ZeroGrad()
		}
		before := usage.CPUSeconds()
		start := time.Now()
		if _, err := steps.Run(ctx, b, layers.Seed(1, n, 0)); err != nil {
			return 0, 0, err
		}
		wall := time.Since(start).Seconds()
		return wall, usage.CPUSeconds() - before, nil
	}}, nil
}

// side is full sentences of random words.
func side(seed uint64) data.Side {
	rng := rand.New(rand.NewPCG(seed, 0))
	s := data.Side{N: pairs, Length: tokens}
	for range pairs {
		s.Lengths = append(s.Lengths, tokens)
		for range tokens {
			s.IDs = append(s.IDs, rng.Int32N(words))
		}
	}
	return s
}

// newTorch starts the script, which runs one step for every line it reads and answers with its seconds.
func newTorch(python, script string, threads int, dropout float64) (*stepper, func() error, error) {
	cmd := exec.Command(python, script, strconv.FormatFloat(dropout, 'g', -1, 64), strconv.Itoa(threads))
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, nil, err
	}
	lines := bufio.NewReader(out)
	step := func() (wall, cpu float64, err error) {
		if _, err := io.WriteString(in, "step\n"); err != nil {
			return 0, 0, err
		}
		line, err := lines.ReadString('\n')
		if err != nil {
			return 0, 0, err
		}
		_, err = fmt.Sscan(line, &wall, &cpu)
		return wall, cpu, err
	}
	stop := func() error { return errors.Join(in.Close(), cmd.Wait()) }
	return &stepper{name: "torch", step: step}, stop, nil
}
