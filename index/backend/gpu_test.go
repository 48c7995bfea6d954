//go:build faissgpu

package backend_test

import (
	"testing"

	"bitextmine/index"
	"bitextmine/index/approximate"
	"bitextmine/index/faiss"
)

// TestGPUConformance is TestConformance with FAISS on a GPU.
func TestGPUConformance(t *testing.T) {
	if _, err := faiss.GPUs(); err != nil {
		t.Skip(err)
	}
	for name, opts := range map[string]faiss.Options{"float32": {}, "float16": {Float16: true}} {
		t.Run(name, func(t *testing.T) {
			runExact(t, func(threads int) (index.Searcher, error) {
				opts.Threads = threads
				return faiss.OpenGPU("Flat", opts)
			})
		})
	}
	t.Run("inverted lists", func(t *testing.T) {
		run(t, func(threads int) (index.Searcher, error) {
			return faiss.OpenGPU("IVF16,Flat", faiss.Options{Threads: threads, Settings: approximate.Settings{NProbe: 4}})
		})
	})
}
