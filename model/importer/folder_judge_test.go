package importer

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"bitextmine/encode"
	"bitextmine/encode/encodetest"
	"bitextmine/encode/model"
	"bitextmine/train/traintest"
	"bitextmine/train/weights"
)

// classifier makes a sequence-classification model of a sample: its two dense layers and labels in config.json.
func classifier(t *testing.T, sample string, labels int) (dir string, layers [2][]float32) {
	t.Helper()
	dir, _ = published(t, sample, map[string]string{"vocab.txt": vocabulary()})
	names, prefix := [2]string{"pooler.dense", "classifier"}, "bert."
	if sample != "bert" {
		names, prefix = [2]string{"classifier.dense", "classifier.out_proj"}, ""
	}
	tensors, err := weights.ReadModel(dir, func(name string) bool {
		return !strings.HasPrefix(name, "pooler.") && name != "embeddings.position_ids" && name != "lm_head.bias"
	})
	if err != nil {
		t.Fatal(err)
	}
	for i, out := range []int{16, labels} {
		for k := range 16 * out {
			layers[i] = append(layers[i], float32((k*7+i)%11)/10-0.5)
		}
		at := []string{prefix, ""}[i] + names[i]
		tensors = append(tensors, &weights.Tensor{Name: at + ".weight", Shape: []int{out, 16}, Data: layers[i]},
			&weights.Tensor{Name: at + ".bias", Shape: []int{out}, Data: make([]float32, out)})
	}
	if err := weights.WriteFile(filepath.Join(dir, "model.safetensors"), tensors, nil); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(dir, "model.safetensors.index.json")); err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	config := readJSON(t, filepath.Join(dir, "config.json"))
	ids := map[string]string{}
	for i := range labels {
		ids[fmt.Sprint(i)] = fmt.Sprintf("LABEL_%d", i)
	}
	config["architectures"], config["id2label"] = []string{"BertForSequenceClassification"}, ids
	writeJSON(t, filepath.Join(dir, "config.json"), config)
	return dir, layers
}

// judged are the logits that an imported judge gives pairs.
func judged(t *testing.T, dir string, pairs ...[2]string) []float32 {
	t.Helper()
	m, err := model.LoadJudge(dir)
	if err != nil {
		t.Fatal(err)
	}
	judge, err := encode.OpenJudge(m, encode.Options{Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	logits := make([]float32, len(pairs))
	if err := judge.Logits(t.Context(), pairs, logits, nil); err != nil {
		t.Fatal(err)
	}
	if err := judge.Close(); err != nil {
		t.Fatal(err)
	}
	return logits
}

// TestImportJudge: a judge's logit is what the classifier's layers make of the encoder's first token, and the second
// sentence of a BERT has the second type.
func TestImportJudge(t *testing.T) {
	for _, sample := range []string{"bert", "xlm-roberta"} {
		for labels := 1; labels <= 2; labels++ {
			dir, layers := classifier(t, sample, labels)
			r, err := Import(t.Context(), dir, Options{})
			if err != nil {
				t.Fatal(err)
			}
			j := r.Manifest.Judge
			if j.Segments != (sample == "bert") || len(j.Between) != map[string]int{"bert": 1, "xlm-roberta": 2}[sample] || j.Translation != labels-1 {
				t.Errorf("%s: %+v", sample, j)
			}
			got := judged(t, dir, [2]string{"w7 w8", "w9"}, [2]string{"w9", "w7 w8"}, [2]string{"w7 w8", "w10"})
			if got[0] == got[1] || got[0] == got[2] {
				t.Errorf("%s: the logits %v do not tell the pairs apart", sample, got)
			}
			if sample == "bert" { // the encoder has the first type throughout
				continue
			}
			encoder, _ := published(t, sample, map[string]string{"vocab.txt": vocabulary()})
			if _, err := Import(t.Context(), encoder, Options{Pooling: "cls"}); err != nil {
				t.Fatal(err)
			}
			m, err := model.Load(encoder)
			if err != nil {
				t.Fatal(err)
			}
			m.Normalise = false
			m.Output, m.Pooling = m.Tokens.Output, model.CLS
			e := traintest.OpenModel(t, m)
			vector := make([]float32, e.Dim())
			if err := e.EncodeIDs(t.Context(), [][]int32{{2, 7, 8, 3, 3, 9, 3}}, vector); err != nil {
				t.Fatal(err)
			}
			want := through([][]float32{vector}, layers[0], make([]float32, 16))[0]
			logits := make([]float64, labels)
			for o := range logits {
				for k, x := range want {
					logits[o] += float64(layers[1][o*16+k]) * float64(x)
				}
			}
			logit := logits[labels-1]
			if labels == 2 {
				logit -= logits[0]
			}
			if d := math.Abs(float64(got[0]) - logit); d > 1e-4 {
				t.Errorf("%s of %d labels: logit %v instead of %v", sample, labels, got[0], logit)
			}
		}
	}
}

// TestImportJudgeONNX: a graph with one logit or two is taken as it is.
func TestImportJudgeONNX(t *testing.T) {
	dir := traintest.Judge(t, 2, map[string]float32{"red": 3}, 0, nil)
	write(t, dir, map[string]string{"config.json": `{"model_type": "bert", "architectures": ["BertForSequenceClassification"], "id2label": {"0": "parallel", "1": "other"}}`})
	out := filepath.Join(t.TempDir(), "out")
	r, err := Import(t.Context(), dir, Options{Out: out})
	if err != nil {
		t.Fatal(err)
	}
	if j := r.Manifest.Judge; j.Translation != 0 || !j.Segments || !slices.Equal(j.Between, []int32{3}) {
		t.Errorf("the judge is %+v", j)
	}
	if got := judged(t, out, [2]string{"red", "red red"}); got[0] != -9 { // the label of translations comes first
		t.Errorf("the logit is %v", got)
	}
	write(t, dir, map[string]string{"config.json": `{"model_type": "bert", "architectures": ["BertForSequenceClassification"], "id2label": {"0": "LABEL_0"}}`})
	_, err = Import(t.Context(), dir, Options{Out: filepath.Join(t.TempDir(), "out")})
	encodetest.Refused(t, err, "config.json has 1 labels")
}

func TestImportJudgeRefuses(t *testing.T) {
	dir, _ := classifier(t, "bert", 3)
	_, err := Import(t.Context(), dir, Options{})
	encodetest.Refused(t, err, "3 labels LABEL_0, LABEL_1, LABEL_2, but a judge has one logit, or two")
	dir, _ = classifier(t, "bert", 1)
	_, err = Import(t.Context(), dir, Options{Prefix: "query: "})
	encodetest.Refused(t, err, "neither --prefix nor --pooling")
	config := readJSON(t, filepath.Join(dir, "config.json"))
	delete(config, "id2label") // two labels, where the weights are of one
	writeJSON(t, filepath.Join(dir, "config.json"), config)
	_, err = Import(t.Context(), dir, Options{})
	encodetest.Refused(t, err, "has no dense layer classifier of 16 to 2 numbers")
}

func readJSON(t *testing.T, path string) map[string]any {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]any{}
	if err := json.Unmarshal(raw, &all); err != nil {
		t.Fatal(err)
	}
	return all
}

func writeJSON(t *testing.T, path string, value any) {
	t.Helper()
	raw, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Dir(path), map[string]string{filepath.Base(path): string(raw)})
}
