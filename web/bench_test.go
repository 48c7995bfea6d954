package web

import (
	"path/filepath"
	"testing"

	"bitextmine/internal/usage"
	"bitextmine/web/webtest"
)

// BenchmarkReport writes the report of a run with a million pairs.
func BenchmarkReport(b *testing.B) {
	dir := filepath.Join(b.TempDir(), "run")
	webtest.Run(b, dir, 1_000_000)
	begin := usage.CPUSeconds()
	for b.Loop() {
		if _, err := Report(b.Context(), dir, "test", nil); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric((usage.CPUSeconds()-begin)/float64(b.N), "CPU-s/op")
}

// BenchmarkPages asks for pages of a run with a million pairs.
func BenchmarkPages(b *testing.B) {
	dir := filepath.Join(b.TempDir(), "run")
	webtest.Run(b, dir, 1_000_000)
	_, ts := served(b, dir)
	for _, path := range []string{"/", "/pairs?order=near&from=500000", "/pair/777777", "/review/card?order=random&at=1000&step=undecided", "/search?q=Haus+777777"} {
		b.Run(path, func(b *testing.B) {
			begin := usage.CPUSeconds()
			for b.Loop() {
				if status, _ := get(b, ts, path); status != 200 {
					b.Fatalf("status %d", status)
				}
			}
			b.ReportMetric((usage.CPUSeconds()-begin)/float64(b.N), "CPU-s/op")
		})
	}
}
