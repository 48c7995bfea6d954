// Command step times a training step of a transformer against the same step in PyTorch, by turns in one run.
//
// The step: a transformer of 4 layers, 256 wide, 4 heads, FFN 1,024, dropout 0.1; 64 pairs of 32 tokens each side; forward, contrastive loss over
// normalised vectors, backward to the gradients of every weight. No optimiser.
package main

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"

	"bitextmine/train/data"
	"bitextmine/train/device"
	"bitextmine/train/encoder"
	"bitextmine/train/weights"
)

const (
	pairs  = 64
	tokens = 32
	words  = 8000
)

func main() {
	python := flag.String("python", "/usr/bin/python3", "a Python with PyTorch; empty: none")
	script := flag.String("script", "bench/step/step.py", "the step in PyTorch")
	library := flag.String("onnxruntime", "bin/libonnxruntime.so", "ONNX Runtime's library")
	rounds := flag.Int("rounds", 10, "timed steps of each")
	dropout := flag.Float64("dropout", 0.1, "dropout of both")
	flag.Parse()
	if err := run(*python, *script, *library, *rounds, *dropout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// stepper runs one step and tells how long it took.
type stepper struct {
	name  string
	step  func() (time.Duration, error)
	times []time.Duration
}

func run(python, script, library string, rounds int, dropout float64) error {
	ours, err := newOurs(library, dropout)
	if err != nil {
		return err
	}
	steppers := []*stepper{ours}
	if python != "" {
		torch, stop, err := newTorch(python, script, dropout)
		if err != nil {
			return err
		}
		defer stop()
		steppers = append(steppers, torch)
	}
	for i := range rounds + 2 {
		for _, s := range steppers {
			took, err := s.step()
			if err != nil {
				return fmt.Errorf("%s: %w", s.name, err)
			}
			if i >= 2 { // the first compile and fill caches
				s.times = append(s.times, took)
			}
		}
	}
	for _, s := range steppers {
		slices.Sort(s.times)
		fmt.Printf("%-8s min %7.1f ms   median %7.1f ms\n", s.name, ms(s.times[0]), ms(s.times[len(s.times)/2]))
	}
	if len(steppers) == 2 {
		a, b := steppers[0].times, steppers[1].times
		fmt.Printf("mine / torch: min %.2f, median %.2f\n", ms(a[0])/ms(b[0]), ms(a[len(a)/2])/ms(b[len(b)/2]))
	}
	return nil
}

func ms(d time.Duration) float64 { return d.Seconds() * 1000 }

func newOurs(library string, dropout float64) (*stepper, error) {
	backend, err := device.Open("cpu", library)
	if err != nil {
		return nil, err
	}
	s := encoder.Defaults()
	s.Vocabulary, s.Dropout = words, dropout
	var all []*weights.Tensor
	for _, spec := range s.Specs() {
		all = append(all, weights.New(spec, 1))
	}
	t, err := encoder.NewTransformer(s, backend, all)
	if err != nil {
		return nil, err
	}
	step := t.NewStep(contrastive{}, nil)
	b := &data.Batch{Source: side(1), Target: side(2)}
	n := 0
	return &stepper{name: "mine", step: func() (time.Duration, error) {
		n++
		for _, w := range all {
			w.ZeroGrad()
		}
		start := time.Now()
		_, err := step.Run(context.Background(), b, encoder.Seed(1, n, 0))
		return time.Since(start), err
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
func newTorch(python, script string, dropout float64) (*stepper, func(), error) {
	cmd := exec.Command(python, script, strconv.FormatFloat(dropout, 'g', -1, 64))
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
	step := func() (time.Duration, error) {
		if _, err := io.WriteString(in, "step\n"); err != nil {
			return 0, err
		}
		line, err := lines.ReadString('\n')
		if err != nil {
			return 0, err
		}
		seconds, err := strconv.ParseFloat(strings.TrimSpace(line), 64)
		return time.Duration(seconds * float64(time.Second)), err
	}
	stop := func() {
		in.Close()
		cmd.Wait()
	}
	return &stepper{name: "torch", step: step}, stop, nil
}
