package encode

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"bitextmine/encode/model"
	"bitextmine/fixtures"
)

func open(t testing.TB, options Options) *Encoder {
	t.Helper()
	return openModel(t, fixtures.Encoder, options)
}

func openModel(t testing.TB, ref string, options Options) *Encoder {
	t.Helper()
	model, err := model.Load(ref)
	if err != nil {
		t.Fatal(err)
	}
	e, err := Open(model, options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return e
}

// sentences makes n sentences of 1 to 60 words that the tokenizer knows. The same seed gives the same sentences.
func sentences(n int, seed uint64) []string {
	words := strings.Fields(`the ferry leaves at seven every morning and returns before dark der Hafen wurde im Winter geschlossen weil das Eis
		zu dick war la mairie a publié hier les résultats du vote 彼女は駅で新聞を買った 我们明天去图书馆 los niños juegan en el patio 1984 3.5 % (a) "so" Zürich naïve œuvre`)
	rng := rand.New(rand.NewPCG(seed, 1))
	out := make([]string, n)
	for i := range out {
		length := 1 + rng.IntN(60)
		picked := make([]string, length)
		for j := range picked {
			picked[j] = words[rng.IntN(len(words))]
		}
		out[i] = strings.Join(picked, " ")
	}
	return out
}

func encodeAll(t testing.TB, e *Encoder, texts []string) []float32 {
	t.Helper()
	rows := make([]float32, len(texts)*e.Dim())
	if err := e.Encode(context.Background(), "en", texts, rows); err != nil {
		t.Fatal(err)
	}
	return rows
}

// A vector depends on its sentence alone: it has the same bits in any batch.
func TestVectorDoesNotDependOnBatch(t *testing.T) {
	texts := append(sentences(3000, 1), "", " ", "a", "\u0001", strings.Repeat("very ", 500)+"long")
	e := open(t, Options{Threads: 1})
	want, dim := encodeAll(t, e, texts), e.Dim()
	for _, options := range []Options{
		{Threads: 4},
		{Threads: 1, TokenBudget: 1},
		{Threads: 2, TokenBudget: 64, Window: 7},
		{Threads: 3, TokenBudget: 100000, Window: 700},
	} {
		t.Run(fmt.Sprintf("%+v", options), func(t *testing.T) {
			got := encodeAll(t, open(t, options), texts)
			compare(t, got, want, dim)
		})
	}
	t.Run("alone and shuffled", func(t *testing.T) {
		e := open(t, Options{})
		for _, i := range []int{0, 17, 2999, 3000, 3001, 3002, 3003, 3004} {
			compare(t, encodeAll(t, e, texts[i:i+1]), want[i*dim:(i+1)*dim], dim)
		}
		order := rand.New(rand.NewPCG(2, 2)).Perm(len(texts))
		shuffled, wantShuffled := make([]string, 0, len(texts)), make([]float32, 0, len(want))
		for _, i := range order {
			shuffled = append(shuffled, texts[i])
			wantShuffled = append(wantShuffled, want[i*dim:(i+1)*dim]...)
		}
		compare(t, encodeAll(t, e, shuffled), wantShuffled, dim)
	})
}

func compare(t *testing.T, got, want []float32, dim int) {
	t.Helper()
	bits := func(a, b float32) bool { return math.Float32bits(a) == math.Float32bits(b) }
	if len(got) != len(want) {
		t.Fatalf("%d values instead of %d", len(got), len(want))
	}
	bad := 0
	for i := 0; i < len(got); i += dim {
		if !slices.EqualFunc(got[i:i+dim], want[i:i+dim], bits) {
			bad++
		}
	}
	if bad > 0 {
		t.Errorf("%d of %d rows differ", bad, len(got)/dim)
	}
}

func TestVectorsAreUnit(t *testing.T) {
	e := open(t, Options{})
	rows := encodeAll(t, e, append(sentences(300, 3), "", "\u200b", "🦆🦆"))
	for i := 0; i < len(rows); i += e.Dim() {
		sum := 0.0
		for _, x := range rows[i : i+e.Dim()] {
			sum += float64(x) * float64(x)
		}
		if math.Abs(sum-1) > 4e-6 { // the graph sums dim squares in float32
			t.Errorf("row %d has squared norm %v", i/e.Dim(), sum)
		}
	}
}

func BenchmarkEncode(b *testing.B) {
	texts := sentences(20000, 4)
	for _, threads := range []int{1, 2} {
		b.Run(fmt.Sprintf("threads=%d", threads), func(b *testing.B) {
			e := open(b, Options{Threads: threads})
			rows := make([]float32, len(texts)*e.Dim())
			b.ReportAllocs()
			for b.Loop() {
				if err := e.Encode(context.Background(), "en", texts, rows); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(len(texts)*b.N)/b.Elapsed().Seconds(), "sentences/s")
		})
	}
}
