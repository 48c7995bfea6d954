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
	"bitextmine/internal/badinput"
)

// TestLabelledGolden compares both protocols with scikit-learn.
func TestLabelledGolden(t *testing.T) {
	data, err := os.ReadFile("testdata/golden/labelled.json")
	if err != nil {
		t.Fatal(err)
	}
	var golden struct {
		Pairs []struct {
			Cosines          []float64
			Labels           []int
			AP, Accuracy, F1 float64
		}
		Probes []struct {
			Train, Test   [][]float32
			TrainLabels   []int `json:"train_labels"`
			TestLabels    []int `json:"test_labels"`
			Probabilities [][]float64
			Accuracy      float64
		}
	}
	if err := json.Unmarshal(data, &golden); err != nil || len(golden.Pairs) == 0 || len(golden.Probes) == 0 {
		t.Fatal(err)
	}
	for i, g := range golden.Pairs {
		var pairs []judgedPair
		for k, c := range g.Cosines {
			pairs = append(pairs, judgedPair{c, g.Labels[k] == 1})
		}
		c := classify(pairs)
		if !near(c.precision, g.AP) || !near(c.accuracy, g.Accuracy) || !near(c.f1, g.F1) {
			t.Errorf("pairs %d: %+v, scikit-learn has %v, %v, %v", i, c, g.AP, g.Accuracy, g.F1)
		}
	}
	names := func(labels []int) (all []string) {
		for _, l := range labels {
			all = append(all, string(rune('a'+l)))
		}
		return all
	}
	matrix := func(rows [][]float32) embedding.Matrix {
		var all []float32
		for _, row := range rows {
			all = append(all, row...)
		}
		return embedding.FromFloat32(all, len(rows[0]))
	}
	for i, g := range golden.Probes {
		p, err := newProbe(matrix(g.Train), names(g.TrainLabels))
		if err != nil {
			t.Fatal(err)
		}
		if got := p.accuracy(matrix(g.Test), names(g.TestLabels)); !near(got, g.Accuracy) {
			t.Errorf("probe %d: accuracy %v, scikit-learn has %v", i, got, g.Accuracy)
		}
		logits := make([]float64, len(p.labels))
		rows := widened(matrix(g.Test))
		for k, want := range g.Probabilities {
			p.logits(p.weights, rows[k*p.dim:][:p.dim], logits)
			for label, logit := range logits {
				if got := math.Exp(logit - logSum(logits)); math.Abs(got-want[label]) > 1e-5 {
					t.Fatalf("probe %d, text %d: probability %v, scikit-learn has %v", i, k, got, want[label])
				}
			}
		}
	}
}

// letters gives a text the counts of its letters a to d as a vector.
type letters struct{}

func (letters) Name() string { return "letters" }

func (letters) Vectors(_ context.Context, side testset.Side, _ testset.Role) (testset.EncodedSide, error) {
	var rows []float32
	for _, text := range side.Texts {
		row := make([]float32, 4)
		for _, r := range text {
			row[(r-'a')&3] += 1 / float32(len(text))
		}
		rows = append(rows, row...)
	}
	return testset.EncodedSide{Side: side, Rows: embedding.FromFloat32(rows, 4)}, nil
}

func labelledReport(t *testing.T, p *Protocol, files map[string]string) (*report.Report, error) {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	r := &Runner{Vectors: letters{}}
	all, err := r.Labelled(t.Context(), []*Protocol{p}, dir, "en")
	if err != nil {
		return nil, err
	}
	return all[0], nil
}

func TestPairsAndProbe(t *testing.T) {
	xnli := "language\tgold_label\tsentence1\tsentence2\n" +
		"de\tentailment\taaaa\taaab\nde\tneutral\ta\td\nde\tcontradiction\taaaa\tbbbb\nfr\tentailment\tab\tab\nfr\tcontradiction\tab\tcd\n"
	paws := "id\tsentence1\tsentence2\tlabel\n1\tabc\tabc\t1\n2\tabc\tddd\t0\n"
	out, err := labelledReport(t, Pairs, map[string]string{"xnli.test.tsv": xnli, "ja/test_2k.tsv": paws, "ja/translated_train.tsv": paws, "ja/dev_2k.tsv": paws, "notes.tsv": "other\tfile\n"})
	if err != nil || len(out.Rows) != 3 || len(out.Notes) != 2 || !strings.Contains(out.Notes[0], "dev_2k.tsv") || !strings.Contains(out.Notes[0], "translated_train.tsv") || out.Rows[1].Name != "de xnli.test" || out.Rows[0].Name != "ja test_2k" {
		t.Fatalf("%+v, %v", out, err)
	}
	for _, row := range out.Rows {
		if row.Cells[0] != 100.0 || row.Cells[1] != 100.0 || row.Cells[2] != 100.0 || row.Cells[3] != 2 {
			t.Errorf("%+v", row)
		}
	}
	train := strings.Repeat("x\taaab\nx\taaaa\ny\tbbba\ny\tbbbb\n", 10)
	out, err = labelledReport(t, Probe, map[string]string{"en.train.1000": train, "de.train": strings.ReplaceAll(strings.ReplaceAll(train, "x\t", "z\t"), "y\t", "x\t"),
		"en.test": "x\taa\ny\tbb\n", "de.test": "z\taa\nx\tbb\n", "readme": "no set"})
	if err != nil || len(out.Rows) != 2 {
		t.Fatalf("%+v, %v", out, err)
	}
	if de, en := out.Rows[0], out.Rows[1]; de.Name != "de" || de.Cells[0] != 100.0 || de.Cells[1] != 0.0 ||
		en.Cells[0] != 100.0 || en.Cells[1] != 100.0 || en.Cells[3] != 2 {
		t.Errorf("%+v", out.Rows)
	}
}

// TestProbeOfMLDoc: MLDoc's own names of files are read.
func TestProbeOfMLDoc(t *testing.T) {
	train := strings.Repeat("x\taaab\ny\tbbba\n", 10)
	out, err := labelledReport(t, Probe, map[string]string{"english.train.1000": train, "german.train.1000": train,
		"english.test": "x\taa\nz\tcc\n", "german.test": "x\taa\ny\tbb\n", "english.dev": "x\taa\n"})
	if err != nil || len(out.Rows) != 2 || out.Rows[0].Name != "en" || out.Rows[1].Name != "de" || out.Rows[1].Cells[1] != 100.0 {
		t.Fatalf("%+v, %v", out, err)
	}
}

// TestPairsWithNumbers: the numbers of XNLI's classes are not those of two classes; what they may be is said.
func TestPairsWithNumbers(t *testing.T) {
	set := func(positive, neutral, negative string) map[string]string {
		return map[string]string{"de/a.tsv": "sentence1\tsentence2\tlabel\naaaa\taaab\t" + positive + "\naaaa\tab\t" + neutral +
			"\naaaa\tbbbb\t" + negative + "\n"}
	}
	for _, labels := range [][3]string{{"0", "1", "2"}, {"0.0", "1.0", "2.0"}, {"entailment", "neutral", "contradiction"}, {"1.0", "-", "0.0"},
		{"True", "", "False"}} {
		out, err := labelledReport(t, Pairs, set(labels[0], labels[1], labels[2]))
		if err != nil {
			t.Errorf("%q: %v", labels, err)
			continue
		}
		notes := strings.Join(out.Notes, "\n")
		if out.Rows[0].Cells[0] != 100.0 || out.Rows[0].Cells[3] != 2 || !strings.Contains(notes, "1 pairs with other labels are left out: 1 of de a") ||
			strings.Contains(notes, "XNLI") != strings.HasPrefix(labels[0], "0") {
			t.Errorf("%q: %+v", labels, out)
		}
	}
	for _, labels := range [][3]string{{"0", "1", "3"}, {"2", "-1", "1"}, {"1", "0.5", "0"}} {
		if _, err := labelledReport(t, Pairs, set(labels[0], labels[1], labels[2])); !badinput.Is(err) || !strings.Contains(err.Error(), "has the labels") {
			t.Errorf("%q: %v", labels, err)
		}
	}
}

// fileRoles notes the files that vectors are asked for.
type fileRoles struct {
	letters
	files []string
}

func (f *fileRoles) Vectors(ctx context.Context, side testset.Side, role testset.Role) (testset.EncodedSide, error) {
	f.files = append(f.files, filepath.Base(role.File))
	return f.letters.Vectors(ctx, side, role)
}

// TestLabelledNamesItsFiles: names of files of vectors can have the text's.
func TestLabelledNamesItsFiles(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"en.train": "x\taa\ny\tbb\n", "en.test": "x\taa\n", "de.tsv": "sentence1\tsentence2\tlabel\tlanguage\na\ta\t1\tde\na\tb\t0\tde\n"} {
		write(t, filepath.Join(dir, name), strings.NewReader(text))
	}
	roles := &fileRoles{}
	if _, err := (&Runner{Vectors: roles}).Labelled(t.Context(), []*Protocol{Pairs, Probe}, dir, "en"); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(roles.files, " "); got != "de.tsv de.tsv en.train en.test" {
		t.Error(got)
	}
}

// TestProbeOfPairs: pairs are labelled by their similarity, which no single text tells.
func TestProbeOfPairs(t *testing.T) {
	rows := strings.Repeat("1\t1\t2\taaaa\taaaa\n0\t3\t4\taaaa\tbbbb\n1\t5\t6\tbbbb\tbbbb\n0\t7\t8\tbbbb\taaaa\n", 20)
	mrpc := "\ufeffQuality\t#1 ID\t#2 ID\t#1 String\t#2 String\n" + rows
	out, err := labelledReport(t, Probe, map[string]string{"msr_paraphrase_train.txt": mrpc, "msr_paraphrase_test.txt": mrpc,
		"de.test.tsv": "sentence1\tsentence2\tlabel\ncccc\tcccc\t1\ncccc\tdddd\t0\n"})
	if err != nil || len(out.Rows) != 2 {
		t.Fatalf("%+v, %v", out, err)
	}
	de, en := out.Rows[0], out.Rows[1]
	if en.Name != "en" || en.Cells[0] != 100.0 || en.Cells[2] != 80 || de.Name != "de" || de.Cells[0] != nil ||
		de.Cells[1] != 50.0 {
		t.Errorf("%+v", out.Rows)
	}
}

func TestLabelledRefuses(t *testing.T) {
	header := "sentence1\tsentence2\tlabel\n"
	for says, c := range map[string]struct {
		protocol *Protocol
		files    map[string]string
	}{
		"has no labelled pairs":                 {Pairs, map[string]string{"de/a.tsv": "first\tsecond\n"}},
		"de/a.tsv has a header but no pairs":    {Pairs, map[string]string{"de/a.tsv": header}},
		"de.test.tsv has a header but no pairs": {Probe, map[string]string{"de.train.tsv": header + "a\tb\tx\n", "de.test.tsv": header}},
		"a.tsv:2: the line has 2 fields":        {Pairs, map[string]string{"de/a.tsv": header + "a\tb\n"}},
		"must be a code":                        {Pairs, map[string]string{"no language/a.tsv": header + "a\tb\t1\n"}},
		"1 pairs with a label of which 1 are":   {Pairs, map[string]string{"de/a.tsv": header + "a\tb\t1\na\tb\tmaybe\n"}},
		"has no labelled texts":                 {Probe, map[string]string{"de.train": "x\ta\n"}},
		"de.test:1: the line is not label<TAB>": {Probe, map[string]string{"de.train": "x\ta\n", "de.test": "a\n"}},
		"has several train files of de":         {Probe, map[string]string{"de.train": "x\ta\n", "de.train.10": "x\ta\n", "de.test": "x\ta\n"}},
		"one label only":                        {Probe, map[string]string{"de.train": "x\ta\n", "de.test": "x\ta\n"}},
		"but no training texts of fr or of en":  {Probe, map[string]string{"de.train": "x\ta\ny\tb\n", "fr.test": "x\ta\n"}},
		"keep them in folders of their own":     {Probe, map[string]string{"en.train": "x\taa\ny\tbb\n", "de.test.tsv": header + "a\tb\tx\n"}},
		"pairs of the language de alone":        {Probe, map[string]string{"de.train.tsv": "a\tb\n", "de.test": "x\ta\n"}},
		"de.test, such as \"aa\", is a label":   {Probe, map[string]string{"de.train": "x\taa\ny\tbb\n", "de.test": "aa\tx\nbb\ty\n"}},
		"the name must begin with a code":       {Probe, map[string]string{"a language.train": "x\ta\n", "de.test": "x\ta\n"}},
	} {
		if _, err := labelledReport(t, c.protocol, c.files); !badinput.Is(err) || !strings.Contains(err.Error(), says) {
			t.Errorf("%v, want %q", err, says)
		}
	}
}
