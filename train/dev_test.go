package train

import (
	"context"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"bitextmine/eval/testset"
	"bitextmine/index/exact"
	"bitextmine/internal/badinput"
	"bitextmine/train/traintest"
)

// compass is an encoder whose texts are angles; it counts what it encodes.
type compass struct{ encoded int }

func (*compass) Name() string { return "compass" }
func (*compass) Dim() int     { return 2 }

func (c *compass) Encode(_ context.Context, _ string, texts []string, dst []float32) error {
	for i, text := range texts {
		var degrees float64
		if _, err := fmt.Sscan(text, &degrees); err != nil {
			return err
		}
		sin, cos := math.Sincos(degrees * math.Pi / 180)
		dst[2*i], dst[2*i+1] = float32(cos), float32(sin)
	}
	c.encoded += len(texts)
	return nil
}

func evaluatedBy(t *testing.T, sets ...DevSet) (map[string]float64, int) {
	t.Helper()
	for _, d := range sets {
		if err := d.Validate(); err != nil {
			t.Fatal(err)
		}
	}
	searcher, err := exact.Open(exact.Options{Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	c := &compass{}
	figures, err := EvaluateDev(t.Context(), sets, &testset.Embedder{Encoder: c}, searcher)
	if err != nil {
		t.Fatal(err)
	}
	return figures, c.encoded
}

func TestDevOfSTS(t *testing.T) {
	dir := t.TempDir()
	// the wider the angle the lower the score
	traintest.Write(t, filepath.Join(dir, "2016", "turns.test.tsv"), "5\t0\t1\n3\t10\t30\n2\t5\t50\n4\t80\t90\n")
	figures, _ := evaluatedBy(t, DevSet{Protocol: "sts", Dir: dir})
	if got := figures["sts 2016 turns spearman"]; math.Abs(got-100) > 1e-9 {
		t.Errorf("Spearman's rho is %v of %v, want 100", got, figures)
	}
}

// TestDevsThatShareSentences: two BUCC protocols encode them once, and give what each gives alone.
func TestDevsThatShareSentences(t *testing.T) {
	dir := t.TempDir()
	var source, target, gold strings.Builder
	for i := range 40 {
		fmt.Fprintf(&source, "de-%d\t%d\n", i, 4*i)
		fmt.Fprintf(&target, "en-%d\t%d.5\n", i, 4*i+i%3)
		fmt.Fprintf(&gold, "de-%d\ten-%d\n", i, i)
	}
	for name, text := range map[string]string{"de": source.String(), "en": target.String(), "gold": gold.String()} {
		traintest.Write(t, filepath.Join(dir, "de-en.train."+name), text)
	}
	laser := DevSet{Protocol: "bucc-laser", Dir: dir, Tgt: "en"} // all that are there
	every, _ := evaluatedBy(t, laser)
	laser.Src = []string{"de"}
	cosine := laser
	cosine.Protocol = "bucc-cosine"
	want, alone := evaluatedBy(t, laser)
	other, _ := evaluatedBy(t, cosine)
	maps.Copy(want, other)
	got, together := evaluatedBy(t, laser, cosine)
	if !maps.Equal(got, want) || got["bucc-laser de-en f1"] == 0 || got["bucc-cosine de-en f1"] == 0 {
		t.Errorf("together %v, alone %v", got, want)
	}
	if every["bucc-laser de-en f1"] != want["bucc-laser de-en f1"] {
		t.Errorf("without src %v, want %v", every, want)
	}
	if alone != 80 || together != 80 {
		t.Errorf("encoded %d and %d sentences, want 80", alone, together)
	}
}

// TestStopsOnTestSet: a preset that chooses a checkpoint on a published test set is warned of, by its files' names.
func TestStopsOnTestSet(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		set  DevSet
		file string
		want string
	}{
		"Tatoeba":        {DevSet{Protocol: "tatoeba"}, "tatoeba.deu-eng.eng", "LASER's Tatoeba test"},
		"NTREX":          {DevSet{Protocol: "tatoeba"}, "newstest2019-src.eng.txt", "NTREX"},
		"FLORES devtest": {DevSet{Protocol: "tatoeba", Split: "devtest"}, "x", "FLORES devtest"},
		"BUCC":           {DevSet{Protocol: "bucc-laser"}, "de-en.test.gold", "BUCC's test half"},
		"STS":            {DevSet{Protocol: "sts"}, "x", "an STS test"},
		"FLORES dev":     {DevSet{Protocol: "tatoeba", Split: "dev"}, "x", ""},
		"BUCC train":     {DevSet{Protocol: "bucc-laser"}, "de-en.train.gold", ""},
	} {
		dir := filepath.Join(t.TempDir(), "a[1]") // no pattern
		traintest.Write(t, filepath.Join(dir, c.file), "")
		c.set.Dir = dir
		config := Config{Dev: []DevSet{c.set}, Stop: Stop{Metric: c.set.Protocol + " average accuracy"}}
		got := config.testWarning()
		if (c.want == "") != (got == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
		if config.Stop.Metric = ""; config.testWarning() != "" {
			t.Errorf("%s: a warning although nothing is chosen", name)
		}
	}
}

// TestCheckDev: what an evaluation would refuse only after steps is refused before the first.
func TestCheckDev(t *testing.T) {
	t.Parallel()
	dir, other := t.TempDir(), t.TempDir()
	for _, in := range []string{dir, other} {
		traintest.Write(t, filepath.Join(in, "gold.deu-eng.deu"), "ein Haus\nzwei\n")
		traintest.Write(t, filepath.Join(in, "gold.deu-eng.eng"), "a house\ntwo\n")
	}
	set := DevSet{Protocol: "tatoeba", Dir: dir, Src: []string{"de"}, Tgt: "en"}
	in := func(change func(*DevSet)) DevSet { s := set; change(&s); return s }
	searcher, err := exact.Open(exact.Options{Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		sets   []DevSet
		metric string
		want   string
	}{
		"good":            {[]DevSet{set}, "tatoeba deu accuracy", ""},
		"no metric":       {[]DevSet{set}, "", ""},
		"no sets":         {nil, "", ""},
		"no average":      {[]DevSet{set}, "tatoeba average accuracy", "name one of tatoeba deu accuracy, tatoeba deu accuracy_backward, tatoeba deu accuracy_forward"},
		"error rate":      {[]DevSet{set}, "tatoeba deu error", "better when higher"},
		"misspelt split":  {[]DevSet{in(func(s *DevSet) { s.Split = "Dev" })}, "", `has no part "Dev"`},
		"no such file":    {[]DevSet{in(func(s *DevSet) { s.Src = []string{"fr"} })}, "", "has no line-aligned test set of fr and en"},
		"two of one name": {[]DevSet{set, in(func(s *DevSet) { s.Dir = other })}, "", "two sets give a figure of the name"},
	} {
		err := CheckDev(t.Context(), c.sets, c.metric, searcher)
		if (c.want == "") != (err == nil) || err != nil && (!badinput.Is(err) || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// TestLongWarmUpIsSaid: a rate that is never reached is a warning, not an error: a training may be tried shortened.
func TestLongWarmUpIsSaid(t *testing.T) {
	c, o := tiny(t, nil)
	c.Optimiser.Warmup = c.Steps + 1
	told := ""
	o.Report = func(what string) { told += what + "\n" }
	if _, err := Run(limited(t), c, o); err != nil || !strings.Contains(told, "the rate never reaches learning_rate") {
		t.Errorf("%v: %s", err, told)
	}
	c.Steps, c.Optimiser.Warmup, o.Out, told = 1, 0, t.TempDir(), ""
	if _, err := Run(limited(t), c, o); err != nil || !strings.Contains(told, "nothing is learned") {
		t.Errorf("%v: %s", err, told)
	}
}

// TestDevSentencesInBitextAreSaid: a dev set whose sentences are trained on flatters every figure.
func TestDevSentencesInBitextAreSaid(t *testing.T) {
	c, o := tiny(t, evaluated)
	told := ""
	o.Report = func(what string) { told += what + "\n" }
	if _, err := Run(limited(t), c, o); err != nil || strings.Contains(told, "bitext.exclude") {
		t.Errorf("disjoint: %v: %s", err, told)
	}
	held := filepath.Join(filepath.Dir(o.Out), "held", "held.epo-eng.eng")
	text, err := os.ReadFile(held)
	if err != nil {
		t.Fatal(err)
	}
	first, _, _ := strings.Cut(string(text), "\n")
	pairs := c.Bitext.Sources[0].Files[0]
	trained, err := os.ReadFile(pairs)
	if err != nil {
		t.Fatal(err)
	}
	traintest.Write(t, pairs, string(trained)+"io alia\t "+first+"\n")
	o.Out, told = t.TempDir(), ""
	summary, err := Run(limited(t), c, o)
	if err != nil || !strings.Contains(told, "1 of 531 pairs have a sentence of the dev sets") || summary.Stats.Watched != 1 {
		t.Errorf("%v: %s", err, told)
	}
	c.Bitext.Exclude, o.Out, told = []string{held}, t.TempDir(), ""
	if _, err := Run(limited(t), c, o); err != nil || strings.Contains(told, "bitext.exclude") {
		t.Errorf("excluded: %v: %s", err, told)
	}
}
