package encode

import (
	"runtime"

	"bitextmine/internal/badinput"
)

// Options are the settings of a running encoder. None of them changes a vector.
type Options struct {
	// Threads is the number of batches that run at once; 0 means one for each CPU.
	Threads int
	// Library is the path of libonnxruntime.so. If it is empty, MINE_ONNXRUNTIME, the program's directory and the
	// user's cache are searched.
	Library string
	// TokenBudget is the maximum number of tokens in a batch; 0 means DefaultTokenBudget.
	TokenBudget int
	// Window is the number of sentences that are sorted by length together; 0 means DefaultWindow.
	Window int
}

// DefaultTokenBudget keeps a batch's activations in the second-level cache. Larger batches gain nothing on a CPU.
const DefaultTokenBudget = 1024

// DefaultWindow is large enough that almost every batch is filled with sentences of one length.
const DefaultWindow = 16384

// Validate reports all settings that are not valid.
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
