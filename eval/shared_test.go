package eval

import (
	"bufio"
	"compress/gzip"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"bitextmine/bitext/exchange"
	"bitextmine/corpus"
	"bitextmine/corpus/corpustest"
	"bitextmine/encode/embedding"
	"bitextmine/eval/report"
	"bitextmine/eval/testset"

	"bitextmine/mine"
	"bitextmine/score/calibration"
	"bitextmine/score/inject"
)

// shared is the path of the field's test sets beside the checkout. Their licences do not allow them in the repository.
const shared = "../../shared"

// sharedSet unpacks an archive of test sets. It skips the test if there is none.
func sharedSet(t *testing.T, archive string) string {
	t.Helper()
	if unpacked[archive] == "" {
		dir, err := os.MkdirTemp("", "mine-eval-*")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if unpacked[archive] == "" {
				_ = os.Remove(dir) // the test was skipped
			}
		})
		corpustest.Archive(t, archive, func(name string, content io.Reader) { write(t, filepath.Join(dir, name), content) })
		unpacked[archive] = dir
	}
	return unpacked[archive]
}

// TestLASERGolden checks for the same pairs, scores and figures as LASER's own program and its bucc.py on the same
// vectors.
func TestLASERGolden(t *testing.T) {
	dir := sharedSet(t, "bucc_style.tar.xz")
	golden := readLASERPairs(t, filepath.Join(shared, "golden", "laser.bag-multi.de-en.train.tsv.gz"))
	pair := testset.LanguagePair{Source: "de", Target: "en"}
	files, err := testset.FindBUCC(filepath.Join(dir, "bucc_style"), pair)
	if err != nil {
		t.Fatal(err)
	}
	runner := Runner{Vectors: &testset.Embedder{Encoder: openReference(t)}, Searcher: openSearcher(t)}
	half, err := runner.half(t.Context(), files[0], pair)
	if err != nil {
		t.Fatal(err)
	}
	mined, err := MineBUCCLaser(t.Context(), runner.Searcher, half)
	if err != nil {
		t.Fatal(err)
	}
	comparePairs(t, half, mined.Pairs, golden)
	score := ScoreBUCC(mined, mined)
	got := fmt.Sprintf("%.6f %.2f %.2f %.2f", score.Threshold, score.Precision(), score.Recall(), score.F1())
	if want := "1.138104 78.37 65.22 71.19"; got != want {
		t.Errorf("threshold P R F1 = %s, LASER's bucc.py prints %s", got, want)
	}
}

func readLASERPairs(t *testing.T, path string) map[testset.IDs]float64 {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	plain, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	pairs := make(map[testset.IDs]float64)
	lines := bufio.NewScanner(plain)
	for lines.Scan() {
		fields := strings.Split(lines.Text(), "\t")
		score, err := strconv.ParseFloat(fields[0], 64)
		if err != nil || len(fields) != 3 {
			t.Fatalf("%s: line %q", path, lines.Text())
		}
		pairs[testset.IDs{Source: fields[1], Target: fields[2]}] = score
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return pairs
}

// comparePairs allows different pairs only if scores tie: a pair that is on one side only must have the score of one of
// its rivals.
func comparePairs(t *testing.T, half Half, got []report.Scored, golden map[testset.IDs]float64) {
	t.Helper()
	const tolerance = 1e-4
	same, worst := 0, 0.0
	for _, p := range got {
		pair := testset.IDs{Source: half.Source.IDs[p.Source], Target: half.Target.IDs[p.Target]}
		want, ok := golden[pair]
		if !ok {
			t.Errorf("%v scores %v here; LASER does not write it", pair, p.Score)
			continue
		}
		same++
		worst = max(worst, math.Abs(want-p.Score))
	}
	if worst > tolerance {
		t.Errorf("scores differ by up to %v", worst)
	}
	t.Logf("%d pairs here, %d of LASER, %d the same, scores within %.2g", len(got), len(golden), same, worst)
}

// TestBUCCReferenceFigures compares with the figures of an independent implementation (the encoder's README) for
// float32 vectors. Those of float16 may differ by 0.3.
func TestBUCCReferenceFigures(t *testing.T) {
	dir := filepath.Join(sharedSet(t, "bucc_style.tar.xz"), "bucc_style")
	pairs := []testset.LanguagePair{{Source: "de", Target: "en"}, {Source: "fr", Target: "en"}, {Source: "zh", Target: "en"}}
	for _, narrow := range []bool{false, true} {
		runner := Runner{Vectors: &testset.Embedder{Encoder: openReference(t), Narrow: narrow}, Searcher: openSearcher(t)}
		reports, err := runner.BUCC(t.Context(), []*Protocol{BUCCLaser, BUCCCosine}, dir, pairs)
		if err != nil {
			t.Fatal(err)
		}
		tolerance := 0.01
		if narrow {
			tolerance = 0.3
		}
		for i, want := range []struct{ f1, precision, recall, threshold, cosineF1 float64 }{
			{71.19, 78.37, 65.22, 1.138, 48.84},
			{73.12, 75.10, 71.25, 1.127, 50.43},
			{41.25, 50.52, 34.86, 1.077, 12.86},
		} {
			laser, cosine := reports[0].Rows[i].Cells, reports[1].Rows[i].Cells
			t.Logf("float16 %v %s: F1 %.2f P %.2f R %.2f threshold %.6f, by cosine %.2f", narrow, pairs[i], laser[0], laser[1], laser[2], laser[3], cosine[0])
			if math.Abs(laser[0].(float64)-want.f1) > tolerance || math.Abs(cosine[0].(float64)-want.cosineF1) > tolerance {
				t.Errorf("float16 %v %s: F1 %v and by cosine %v, want %v and %v", narrow, pairs[i], laser[0], cosine[0], want.f1, want.cosineF1)
			}
			if !narrow && (math.Abs(laser[1].(float64)-want.precision) > tolerance || math.Abs(laser[2].(float64)-want.recall) > tolerance ||
				math.Abs(laser[3].(float64)-want.threshold) > 0.001) {
				t.Errorf("%s: P, R, threshold %v, want %v", pairs[i], laser[1:4], want)
			}
		}
	}
}

// TestTatoebaReferenceFigures compares P@1 with that of an independent implementation (the encoder's README). This
// encoder gives sentences with the same words in another order the same vector, so a few neighbours tie, and a
// difference of 0.3 points is allowed.
func TestTatoebaReferenceFigures(t *testing.T) {
	dir := sharedSet(t, "laser_tatoeba.tar.xz")
	want := map[string][2]float64{
		"deu": {97.5, 97.2}, "fra": {93.6, 93.3}, "spa": {95.1, 95.3}, "jpn": {86.4, 88.0}, "cmn": {88.5, 90.3}, "rus": {29.7, 35.3},
	}
	sets, err := testset.FindAligned(filepath.Join(dir, "tatoeba"), "devtest", nil, "en")
	if err != nil {
		t.Fatal(err)
	}
	if len(sets) != 112 {
		t.Errorf("%d languages found, LASER's Tatoeba has 112", len(sets))
	}
	runner := Runner{Vectors: &testset.Embedder{Encoder: openReference(t)}, Searcher: openSearcher(t)}
	reports, err := runner.Aligned(t.Context(), []*Protocol{Tatoeba}, sets, AlignedOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range reports[0].Rows {
		figures, ok := want[row.Name]
		if !ok {
			continue
		}
		if math.Abs(row.Cells[1].(float64)-figures[0]) > 0.3 || math.Abs(row.Cells[2].(float64)-figures[1]) > 0.3 {
			t.Errorf("%s: P@1 %.1f and %.1f, want %.1f and %.1f", row.Name, row.Cells[1], row.Cells[2], figures[0], figures[1])
		}
	}
}

// TestCalibrationOnBUCC injects each third of the gold pairs among the other sentences of a BUCC-style set and compares
// the estimates with the other gold pairs. A third has 150 pairs that are injected whole, so a recall of 0.7 is known
// to 3.7 points.
func TestCalibrationOnBUCC(t *testing.T) {
	loss := 0.0
	for third := range 3 {
		loss += calibrationLoss(t, third) / 3
	}
	if loss > 3 {
		t.Errorf("the chosen thresholds lose %.2f of F1, more than 3", loss)
	}
}

// calibrationLoss is what the F1 at the threshold that a third of the gold pairs choose is below the best.
func calibrationLoss(t *testing.T, third int) float64 {
	t.Helper()
	dir := filepath.Join(sharedSet(t, "bucc_style.tar.xz"), "bucc_style")
	pair := testset.LanguagePair{Source: "de", Target: "en"}
	files, err := testset.FindBUCC(dir, pair)
	if err != nil {
		t.Fatal(err)
	}
	german, english, rows, err := testset.ReadBUCC(files[0], pair)
	if err != nil {
		t.Fatal(err)
	}
	known, gold := []exchange.Pair{}, map[[2]string]bool{}
	outSource, outTarget := map[string]bool{}, map[string]bool{}
	for i, g := range rows {
		texts := [2]string{german.Texts[g[0]], english.Texts[g[1]]}
		if i%3 == third {
			known = append(known, exchange.Pair{Source: corpus.Normalise(texts[0]), Target: corpus.Normalise(texts[1])})
			outSource[texts[0]], outTarget[texts[1]] = true, true
		} else {
			gold[texts] = true
		}
	}
	keep := func(texts []string, out map[string]bool) (kept []string) {
		for _, text := range texts {
			if !out[text] {
				kept = append(kept, text)
			}
		}
		return kept
	}
	source, target := testset.Side{Language: "de", Texts: keep(german.Texts, outSource)}, testset.Side{Language: "en", Texts: keep(english.Texts, outTarget)}
	encoder, searcher := openEncoder(t), openSearcher(t)
	pool, texts := poolOf(t, encoder, searcher, [2]testset.Side{source, target})
	host := &inject.Host{
		Languages: [2]string{"de", "en"}, Texts: texts, K: 4,
		Vectors: [2]embedding.Matrix{pool.sides[0].file.Matrix, pool.sides[1].file.Matrix}, Lists: [2]mine.Neighbours{pool.Lists.Source, pool.Lists.Target},
		Searcher: searcher, Encoder: encoder,
	}
	c, err := calibration.Collect(t.Context(), host, known, mine.Ratio)
	if err != nil {
		t.Fatal(err)
	}
	truth := poolCurve(pool, texts, gold)
	estimates := c.Estimate(300, 1)
	best := calibration.BestF1(estimates)
	_, trueBest := report.BestThreshold(report.CurveOf(truth, len(gold)))
	atBest := report.Extract(truth, len(gold), best.Threshold)
	t.Logf("%d known pairs, %d dropped; threshold %.4f estimated P %.3f R %.3f F1 %.3f [%.3f, %.3f]; in truth P %.2f R %.2f F1 %.2f, the best F1 there is %.2f",
		len(known), c.Dropped, best.Threshold, best.Precision.Value, best.Recall.Value, best.F1.Value, best.F1.Low, best.F1.High, atBest.Precision(), atBest.Recall(), atBest.F1(), trueBest.F1())
	for _, e := range estimates {
		if e.Kept < 150 {
			continue
		}
		at := report.Extract(truth, len(gold), e.Threshold)
		if math.Abs(100*e.Recall.Value-at.Recall()) > 13 || math.Abs(100*e.Precision.Value-at.Precision()) > 15 {
			t.Errorf("threshold %.4f, %d kept: estimated P %.3f [%.3f, %.3f] R %.3f, in truth %.2f and %.2f", e.Threshold, e.Kept, e.Precision.Value, e.Precision.Low, e.Precision.High, e.Recall.Value, at.Precision(), at.Recall())
		}
	}
	return trueBest.F1() - atBest.F1()
}

// poolCurve lists the one-to-one pairs of a pool, best first, marked as gold or not by text.
func poolCurve(p *Pool, rows [2][]string, gold map[[2]string]bool) []report.Scored {
	var out []report.Scored
	for _, c := range mine.Pairs(p.Lists.Candidates(), len(rows[0]), len(rows[1]), mine.Max, 0) {
		texts := [2]string{rows[0][c.Source], rows[1][c.Target]}
		out = append(out, report.Scored{Source: c.Source, Target: c.Target, Score: float64(c.Score), Correct: gold[texts]})
	}
	return out
}
