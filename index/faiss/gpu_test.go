//go:build faissgpu

package faiss

import (
	"testing"

	"bitextmine/index"
	"bitextmine/index/indextest"
)

func TestGPUConformance(t *testing.T) {
	if _, err := GPUs(); err != nil {
		t.Skip(err)
	}
	for name, opts := range map[string]Options{"float32": {}, "float16": {Float16: true}} {
		t.Run(name, func(t *testing.T) {
			indextest.RunExact(t, func(threads int) (index.Searcher, error) {
				opts.Threads = threads
				return OpenGPU("Flat", opts)
			})
		})
	}
	t.Run("inverted lists", func(t *testing.T) {
		indextest.Run(t, func(threads int) (index.Searcher, error) {
			return OpenGPU("IVF16,Flat", Options{Threads: threads, NProbe: 4})
		})
	})
}
