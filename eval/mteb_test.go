package eval

import (
	"fmt"
	"math"
	"testing"

	"bitextmine/eval/testset"
)

// TestAgainstMTEB compares three protocols with MTEB's own tasks on the same vectors (testdata/oracle/mteb_tasks.py).
func TestAgainstMTEB(t *testing.T) {
	type vectors struct{ A, B [][]float32 }
	var golden struct {
		Bitext []struct {
			vectors
			Want struct{ Precision, Recall, F1, Accuracy float64 }
		}
		Pairs []struct {
			vectors
			Labels []int
			Want   struct{ Accuracy, F1, AP float64 }
		}
		STS []struct {
			vectors
			Gold []float64
			Want struct{ Pearson, Spearman float64 }
		}
	}
	readGolden(t, "mteb", &golden)
	if len(golden.Bitext) == 0 || len(golden.Pairs) == 0 || len(golden.STS) == 0 {
		t.Fatal("the golden file lacks a protocol")
	}
	for i, g := range golden.Bitext {
		half := Half{Source: encoded(g.A), Target: encoded(g.B)}
		for k := range g.A {
			half.Gold = append(half.Gold, [2]int32{int32(k), int32(k)})
		}
		got, err := ScoreBUCCMTEB(t.Context(), exactSearch{}, half)
		if err != nil {
			t.Fatal(err)
		}
		if !near(got.F1, 100*g.Want.F1) || !near(got.Precision, 100*g.Want.Precision) || !near(got.Recall, 100*g.Want.Recall) {
			t.Errorf("bitext %d: %+v, MTEB has %+v", i, got, g.Want)
		}
	}
	for i, g := range golden.Pairs {
		var pairs []judgedPair
		for k, c := range pairCosines(encoded(g.A).Rows, encoded(g.B).Rows) {
			pairs = append(pairs, judgedPair{c, g.Labels[k] == 1})
		}
		got := classify(pairs)
		if !near(got.precision, 100*g.Want.AP) || !near(got.accuracy, 100*g.Want.Accuracy) || !near(got.f1, 100*g.Want.F1) {
			t.Errorf("pairs %d: %+v, MTEB has %+v", i, got, g.Want)
		}
	}
	for i, g := range golden.STS {
		got := CorrelationOf(g.Gold, pairCosines(encoded(g.A).Rows, encoded(g.B).Rows))
		// MTEB's cosines are float32.
		if math.Abs(got.Pearson-100*g.Want.Pearson) > 1e-4 || !near(got.Spearman, 100*g.Want.Spearman) {
			t.Errorf("sts %d: %+v, MTEB has %+v", i, got, g.Want)
		}
	}
}

// encoded is rows [n, dim] of texts that are all different.
func encoded(rows [][]float32) testset.EncodedSide {
	side := goldenSide{Vectors: rows}
	for i := range rows {
		side.Texts = append(side.Texts, fmt.Sprint(i))
	}
	return side.vectors()
}

// TestMTEBPublishedFigures reconstructs the predictions of MTEB's published BUCC results from integers: the number of
// queries, how many were correct, and how many of these shared their predicted target with other queries. No other
// numbers give the published precision. The F1 must then be the published one.
func TestMTEBPublishedFigures(t *testing.T) {
	for _, c := range []struct {
		model, pair           string
		queries, correct      int
		two, three, four      int // correct answers whose target 2, 3 or 4 queries predicted
		precision, f1, recall float64
	}{
		{"LaBSE", "de-en", 9580, 9525, 22, 0, 0, 0.9931106471816284, 0.9934933890048714, 0.994258872651357},
		{"LaBSE", "fr-en", 9086, 8982, 38, 0, 0, 0.9864626898525204, 0.9871597329224446, 0.9885538190622937},
		{"LaBSE", "ru-en", 14435, 14139, 72, 1, 1, 0.976902205288073, 0.9777554554901281, 0.9794942847246276},
		{"LaBSE", "zh-en", 1899, 1884, 3, 0, 0, 0.9913112164296999, 0.9915745129015271, 0.9921011058451816},
		{"LASER2", "de-en", 9580, 9510, 17, 0, 0, 0.9918058455114822, 0.9921016005567153, 0.9926931106471816},
		{"LASER2", "fr-en", 9086, 8953, 40, 0, 0, 0.9831609068897205, 0.9838946364370093, 0.985362095531587},
		{"LASER2", "ru-en", 14435, 14109, 52, 0, 0, 0.9756148250779356, 0.9762152176423046, 0.9774160027710426},
		{"LASER2", "zh-en", 1899, 1857, 5, 0, 0, 0.9765666140073723, 0.9770054414604177, 0.9778830963665087},
	} {
		t.Run(fmt.Sprintf("%s %s", c.model, c.pair), func(t *testing.T) {
			labels, predictions := make([]int32, c.queries), make([]int32, c.queries)
			for i := range labels {
				labels[i] = int32(i)
				predictions[i] = int32(i)
			}
			// Wrong queries predict the first correct targets; the others predict sentences that no query has.
			wrong, crowded := c.correct, int32(0)
			crowd := func(targets, others int) {
				for range targets {
					for range others {
						predictions[wrong] = crowded
						wrong++
					}
					crowded++
				}
			}
			crowd(c.two, 1)
			crowd(c.three, 2)
			crowd(c.four, 3)
			for ; wrong < c.queries; wrong++ {
				predictions[wrong] = int32(c.queries + wrong)
			}
			got := WeightedF1(labels, predictions)
			if got.Correct != c.correct || got.Queries != c.queries {
				t.Fatalf("%d of %d correct, want %d of %d", got.Correct, got.Queries, c.correct, c.queries)
			}
			for _, figure := range []struct {
				name      string
				got, want float64
			}{{"F1", got.F1, c.f1}, {"precision", got.Precision, c.precision}, {"recall", got.Recall, c.recall}} {
				if math.Abs(figure.got-100*figure.want) > 1e-9 {
					t.Errorf("%s = %.12f, published %.12f", figure.name, figure.got, 100*figure.want)
				}
			}
		})
	}
}

// TestWeightedF1WithRepeatedLabels checks that a target of two gold pairs has support 2 (computed by hand).
func TestWeightedF1WithRepeatedLabels(t *testing.T) {
	got := WeightedF1([]int32{1, 1, 2}, []int32{1, 3, 1})
	// Label 1: P 1/2, R 1/2, F1 1/2, support 2. Label 2: 0.
	if !near(got.Precision, 100.0/3) || !near(got.Recall, 100.0/3) || !near(got.F1, 100.0/3) {
		t.Errorf("%+v, want a third each", got)
	}
}
