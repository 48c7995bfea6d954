package train

import (
	"testing"

	"bitextmine/internal/pjrt/pjrttest"
	"bitextmine/train/device"
	"bitextmine/train/layers"
)

// BenchmarkDevices times whole steps of every system at its small preset, with the optimiser, in processor time: on
// ONNX Runtime, and on a PJRT plugin with the weights on the host and on the device.
//
//	MINE_TRAIN_DATA=data MINE_TEST_PJRT=plugin.so go test -run '^$' -bench Devices -benchtime 1x ./train
func BenchmarkDevices(b *testing.B) {
	plugin := "xla:" + pjrttest.Plugin(b)
	eachShort(b, func(b *testing.B, c Config) {
		for _, on := range []struct{ what, opened, named string }{{"cpu", "cpu", "cpu"}, {"host", plugin, "cpu"}, {"device", plugin, plugin}} {
			backend, err := device.Open(on.opened, "")
			if err != nil {
				b.Fatal(err)
			}
			t := ready(b, c, on.named, backend)
			batch, n := t.batches.Next(), 0
			least := seconds(b, 6, func() error {
				n++
				if _, err := t.steps.Run(b.Context(), batch, layers.Seed(1, n, 0)); err != nil {
					return err
				}
				_, err := t.optimiser.Step(n, c.Steps, 1)
				return err
			})
			b.ReportMetric(1000*least, on.what+"-ms")
			if err := t.resident.Release(); err != nil {
				b.Fatal(err)
			}
			backend.Finalize()
		}
	})
}
