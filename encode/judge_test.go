package encode_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"bitextmine/encode"
	"bitextmine/encode/encodetest"
	"bitextmine/encode/model"
	"bitextmine/train/traintest"
)

// logits opens a judge and judges pairs.
func logits(t *testing.T, dir string, pairs [][2]string) ([]float32, error) {
	t.Helper()
	m, err := model.LoadJudge(dir)
	if err != nil {
		t.Fatal(err)
	}
	judge, err := encode.OpenJudge(m, encode.Options{Threads: 2})
	if err != nil {
		return nil, err
	}
	defer func() {
		if err := judge.Close(); err != nil {
			t.Error(err)
		}
	}()
	got, counted := make([]float32, len(pairs)), int64(0)
	err = judge.Logits(t.Context(), pairs, got, func(pairs int64) { counted += pairs })
	if err == nil && counted != int64(len(pairs)) {
		t.Errorf("progress counted %d of %d pairs", counted, len(pairs))
	}
	return got, err
}

// TestJudge: the graph gets both sentences, the tokens around and between them and the second one's type; with two
// logits the difference counts; a long pair is cut evenly.
func TestJudge(t *testing.T) {
	values := map[string]float32{"[CLS]": 1000, "[SEP]": 100, "red": 1, "house": 10, "[UNK]": 0}
	pairs := [][2]string{
		{"red", "house"}, {"", "red"}, {"red red", "red"}, {"the red house", "nothing"},
		{strings.Repeat("red ", 70), "house house"}, {"house", strings.Repeat("red ", 70)},
		{strings.Repeat("red ", 70), strings.Repeat("house ", 70)},
	}
	// The second sentence's tokens and its end are worth 0.25 more. 64 tokens leave 61 for the sentences.
	want := []float32{1211.5, 1201.5, 1203.5, 1211.5, 1200 + 59 + 20 + 0.75, 1200 + 10 + 60 + 61*0.25, 1200 + 31 + 300 + 31*0.25}
	for n := 1; n <= 2; n++ {
		dir := traintest.Judge(t, n, values, 0.25, nil)
		got, err := logits(t, dir, pairs)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%d logits: %v instead of %v, error %v", n, got, want, err)
		}
	}
	dir := traintest.Judge(t, 2, values, 0, func(m *model.Manifest) { m.Judge.Translation = 0 })
	if got, err := logits(t, dir, pairs[:1]); err != nil || got[0] != -1211 {
		t.Errorf("the other logit: %v, error %v", got, err)
	}
	dir = traintest.Judge(t, 1, values, 0.25, func(m *model.Manifest) { m.Judge.Between, m.Judge.Segments = []int32{3, 3}, false })
	if got, err := logits(t, dir, pairs[:1]); err != nil || got[0] != 1311 {
		t.Errorf("two tokens between, no types: %v, error %v", got, err)
	}
}

func TestJudgeRefuses(t *testing.T) {
	dir := traintest.Judge(t, 1, map[string]float32{"odd": float32(math.NaN())}, 0, nil)
	_, err := logits(t, dir, [][2]string{{"even", "even"}, {"odd", "even"}})
	encodetest.Refused(t, err, `"odd" - "even" a logit that is no finite number`)
	_, err = model.Load(dir)
	encodetest.Refused(t, err, "planted is a judge")
	_, err = model.LoadJudge("use-static")
	encodetest.Refused(t, err, "use-static is an encoder, not a judge")
	for says, change := range map[string]func(*model.Manifest){
		"one logit or two":  func(m *model.Manifest) { m.Dim = 3 },
		"pooling: none":     func(m *model.Manifest) { m.Normalise = true },
		"judge.translation": func(m *model.Manifest) { m.Judge.Translation = 1 },
		"judge.merge":       func(m *model.Manifest) { m.Judge.Merge.Judge = 0 },
		"judge.segments":    func(m *model.Manifest) { m.Inputs.TokenTypes = "" },
		"room for a pair":   func(m *model.Manifest) { m.MaxTokens = 4 },
	} {
		_, err := model.LoadJudge(traintest.Judge(t, 1, nil, 0, change))
		encodetest.Refused(t, err, says)
	}
}
