// Command compare compares the program with other programs, and its modes with each other:
//
//	scripts/bench compare run -src SRC -tgt TGT -python PYTHON [-n 5]     a whole run with Python's libraries
//	scripts/bench compare step [-device cpu]                              a training step with PyTorch
//	scripts/bench compare documents -src de -tgt fr -dir vecalign/bleualign_data
//	scripts/bench compare documents -src de -tgt en -src-text dev.de,devtest.de -tgt-text dev.en,devtest.en
package main

import (
	"context"
	"fmt"
	"os"
)

var comparisons = map[string]func(ctx context.Context, args []string) error{
	"run": compareRuns, "step": compareSteps, "documents": compareDocuments,
}

func main() {
	if len(os.Args) < 2 || comparisons[os.Args[1]] == nil {
		fmt.Fprintln(os.Stderr, "bench/compare: the first argument is run, step or documents")
		os.Exit(2)
	}
	if err := comparisons[os.Args[1]](context.Background(), os.Args[2:]); err != nil {
		fmt.Fprintf(os.Stderr, "bench/compare %s: %v\n", os.Args[1], err)
		os.Exit(1)
	}
}
