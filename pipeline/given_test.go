package pipeline

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"bitextmine/corpus"
	"bitextmine/encode/embedding"
	"bitextmine/encode/encodetest"
	"bitextmine/internal/badinput"
	"bitextmine/pipeline/record"
	"bitextmine/pipeline/setting"
)

const givenDim = 512 // the test's encoder has it

// vectored is text with the vectors that another program made of it, not normalised.
type vectored struct {
	text
	emb [2]string
}

func newVectored(t testing.TB) vectored {
	return vectored{newText(t), [2]string{t.TempDir(), t.TempDir()}}
}

// meanings are lines of one side whose sentences of the same number are translations.
func meanings(side, from, to int) (lines []string) {
	for i := from; i < to; i++ {
		lines = append(lines, fmt.Sprintf("cluster%d meaning%d language%d", i%7, i, side))
	}
	return lines
}

// put writes lines and their vectors. The lines of odd have a vector that has nothing to do with their text.
func (x vectored) put(side int, name string, lines []string, odd ...int) {
	x.t.Helper()
	x.text.put(side, name+".txt", []byte(strings.Join(lines, "\n")+"\n"))
	x.write(filepath.Join(x.emb[side], name+".npy"), len(lines), func(i int, row []float32) {
		text := corpus.Normalise(lines[i])
		if slices.Contains(odd, i) {
			text = "nothing of the sort"
		}
		synthetic{}.embed(text, row)
		for d := range row {
			row[d] *= 4
		}
	})
}

func (x vectored) write(path string, n int, fill func(i int, row []float32)) {
	x.t.Helper()
	rows := func(w *embedding.Writer) error {
		row := make([]float32, givenDim)
		for i := range n {
			fill(i, row)
			if err := w.Append(row); err != nil {
				return err
			}
		}
		return nil
	}
	var err error
	if filepath.Ext(path) == ".npy" {
		_, err = embedding.Write(path, embedding.Meta{Dim: givenDim, DType: embedding.Float32}, rows)
	} else {
		_, err = embedding.WriteRaw(path, givenDim, rows)
	}
	if err != nil {
		x.t.Fatal(err)
	}
}

func (x vectored) config(out string) Config {
	cfg := x.text.config(out)
	cfg.DType, cfg.Encoder, cfg.EmbDType = "float32", "", "float32"
	cfg.SourceEmb, cfg.TargetEmb = x.emb[:1], x.emb[1:]
	return cfg
}

// mined are the pairs of a run with their scores, less what rounding leaves of them, and provenance.
func mined(t testing.TB, r *record.Report) (all []string) {
	t.Helper()
	for _, row := range pairs(t, r) {
		all = append(all, fmt.Sprintf("%s|%s|%d|%d|%.5f|%v", row.Source.Text, row.Target.Text, row.Source.Line, row.Target.Line, row.Score, row.Keep))
	}
	return all
}

// TestGivenVectors: vectors of another program are mined as those of an encoder that has the same, in one shard and in
// many. A sentence that stands again, in its file or the next, keeps its first line's vector.
func TestGivenVectors(t *testing.T) {
	x := newVectored(t)
	de := append(meanings(0, 0, 150), "cluster0  meaning0 language0")
	x.put(0, "a", de, 150)
	x.put(0, "b", append(meanings(0, 150, 200), meanings(0, 20, 40)...), 55, 60)
	x.put(1, "a", append(meanings(1, 100, 260), "", meanings(1, 101, 102)[0]), 160, 161)
	byEncoder := x.text.config(t.TempDir())
	byEncoder.DType = "float32"
	report, err := Run(t.Context(), byEncoder, syntheticOptions(givenDim))
	if err != nil {
		t.Fatal(err)
	}
	want := mined(t, report)
	if report.Counts.Kept < 90 {
		t.Fatalf("%d pairs kept of 100 translations", report.Counts.Kept)
	}
	for _, size := range []int{1000, 37} {
		cfg := x.config(t.TempDir())
		cfg.ShardSize = size
		report := mustRun(t, cfg)
		if got := mined(t, report); !slices.Equal(got, want) {
			t.Errorf("shards of %d: %d pairs differ from the %d of the encoder", size, len(got), len(want))
		}
		if report.Encoder.Dim != givenDim || report.Inputs[1].Vectors != filepath.Join(x.emb[0], "b.npy") || report.Inputs[1].VectorsSHA256 == "" {
			t.Errorf("run.json says %+v of the encoder and %+v of an input", report.Encoder, report.Inputs[1])
		}
	}
}

// TestGivenVectorsOfNights: a night with new files searches only their cells and ends with the bytes of one run; other
// vectors of the same text are looked up and searched again.
func TestGivenVectorsOfNights(t *testing.T) {
	x := newVectored(t)
	out := filepath.Join(t.TempDir(), "out")
	x.put(0, "n1", meanings(0, 0, 80))
	x.put(1, "n1", meanings(1, 0, 80))
	if got := searched(mustRun(t, x.config(out))); got != 1 {
		t.Fatalf("the first night searched %d cells", got)
	}
	x.put(0, "n2", append(meanings(0, 80, 120), meanings(0, 3, 5)...), 40, 41)
	x.put(1, "n2", meanings(1, 80, 120))
	second := mustRun(t, x.config(out))
	if got := searched(second); got != 3 {
		t.Errorf("the second night searched %d cells, want its row and column of 3", got)
	}
	if fresh := mustRun(t, x.config(t.TempDir())); fresh.Bitext.SHA256 != second.Bitext.SHA256 {
		t.Error("the bytes differ from those of one run")
	}
	x.put(1, "n2", meanings(1, 80, 120), 7)
	third := mustRun(t, x.config(out))
	if got := searched(third); got != 2 {
		t.Errorf("with other vectors of one file %d cells were searched, want 2", got)
	}
	if third.Counts.Kept >= second.Counts.Kept {
		t.Errorf("%d pairs kept, before a vector was spoilt %d", third.Counts.Kept, second.Counts.Kept)
	}
}

// TestGivenRaw: values without a header, of a TSV file, whose first line has no row.
func TestGivenRaw(t *testing.T) {
	x := newVectored(t)
	for side := range x.emb {
		lines := meanings(side, 0, 60)
		x.text.put(side, "a.tsv", []byte("text\n"+strings.Join(lines, "\n")+"\n"))
		x.write(filepath.Join(x.emb[side], "a.f32"), len(lines), func(i int, row []float32) { synthetic{}.embed(lines[i], row) })
	}
	cfg := x.config(t.TempDir())
	cfg.EmbDim = givenDim
	rows := pairs(t, mustRun(t, cfg))
	kept := 0
	for _, row := range rows {
		if row.Keep && row.Source.Line == row.Target.Line {
			kept++
		}
	}
	if kept < 55 {
		t.Errorf("%d translations kept of 60", kept)
	}
}

func TestGivenRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		change func(vectored, *Config)
		says   []string
	}{
		"a row too few": {func(x vectored, _ *Config) {
			x.write(filepath.Join(x.emb[1], "a.npy"), 59, func(_ int, row []float32) { row[0] = 1 })
		}, []string{"a.npy has 59 rows", "a.txt has 60 lines"}},
		"subtitles": {func(x vectored, _ *Config) {
			var cues strings.Builder
			for i, line := range meanings(0, 0, 60) {
				fmt.Fprintf(&cues, "%d\n00:00:%02d,000 --> 00:00:%02d,500\n%s\n\n", i+1, i, i, line)
			}
			x.text.put(0, "a.txt", []byte(cues.String()))
		}, []string{"a.txt is srt", "records are no lines", "mine split"}},
		"a catalogue": {func(x vectored, _ *Config) {
			var messages strings.Builder
			for i, line := range meanings(0, 0, 60) {
				fmt.Fprintf(&messages, "msgid \"%s\"\nmsgstr \"%s\"\n\n", meanings(1, i, i+1)[0], line)
			}
			x.text.put(0, "a.po", []byte(messages.String()))
			if err := os.Remove(filepath.Join(x.dirs[0], "a.txt")); err != nil {
				x.t.Fatal(err)
			}
		}, []string{"a.po is po", "mine split"}},
		"a row of zeros": {func(x vectored, _ *Config) {
			x.write(filepath.Join(x.emb[1], "a.npy"), 60, func(i int, row []float32) { row[0] = float32(17 - i) })
		}, []string{"a.npy: row 17, of line 18 of", "zeros"}},
		"a NaN": {func(x vectored, cfg *Config) {
			path := filepath.Join(x.emb[0], "a.f32")
			x.write(path, 60, func(_ int, row []float32) { row[0] = 1 })
			data, err := os.ReadFile(path)
			if err != nil {
				x.t.Fatal(err)
			}
			copy(data[4*givenDim*3:], []byte{0, 0, 0xc0, 0x7f})
			if err := os.WriteFile(path, data, 0o600); err != nil {
				x.t.Fatal(err)
			}
			cfg.SourceEmb, cfg.EmbDim = []string{path}, givenDim
		}, []string{"a.f32: row 3, of line 4 of", "not finite"}},
		"a file too few": {func(x vectored, _ *Config) { x.text.put(0, "b.txt", []byte("noch einer\n")) },
			[]string{"de text is in 2 files and its vectors in 1", "--src-emb"}},
		"one side":         {func(_ vectored, cfg *Config) { cfg.TargetEmb = nil }, []string{"give both"}},
		"no length":        {func(_ vectored, cfg *Config) { cfg.SourceEmb = cfg.SourceText }, []string{"a.txt is not .npy", "--emb-dim"}},
		"a length alone":   {func(_ vectored, cfg *Config) { cfg.SourceEmb, cfg.TargetEmb, cfg.EmbDim = nil, nil, 8 }, []string{"emb_dim = 8"}},
		"other lengths":    {func(x vectored, cfg *Config) { cfg.TargetEmb, cfg.EmbDim = []string{half(x)}, givenDim/2 }, []string{"half.f32 has rows of 256 values", "of 512"}},
		"a type not known": {func(_ vectored, cfg *Config) { cfg.EmbDType = "int8" }, []string{"emb_dtype"}},
		"a scorer":         {func(_ vectored, cfg *Config) { cfg.Scorer, cfg.Threshold = "default", 0.5 }, []string{"--encoder", "--scorer none"}},
		"another encoder":  {func(_ vectored, cfg *Config) { cfg.Encoder = encodetest.Bag() }, []string{" did not make the vectors in"}},
		"an encoder of 512": {func(x vectored, cfg *Config) {
			cfg.Encoder, cfg.EmbDim = encodetest.Bag(), givenDim/2
			cfg.SourceEmb = []string{half(x)}
			cfg.TargetEmb = cfg.SourceEmb
		}, []string{"half.f32 has rows of 256 values, and the encoder " + encodetest.Bag() + " of 512"}},
		"no encoder, no emb": {func(_ vectored, cfg *Config) { cfg.SourceEmb, cfg.TargetEmb = nil, nil }, []string{"encoder names no encoder"}},
	} {
		t.Run(name, func(t *testing.T) {
			x := newVectored(t)
			x.put(0, "a", meanings(0, 0, 60))
			x.put(1, "a", meanings(1, 0, 60))
			cfg := x.config(t.TempDir())
			c.change(x, &cfg)
			_, err := Run(t.Context(), cfg, options())
			if !badinput.Is(err) {
				t.Fatalf("%v is not bad input", err)
			}
			for _, words := range c.says {
				if !strings.Contains(err.Error(), words) {
					t.Errorf("%q lacks %q", err, words)
				}
			}
		})
	}
	x := newVectored(t)
	x.put(0, "a", meanings(0, 0, 60))
	x.put(1, "a", meanings(1, 0, 60))
	_, err := Calibrate(t.Context(), x.config(t.TempDir()), nil, options())
	if !badinput.Is(err) || !strings.Contains(err.Error(), "--encoder") {
		t.Errorf("known pairs beside vectors of an encoder without a name: %v", err)
	}
}

// TestGivenMaker: vectors of sentences in capitals are the named encoder's where they are those of the sentences in
// lower case, as mine encode gives them, or as they stand.
func TestGivenMaker(t *testing.T) {
	for name, of := range map[string]func(string) string{
		"lower case": strings.ToLower, "as they stand": corpus.Normalise, "others": func(text string) string { return text + "!" },
	} {
		x := newVectored(t)
		for side := range 2 {
			lines := meanings(side, 0, 60)
			for i := range lines {
				lines[i] = strings.ToUpper(lines[i])
			}
			x.put(side, "a", lines)
			x.write(filepath.Join(x.emb[side], "a.npy"), len(lines), func(i int, row []float32) { synthetic{}.embed(of(lines[i]), row) })
		}
		cfg := x.config(t.TempDir())
		cfg.Encoder = encodetest.Bag()
		_, err := Run(t.Context(), cfg, syntheticOptions(givenDim))
		if refused := badinput.Is(err) && strings.Contains(err.Error(), "did not make the vectors"); refused != (name == "others") || err != nil && !refused {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// half writes rows of half the length.
func half(x vectored) string {
	path := filepath.Join(x.t.TempDir(), "half.f32")
	data := make([]byte, 60*givenDim/2*4)
	for i := 0; i < len(data); i += givenDim / 2 * 4 {
		data[i+3] = byte(math.Float32bits(1) >> 24)
		data[i+2] = byte(math.Float32bits(1) >> 16)
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		x.t.Fatal(err)
	}
	return path
}

// TestGivenThreshold: where no encoder is named, the distribution of the margins gives the threshold; that of few
// margins gives none.
func TestGivenThreshold(t *testing.T) {
	for _, c := range []struct{ sentences, translations int }{{1200, 150}, {300, 150}} {
		x := newVectored(t)
		x.put(0, "a", meanings(0, 0, c.sentences), c.sentences)
		x.put(1, "a", meanings(1, c.sentences-c.translations, 2*c.sentences), c.sentences+c.translations)
		cfg := x.config(t.TempDir())
		cfg.Scorer, cfg.Threshold = "none", setting.AutoThreshold
		report := mustRun(t, cfg)
		if c.sentences < 500 {
			if report.Threshold != setting.LASERThreshold {
				t.Errorf("%d sentences: the threshold is %v", c.sentences, report.Threshold)
			}
			continue
		}
		right := 0
		for _, row := range pairs(t, report) {
			if strings.Fields(row.Source.Text)[1] == strings.Fields(row.Target.Text)[1] {
				right++
			}
		}
		t.Logf("%d of %d kept pairs are right, above %v", right, report.Counts.Kept, report.Threshold)
		if 2*right < c.translations+report.Counts.Kept-c.translations/5 || !strings.Contains(report.Rule(), "which the distribution of the margins gave") {
			t.Errorf("%d of %d kept pairs are right, of %d translations; %s", right, report.Counts.Kept, c.translations, report.Rule())
		}
	}
}
