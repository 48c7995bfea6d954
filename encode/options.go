package encode

import (
	"runtime"

	"bitextmine/internal/badinput"
)

// Options say how an encoder runs. None of them changes a vector.
type Options struct {
	// Threads is how many sentences' batches are worked on at once; 0 is one for each CPU.
	Threads int
	// Library is the path of libonnxruntime.so; empty looks in MINE_ONNXRUNTIME, beside the program and in the user's cache.
	Library string
	// TokenBudget is the most tokens in a batch; 0 is DefaultTokenBudget.
	TokenBudget int
	// Window is how many sentences are sorted by length together; 0 is DefaultWindow.
	Window int
}

// DefaultTokenBudget keeps a batch's activations in the second-level cache; larger batches gain nothing on a CPU.
const DefaultTokenBudget = 1024

// DefaultWindow is enough sentences that almost every batch fills its budget with one length.
const DefaultWindow = 16384

// Validate reports every setting that cannot be used.
func (o Options) Validate() error {
	if o.Threads < 0 || o.TokenBudget < 0 || o.Window < 0 {
		return badinput.Errorf("encoder options: threads %d, token budget %d and window %d must not be negative; 0 is the default",
			o.Threads, o.TokenBudget, o.Window)
	}
	return nil
}

func (o Options) withDefaults() Options {
	if o.Threads == 0 {
		o.Threads = runtime.GOMAXPROCS(0)
	}
	if o.TokenBudget == 0 {
		o.TokenBudget = DefaultTokenBudget
	}
	if o.Window == 0 {
		o.Window = DefaultWindow
	}
	return o
}
