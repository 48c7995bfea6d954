package eval

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"bitextmine/encode/embedding"
	"bitextmine/eval/report"
	"bitextmine/eval/testset"

	"bitextmine/index"
	"bitextmine/mine"
)

// randomHalf draws a half with known pairs. Every seventh source has the text and vector of another.
func randomHalf(seed uint64, n, m, dim int) Half {
	rng := rand.New(rand.NewPCG(seed, 3))
	vector := func() []float32 {
		v := make([]float32, dim)
		for i := range v {
			v[i] = float32(rng.NormFloat64() + 0.3)
		}
		return v
	}
	half := Half{Name: "train"}
	var xs, ys [][]float32
	for i := range n {
		xs = append(xs, vector())
		text := fmt.Sprintf("s%d", i)
		if i%7 == 6 {
			copy(xs[i], xs[i-1])
			text = half.Source.Texts[i-1]
		}
		half.Source.Texts = append(half.Source.Texts, text)
		half.Source.IDs = append(half.Source.IDs, fmt.Sprintf("x%04d", i))
	}
	for j := range m {
		ys = append(ys, vector())
		if j < n && j%3 == 0 {
			for d := range dim {
				ys[j][d] = xs[j][d] + 0.4*ys[j][d]
			}
			half.Gold = append(half.Gold, [2]int32{int32(j), int32(j)})
		}
		half.Target.Texts = append(half.Target.Texts, fmt.Sprintf("t%d", j))
		half.Target.IDs = append(half.Target.IDs, fmt.Sprintf("y%04d", j))
	}
	half.Source.Rows, half.Target.Rows = unitRows(xs), unitRows(ys)
	return half
}

func unitRows(rows [][]float32) embedding.Matrix {
	var out []float32
	for _, row := range rows {
		norm := 0.0
		for _, v := range row {
			norm += float64(v) * float64(v)
		}
		for _, v := range row {
			out = append(out, float32(float64(v)/math.Sqrt(norm)))
		}
	}
	return embedding.FromFloat32(out, len(rows[0]))
}

func shuffledSide(v testset.EncodedSide, rng *rand.Rand) (testset.EncodedSide, []int32) {
	order := make([]int32, len(v.Texts))
	for i, p := range rng.Perm(len(order)) {
		order[i] = int32(p)
	}
	out := testset.EncodedSide{Side: testset.Side{Language: v.Language}, Rows: testset.Gather(v.Rows, order)}
	place := make([]int32, len(order))
	for i, from := range order {
		out.Texts = append(out.Texts, v.Texts[from])
		out.IDs = append(out.IDs, v.IDs[from])
		place[from] = int32(i)
	}
	return out, place
}

func shuffledHalf(half Half, seed uint64) Half {
	rng := rand.New(rand.NewPCG(seed, 9))
	source, atSource := shuffledSide(half.Source, rng)
	target, atTarget := shuffledSide(half.Target, rng)
	out := Half{Name: half.Name, Source: source, Target: target}
	for _, g := range half.Gold {
		out.Gold = append(out.Gold, [2]int32{atSource[g[0]], atTarget[g[1]]})
	}
	rng.Shuffle(len(out.Gold), func(i, j int) { out.Gold[i], out.Gold[j] = out.Gold[j], out.Gold[i] })
	return out
}

type named struct {
	source, target string
	score          float64
	correct        bool
}

func byName(half Half, pairs []report.Scored) []named {
	out := make([]named, len(pairs))
	for i, p := range pairs {
		out[i] = named{half.Source.IDs[p.Source], half.Target.IDs[p.Target], p.Score, p.Correct}
	}
	return out
}

var miners = map[string]Miner{BUCCLaser.Name: MineBUCCLaser, BUCCST.Name: MineBUCCST, BUCCCosine.Name: MineBUCCCosine}

// TestResultsDoNotDependOnRowOrder checks for the same pairs with the same scores in the same order, bit for bit.
func TestResultsDoNotDependOnRowOrder(t *testing.T) {
	for seed := range uint64(10) {
		half := randomHalf(seed, 50, 65, 6)
		shuffled := shuffledHalf(half, seed)
		for name, miner := range miners {
			a, errA := miner(t.Context(), exactSearch{}, half)
			b, errB := miner(t.Context(), exactSearch{}, shuffled)
			if errA != nil || errB != nil {
				t.Fatal(errA, errB)
			}
			if !slices.Equal(byName(half, a.Pairs), byName(shuffled, b.Pairs)) {
				t.Errorf("seed %d: %s finds other pairs when the rows are shuffled", seed, name)
			}
		}
		a, errA := ScoreBUCCMTEB(t.Context(), exactSearch{}, half)
		b, errB := ScoreBUCCMTEB(t.Context(), exactSearch{}, shuffled)
		if errA != nil || errB != nil || a.Correct != b.Correct || !near(a.F1, b.F1) {
			t.Errorf("seed %d: bucc-mteb %+v, shuffled %+v (%v, %v)", seed, a, b, errA, errB)
		}
	}
}

// shardedSearch searches cell by cell and merges the lists of each row.
type shardedSearch struct{ size int }

func (shardedSearch) Name() string { return "sharded" }

func (s shardedSearch) Search(ctx context.Context, src, tgt index.Side, k int, _ func(float64)) (index.Result, error) {
	out := index.Result{Source: mine.NewNeighbours(src.Vectors.N, k), Target: mine.NewNeighbours(tgt.Vectors.N, k)}
	for i := 0; i < src.Vectors.N; i += s.size {
		for j := 0; j < tgt.Vectors.N; j += s.size {
			a, b := cut(src.Vectors, i, s.size), cut(tgt.Vectors, j, s.size)
			cell, err := exactSearch{}.Search(ctx, index.Side{Vectors: a}, index.Side{Vectors: b}, k, nil)
			if err != nil {
				return out, err
			}
			merge(out.Source, cell.Source, i, j)
			merge(out.Target, cell.Target, j, i)
		}
	}
	return out, nil
}

func cut(m embedding.Matrix, from, size int) embedding.Matrix {
	to := min(from+size, m.N)
	return embedding.FromFloat32(m.F32[from*m.Dim:to*m.Dim], m.Dim)
}

// merge adds a cell's lists, whose rows start at row and whose ids start at id, to the lists of the whole side.
func merge(whole, cell mine.Neighbours, row, id int) {
	type entry struct {
		id     int32
		cosine float32
	}
	for i := range cell.Len() {
		var entries []entry
		add := func(nb mine.Neighbours, at, offset int) {
			ids, cosines := nb.Row(at)
			for j := range ids {
				if ids[j] != mine.None {
					entries = append(entries, entry{ids[j] + int32(offset), cosines[j]})
				}
			}
		}
		add(whole, row+i, 0)
		add(cell, i, id)
		slices.SortFunc(entries, func(a, b entry) int { return cmp.Or(cmp.Compare(b.cosine, a.cosine), cmp.Compare(a.id, b.id)) })
		ids, cosines := whole.Row(row + i)
		for j := range min(len(entries), whole.K) {
			ids[j], cosines[j] = entries[j].id, entries[j].cosine
		}
	}
}

// TestMarginsDoNotDependOnSharding checks that cells of any size, merged, give the same margins as one search.
func TestMarginsDoNotDependOnSharding(t *testing.T) {
	half := randomHalf(4, 40, 55, 6)
	want, err := MineBUCCLaser(t.Context(), exactSearch{}, half)
	if err != nil {
		t.Fatal(err)
	}
	for _, size := range []int{1, 3, 17, 54, 1000} {
		got, err := MineBUCCLaser(t.Context(), shardedSearch{size}, half)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got.Pairs, want.Pairs) {
			t.Errorf("shards of %d rows give other pairs", size)
		}
	}
}

func TestMaxProtocolsAreOneToOne(t *testing.T) {
	for seed := range uint64(10) {
		half := randomHalf(seed, 60, 45, 5)
		for _, name := range []string{BUCCLaser.Name, BUCCST.Name} {
			mined, err := miners[name](t.Context(), exactSearch{}, half)
			if err != nil {
				t.Fatal(err)
			}
			sources, targets := map[int32]bool{}, map[int32]bool{}
			for _, p := range mined.Pairs {
				if sources[p.Source] || targets[p.Target] {
					t.Fatalf("seed %d, %s: a sentence of %v stands in two pairs", seed, name, p)
				}
				sources[p.Source], targets[p.Target] = true, true
			}
		}
	}
}

// TestReportedF1IsThatOfExtractingAgain also checks that no other threshold does better if scores differ.
func TestReportedF1IsThatOfExtractingAgain(t *testing.T) {
	for seed := range uint64(20) {
		half := randomHalf(seed, 60, 70, 6)
		for name, miner := range miners {
			mined, err := miner(t.Context(), exactSearch{}, half)
			if err != nil {
				t.Fatal(err)
			}
			score := ScoreBUCC(mined, mined)
			if again := report.Extract(mined.Pairs, mined.Gold, score.Threshold); again != score.Counts {
				t.Errorf("seed %d, %s: reported %+v, extracting again gives %+v", seed, name, score.Counts, again)
			}
			for _, p := range score.Curve {
				if other := report.Extract(mined.Pairs, mined.Gold, p.Score); other.F1() > score.F1()+1e-9 {
					t.Errorf("seed %d, %s: F1 %.4f at %v, better than the reported %.4f", seed, name, other.F1(), p.Score, score.F1())
				}
			}
		}
	}
}

// TestOwnThresholdsAreBest: protocols of this project's own report an F1 that a threshold gives where scores are equal.
func TestOwnThresholdsAreBest(t *testing.T) {
	mined := Mined{Half: "train", Gold: 13}
	for i := range 30 { // 10 of 10 pairs are gold, and 3 of 20
		p := report.Scored{Score: 0.9, Correct: i < 13}
		if i >= 10 {
			p.Score = 0.7
		}
		mined.Pairs = append(mined.Pairs, p)
	}
	for name, score := range map[string]func(tune, reported Mined) BUCCScore{
		BUCCCosine.Name: BUCCCosine.bucc().(*thresholded).score, BUCCScored.Name: BUCCScored.bucc().(*scoredPair).score,
		BUCCRefined.Name: BUCCRefined.bucc().(*refinedPair).score,
	} {
		if s := score(mined, mined); math.Abs(s.Threshold-0.8) > 1e-12 || s.Extracted != 10 || len(s.Curve) != 2 {
			t.Errorf("%s: threshold %v of %+v, curve of %d points", name, s.Threshold, s.Counts, len(s.Curve))
		}
	}
}
