// Package quiet keeps go-xla from writing an error on standard error as every command begins, where there is no home
// directory to look for plugins in: the program names its plugins otherwise. It holds the log of go-xla back from its
// own initialisation on, which comes before that of go-xla, since Go initialises packages whose imports are ready in
// the order of their paths. Package pjrt lets the log through again.
package quiet

import (
	"log/slog"
	"os"

	"k8s.io/klog/v2"
)

func init() {
	if _, err := os.UserHomeDir(); err != nil {
		klog.SetSlogLogger(slog.New(slog.DiscardHandler))
	}
}

// End lets what is logged through.
func End() { klog.ClearLogger() }
