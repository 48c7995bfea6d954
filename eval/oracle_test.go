package eval

import (
	"context"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"bitextmine/encode/embedding"

	"bitextmine/eval/report"

	"bitextmine/eval/testset"

	"bitextmine/index"
)

// goldenSide is a side in the format of testdata/oracle/oracle.py.
type goldenSide struct {
	IDs     []string    `json:"ids"`
	Texts   []string    `json:"texts"`
	Vectors [][]float32 `json:"vectors"`
}

func (g goldenSide) vectors() testset.EncodedSide {
	v := testset.EncodedSide{Side: testset.Side{IDs: g.IDs}}
	var rows []float32
	for i, row := range g.Vectors {
		rows = append(rows, row...)
		v.Texts = append(v.Texts, strings.TrimSpace(g.Texts[i]))
	}
	v.Rows = embedding.FromFloat32(rows, len(g.Vectors[0]))
	return v
}

type goldenMined struct {
	Threshold, Precision, Recall, F1 float64
	Extracted, Correct, Gold         int
	Pairs                            [][3]any
}

func readGolden(t *testing.T, name string, into any) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "golden", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, into); err != nil {
		t.Fatal(err)
	}
}

var buccCases = []string{"random", "ties", "duplicates", "unequal", "tiny", "empty-gold"}

type buccCase struct {
	Source, Target goldenSide
	Gold           [][2]string
	Want           struct {
		Laser  goldenMined `json:"bucc-laser"`
		ST     goldenMined `json:"bucc-st"`
		Cosine goldenMined `json:"bucc-cosine"`
		MTEB   struct {
			Precision, Recall, F1 float64
			Correct, Queries      int
		} `json:"bucc-mteb"`
	}
}

func (c buccCase) half(t *testing.T) Half {
	t.Helper()
	half := Half{Name: "train", Source: c.Source.vectors(), Target: c.Target.vectors()}
	at := func(ids []string, id string) int32 {
		for i, one := range ids {
			if one == id {
				return int32(i)
			}
		}
		t.Fatalf("gold names %s", id)
		return -1
	}
	for _, g := range c.Gold {
		half.Gold = append(half.Gold, [2]int32{at(c.Source.IDs, g[0]), at(c.Target.IDs, g[1])})
	}
	return half
}

func near(a, b float64) bool { return math.Abs(a-b) < 1e-6 }

// TestBUCCAgainstOracle compares every pair, score, threshold and figure with the independent implementation.
func TestBUCCAgainstOracle(t *testing.T) {
	for _, name := range buccCases {
		var c buccCase
		readGolden(t, "bucc-"+name, &c)
		half := c.half(t)
		for _, p := range []struct {
			protocol *Protocol
			mine     Miner
			score    func(tune, report Mined) BUCCScore
			want     goldenMined
		}{
			{BUCCLaser, MineBUCCLaser, ScoreBUCC, c.Want.Laser},
			{BUCCST, MineBUCCST, ScoreBUCCST, c.Want.ST},
			{BUCCCosine, MineBUCCCosine, ScoreByThreshold, c.Want.Cosine},
		} {
			t.Run(p.protocol.Name+"/"+name, func(t *testing.T) {
				mined, err := p.mine(t.Context(), exactSearch{}, half)
				if err != nil {
					t.Fatal(err)
				}
				samePairs(t, half, mined.Pairs, p.want.Pairs)
				got := p.score(mined, mined)
				if got.Extracted != p.want.Extracted || got.Correct != p.want.Correct || got.Gold != p.want.Gold {
					t.Errorf("extracted, correct, gold = %d %d %d, want %d %d %d", got.Extracted, got.Correct, got.Gold,
						p.want.Extracted, p.want.Correct, p.want.Gold)
				}
				if !near(got.Threshold, p.want.Threshold) || !near(got.Precision(), p.want.Precision) ||
					!near(got.Recall(), p.want.Recall) || !near(got.F1(), p.want.F1) {
					t.Errorf("threshold %v P %v R %v F1 %v, want %v %v %v %v", got.Threshold, got.Precision(), got.Recall(), got.F1(),
						p.want.Threshold, p.want.Precision, p.want.Recall, p.want.F1)
				}
			})
		}
		t.Run(BUCCMTEB.Name+"/"+name, func(t *testing.T) {
			got, err := ScoreBUCCMTEB(t.Context(), exactSearch{}, half)
			if err != nil {
				t.Fatal(err)
			}
			want := c.Want.MTEB
			if got.Correct != want.Correct || got.Queries != want.Queries || !near(got.F1, want.F1) ||
				!near(got.Precision, want.Precision) || !near(got.Recall, want.Recall) {
				t.Errorf("%+v, want %+v", got, want)
			}
		})
	}
}

func samePairs(t *testing.T, half Half, got []report.Scored, want [][3]any) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d pairs, want %d", len(got), len(want))
	}
	for i, p := range got {
		source, target := half.Source.IDs[p.Source], half.Target.IDs[p.Target]
		if source != want[i][0] || target != want[i][1] || !near(p.Score, want[i][2].(float64)) {
			t.Fatalf("pair %d is %s %s %v, want %v", i, source, target, p.Score, want[i])
		}
	}
}

type alignedCase struct {
	Source, Target       goldenSide
	Negatives            []struct{ Text, Of, Kind string }
	TargetsWithNegatives goldenSide `json:"targets_with_negatives"`
	Want                 struct {
		Tatoeba struct {
			ByLine [2]int `json:"by_line"`
			ByText [2]int `json:"by_text"`
		}
		XSim, Retrieval goldenErrors
		XSimPlusPlus    goldenErrors `json:"xsim++"`
	}
}

type goldenErrors struct {
	ByLine int `json:"errors_by_line"`
	ByText int `json:"errors_by_text"`
	Kinds  map[string]int
}

func TestAlignedAgainstOracle(t *testing.T) {
	var c alignedCase
	readGolden(t, "aligned", &c)
	ctx, search := t.Context(), index.Searcher(exactSearch{})
	source, target, wide := c.Source.vectors(), c.Target.vectors(), c.TargetsWithNegatives.vectors()
	// The lines have no ids.
	source.IDs, target.IDs, wide.IDs = nil, nil, nil
	for _, byText := range []bool{false, true} {
		got, err := ScoreTatoeba(ctx, search, source, target, byText)
		if err != nil {
			t.Fatal(err)
		}
		want := c.Want.Tatoeba.ByLine
		if byText {
			want = c.Want.Tatoeba.ByText
		}
		if got.Forward.Correct != want[0] || got.Backward.Correct != want[1] {
			t.Errorf("tatoeba by text %v: %+v, want %v", byText, got, want)
		}
		checkErrors(ctx, t, "xsim", source, target, byText, c.Want.XSim)
		checkErrors(ctx, t, "retrieval", source, wide, byText, c.Want.Retrieval)
	}
	var negatives []testset.Negative
	for _, n := range c.Negatives {
		negatives = append(negatives, testset.Negative(n))
	}
	got, err := ScoreXSimPlusPlus(ctx, search, source, wide, negatives)
	if err != nil {
		t.Fatal(err)
	}
	if got.Queries-got.Correct != c.Want.XSimPlusPlus.ByText {
		t.Errorf("xsim++: %d errors, want %d", got.Queries-got.Correct, c.Want.XSimPlusPlus.ByText)
	}
	if len(got.Kinds) != len(c.Want.XSimPlusPlus.Kinds) {
		t.Errorf("xsim++ kinds %v, want %v", got.Kinds, c.Want.XSimPlusPlus.Kinds)
	}
	for kind, n := range c.Want.XSimPlusPlus.Kinds {
		if got.Kinds[kind] != n {
			t.Errorf("xsim++ errors of kind %s: %d, want %d", kind, got.Kinds[kind], n)
		}
	}
}

func checkErrors(ctx context.Context, t *testing.T, name string, source, target testset.EncodedSide, byText bool, want goldenErrors) {
	t.Helper()
	got, err := ScoreXSim(ctx, exactSearch{}, source, target, byText)
	if err != nil {
		t.Fatal(err)
	}
	errors := want.ByLine
	if byText {
		errors = want.ByText
	}
	if got.Queries-got.Correct != errors {
		t.Errorf("%s by text %v: %d errors, want %d", name, byText, got.Queries-got.Correct, errors)
	}
}

func TestSTSAgainstOracle(t *testing.T) {
	var c struct {
		Sets []struct {
			Name         string
			Gold, Cosine []float64
		}
		Want struct {
			Sets      [][2]float64
			Mean, All [2]float64
		}
	}
	readGolden(t, "sts", &c)
	var sets []SimilaritySet
	var each []Correlation
	for i, s := range c.Sets {
		sets = append(sets, SimilaritySet{Year: "2012", Name: s.Name, Gold: s.Gold, Cosine: s.Cosine})
		each = append(each, sets[i].Correlate())
		sameCorrelation(t, s.Name, each[i], c.Want.Sets[i])
	}
	sameCorrelation(t, "mean", WeightedMean(each), c.Want.Mean)
	sameCorrelation(t, "all", pooledSimilarity(sets).Correlate(), c.Want.All)
}

func sameCorrelation(t *testing.T, name string, got Correlation, want [2]float64) {
	t.Helper()
	if !near(got.Pearson, want[0]) || !near(got.Spearman, want[1]) {
		t.Errorf("%s: Pearson %v Spearman %v, want %v", name, got.Pearson, got.Spearman, want)
	}
}
