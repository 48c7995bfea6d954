package encode

import (
	"log/slog"
	"runtime"

	"bitextmine/encode/gpu"
	"bitextmine/internal/badinput"
)

// Options are the settings of a running encoder. On the CPU none of them changes a vector. On GPUs the device, the
// token budget and the window may change the last bits.
type Options struct {
	// Device computes the vectors; the zero Device is the CPU. Token vectors and the tables of static encoders are
	// always computed on the CPU.
	Device gpu.Device
	// OnCPU says that this encoder computes on the CPU, beside others that compute on Device: one library must serve
	// them all.
	OnCPU bool
	// Log gets warnings; nil: slog.Default.
	Log *slog.Logger
	// Threads is the number of batches that run at once; 0 means one for each CPU. On GPUs it is the number of threads
	// that tokenise.
	Threads int
	// Library is the path of libonnxruntime.so. If it is empty, MINE_ONNXRUNTIME, the program's directory and the
	// user's cache are searched.
	Library string
	// TokenBudget is the maximum number of tokens in a batch; 0 means DefaultTokenBudget.
	TokenBudget int
	// Window is the number of sentences that are sorted by length together; 0 means DefaultWindow, and fewer for the
	// table of a static encoder, where nothing is sorted.
	Window int
}

// DefaultTokenBudget keeps a batch's activations in the second-level cache. Larger batches gain nothing on a CPU.
const DefaultTokenBudget = 1024

// gpuTokenBudget fills a GPU. If its memory is too small, batches are halved until they fit.
const gpuTokenBudget = 16384

// gpuWindow has, of most lengths, enough sentences for a whole batch on a GPU.
const gpuWindow = 32768

// DefaultWindow is large enough that almost every batch is filled with sentences of one length.
const DefaultWindow = 16384

// tableWindow is the number of sentences for each thread of a static encoder: all of them have work, and vectors are
// still in the cache when they are written.
const tableWindow = 1024

// Validate reports all settings that are not valid.
func (o Options) Validate() error {
	if o.Threads < 0 || o.TokenBudget < 0 || o.Window < 0 {
		return badinput.Errorf(
			"encoder options: threads %d, token budget %d and window %d must not be negative; 0 is the default",
			o.Threads, o.TokenBudget, o.Window)
	}
	return nil
}

func (o Options) withDefaults() Options {
	if o.Threads == 0 {
		o.Threads = runtime.GOMAXPROCS(0)
	}
	budget, window := DefaultTokenBudget, DefaultWindow
	if o.onGPU() {
		budget, window = gpuTokenBudget, gpuWindow
	}
	if o.TokenBudget == 0 {
		o.TokenBudget = budget
	}
	if o.Window == 0 {
		o.Window = window
	}
	if o.Log == nil {
		o.Log = slog.Default()
	}
	return o
}

func (o Options) onGPU() bool { return !o.Device.OnCPU() && !o.OnCPU }

// onCPU are the options of what is never computed on a GPU.
func (o Options) onCPU() Options {
	o.OnCPU = true
	return o
}
