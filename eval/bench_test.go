package eval

import (
	"testing"

	"bitextmine/eval/report"
	"bitextmine/eval/testset"
)

// BenchmarkArrange measures the preparation of a side before the search.
func BenchmarkArrange(b *testing.B) {
	half := randomHalf(1, 20_000, 20_000, 64)
	for b.Loop() {
		if arrange(half.Source, true).rows.N == 0 {
			b.Fatal("no rows")
		}
	}
	b.ReportMetric(float64(b.N)*20_000/b.Elapsed().Seconds(), "sentences/s")
}

func BenchmarkScoreBUCC(b *testing.B) {
	pairs := make([]report.Scored, 100_000)
	for i := range pairs {
		pairs[i] = report.Scored{Score: 2 - float64(i)*1e-5, Correct: i%3 == 0}
	}
	mined := Mined{Half: testset.Train, Pairs: pairs, Gold: 40_000}
	for b.Loop() {
		if ScoreBUCC(mined, mined).Correct == 0 {
			b.Fatal("nothing correct")
		}
	}
	b.ReportMetric(float64(b.N)*100_000/b.Elapsed().Seconds(), "pairs/s")
}
