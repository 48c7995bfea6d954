package eval

import (
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"bitextmine/encode"
	"bitextmine/encode/encodetest"
	"bitextmine/encode/model"
	"bitextmine/eval/report"
	"bitextmine/eval/testset"

	"bitextmine/fixtures"
	"bitextmine/score"
)

func openScoring(t testing.TB) *Scoring {
	t.Helper()
	model, err := model.Load(fixtures.Encoder)
	if err != nil {
		t.Fatal(err)
	}
	if err := encodetest.SetLibrary(); err != nil {
		t.Fatal(err)
	}
	scorer, _, err := score.Load(score.Default, 4, model)
	if err != nil {
		t.Fatal(err)
	}
	tokens, closeTokens, err := score.OpenTokens(model, encode.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := closeTokens(); err != nil {
			t.Error(err)
		}
	})
	return &Scoring{Scorer: scorer.Scorer, Tokens: tokens, Threads: runtime.NumCPU()}
}

// sharedHalf reads and encodes a shared BUCC-style set.
func sharedHalf(t *testing.T, dir, source string) Half {
	t.Helper()
	pair, err := testset.ParsePair(source, "en")
	if err != nil {
		t.Fatal(err)
	}
	files, err := testset.FindBUCC(dir, pair)
	if err != nil {
		t.Fatal(err)
	}
	runner := Runner{Vectors: &testset.Embedder{Encoder: openEncoder(t), Narrow: true}}
	half, err := runner.half(t.Context(), files[0], pair)
	if err != nil {
		t.Fatal(err)
	}
	return half
}

// TestScorerOnSharedSets checks what docs/scoring.md says of the default scorer on sets that it was not fitted on: an
// F1 above the ratio margin's best, at its best threshold and at that of mine run, which no gold
// chose, and nine of ten pairs with a probability of at least 0.9 in gold.
func TestScorerOnSharedSets(t *testing.T) {
	dir := filepath.Join(sharedSet(t, "bucc_style.tar.xz"), "bucc_style")
	scoring, searcher := openScoring(t), openSearcher(t)
	for _, c := range []struct {
		source       string
		best, atHalf float64 // F1 above the margin's
	}{{"de", 1.9, 1.3}, {"fr", 0.6, 0.5}, {"zh", 2.3, 1.8}} {
		t.Run(c.source, func(t *testing.T) {
			set := sharedHalf(t, dir, c.source)
			margin, err := MineBUCCLaser(t.Context(), searcher, set)
			if err != nil {
				t.Fatal(err)
			}
			mined, err := scoring.Mine(t.Context(), searcher, nil, set)
			if err != nil {
				t.Fatal(err)
			}
			before, after := ScoreBUCC(margin, margin), ScoreByThreshold(mined.Mined, mined.Mined)
			if of := ScoreBUCC(mined.ByMargin, mined.ByMargin); of.F1() != before.F1() {
				t.Errorf("F1 %.2f of the margin beside the scorer, %.2f by bucc-laser", of.F1(), before.F1())
			}
			half := report.Extract(mined.Pairs, mined.Gold, 0.5)
			t.Logf("F1 %.2f by ratio margin, %.2f by the scorer, %.2f (P %.1f, R %.1f) from probability 0.5", before.F1(), after.F1(), half.F1(), half.Precision(), half.Recall())
			if after.F1() < before.F1()+c.best {
				t.Errorf("F1 %.2f is not %v above %.2f", after.F1(), c.best, before.F1())
			}
			if half.F1() < before.F1()+c.atHalf {
				t.Errorf("F1 %.2f from probability 0.5 is not %v above %.2f", half.F1(), c.atHalf, before.F1())
			}
			if top := mined.Quality.Bins[9]; top.True < 0.9 {
				t.Errorf("of %d pairs given 0.9 to 1.0, %.3f are gold", top.Examples, top.True)
			}
		})
	}
}

// TestHardEditsByKind compares the scorer with the margin on the task of xsim++: for each German sentence, find the
// best of the English sentences and of rule-made edits of them.
func TestHardEditsByKind(t *testing.T) {
	dir := sharedSet(t, "flores60.tar.zst")
	source, target, err := floresPair(filepath.Join(dir, "flores60"))
	if err != nil {
		t.Fatal(err)
	}
	negatives, err := testset.RuleNegatives(target.Texts)
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[string]string{}
	wide := testset.Side{Language: "en", Texts: slices.Clone(target.Texts)}
	for _, n := range negatives {
		wide.Texts = append(wide.Texts, n.Text)
		kinds[n.Of+"\t"+n.Text] = n.Kind
	}
	embedder := &testset.Embedder{Encoder: openEncoder(t), Narrow: true}
	x, err := embedder.Vectors(t.Context(), source, testset.Role{})
	if err != nil {
		t.Fatal(err)
	}
	y, err := embedder.Vectors(t.Context(), wide, testset.Role{})
	if err != nil {
		t.Fatal(err)
	}
	searcher, scoring := openSearcher(t), openScoring(t)
	margin, err := ScoreXSimPlusPlus(t.Context(), searcher, x, y, negatives)
	if err != nil {
		t.Fatal(err)
	}
	a, b := arrange(x, false), arrange(y, false)
	lists, err := neighbours(t.Context(), searcher, a.rows, b.rows, scoring.Scorer.K)
	if err != nil {
		t.Fatal(err)
	}
	problem := score.Problem{Languages: [2]string{"de", "en"}, Lists: lists, Tokens: scoring.Tokens, Threads: 2,
		Read: score.Texts{a.texts(x), b.texts(y)}.Read}
	ranked, err := problem.Apply(t.Context(), scoring.Scorer)
	if err != nil {
		t.Fatal(err)
	}
	seen, errors, wrong := map[int32]bool{}, map[string]int{}, 0
	for _, c := range ranked.Candidates {
		s := a.sentence[c.Source]
		if seen[s] {
			continue
		}
		seen[s] = true
		if won := wide.Texts[b.sentence[c.Target]]; won != target.Texts[s] {
			wrong++
			kind, ok := kinds[target.Texts[s]+"\t"+won]
			if !ok {
				kind = testset.Misaligned
			}
			errors[kind]++
		}
	}
	errors["no candidate"] = len(source.Texts) - len(seen)
	wrong += errors["no candidate"]
	if wrong > margin.Queries-margin.Correct {
		t.Errorf("the scorer makes %d errors, the margin %d", wrong, margin.Queries-margin.Correct)
	}
	t.Logf("of %d: margin %d errors %v, scorer %d errors %v", len(source.Texts), margin.Queries-margin.Correct, margin.Kinds, wrong, errors)
}

func floresPair(dir string) (source, target testset.Side, err error) {
	sets, err := testset.FindAligned(dir, "devtest", []string{"de"}, "en")
	if err != nil {
		return source, target, err
	}
	return testset.ReadAligned(sets[0], false)
}
