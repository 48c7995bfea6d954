package eval

import (
	"context"
	"fmt"
	"hash/fnv"
	"maps"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"bitextmine/eval/testset"

	"bitextmine/internal/badinput"
)

// hashEncoder gives each text its own direction.
type hashEncoder struct{ calls, texts int }

func (*hashEncoder) Name() string { return "hash" }
func (*hashEncoder) Dim() int     { return 4 }

func (e *hashEncoder) Encode(_ context.Context, _ string, texts []string, dst []float32) error {
	e.calls++
	e.texts += len(texts)
	for i, text := range texts {
		h := fnv.New64a()
		fmt.Fprint(h, text)
		angle, lift := float64(h.Sum64()%1000), float64(h.Sum64()%77)
		v := []float64{math.Cos(angle), math.Sin(angle), math.Cos(lift), math.Sin(lift)}
		for d := range v {
			dst[i*4+d] = float32(v[d] / math.Sqrt2)
		}
	}
	return nil
}

func refused(t *testing.T, err error, words ...string) {
	t.Helper()
	if err == nil {
		t.Fatal("no error")
	}
	if !badinput.Is(err) {
		t.Errorf("%v: not marked as bad input, so it would be exit code 1", err)
	}
	if strings.Contains(err.Error(), "\n") {
		t.Errorf("more than one line: %q", err)
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("%q does not say %q", err, w)
		}
	}
}

func TestBUCCRefuses(t *testing.T) {
	good := map[string]string{"de-en.train.de": "d1\teins\nd2\tzwei\n", "de-en.train.en": "e1\tone\ne2\ttwo\n", "de-en.train.gold": "d1\te1\n"}
	for _, c := range []struct {
		name, file, text string
		words            []string
	}{
		{"an id twice", "de-en.train.de", "d1\teins\nd1\tzwei\n", []string{"de-en.train.de:2", "d1", "line 1"}},
		{"gold names a missing id", "de-en.train.gold", "d1\te9\n", []string{"de-en.train.gold:1", "e9", "en"}},
		{"gold turned round", "de-en.train.gold", "e1\td1\n", []string{"de-en.train.gold:1", "e1", "de"}},
		{"gold without a tab", "de-en.train.gold", "d1 e1\n", []string{"de-en.train.gold:1"}},
		{"an id without a sentence", "de-en.train.en", "e1\t\ne2\ttwo\n", []string{"de-en.train.en:1", "no sentence", "gold"}},
		{"a line without an id", "de-en.train.en", "e1\tone\ntwo\n", []string{"de-en.train.en:2"}},
		{"not UTF-8", "de-en.train.en", "e1\tone\ne2\t\xff\xfe\n", []string{"de-en.train.en:2"}},
		{"no gold file", "de-en.train.gold", "", []string{"gold"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := put(t, good)
			put := filepath.Join(dir, c.file)
			if c.text == "" {
				remove(t, put)
			} else {
				write(t, put, strings.NewReader(c.text))
			}
			runner := Runner{Vectors: &testset.Embedder{Encoder: &hashEncoder{}}, Searcher: exactSearch{}}
			_, err := runner.BUCC(t.Context(), []*Protocol{BUCCLaser}, dir, []testset.LanguagePair{{Source: "de", Target: "en"}})
			refused(t, err, c.words...)
		})
	}
	_, err := testset.FindBUCC(put(t, good), testset.LanguagePair{Source: "fr", Target: "en"})
	refused(t, err, "fr-en")
	_, err = testset.FindBUCC("/does/not/exist", testset.LanguagePair{Source: "fr", Target: "en"})
	refused(t, err, "/does/not/exist")
	_, err = testset.FindBUCC(put(t, map[string]string{"de-en.train.de": "", "deu-eng.training.deu": "", "de-en.train.en": ""}), testset.LanguagePair{Source: "de", Target: "en"})
	refused(t, err, "same part")
}

func TestAlignedRefuses(t *testing.T) {
	dir := put(t, map[string]string{
		"x.deu-eng.deu": "eins\nzwei\n", "x.deu-eng.eng": "one\ntwo\nthree\n",
		"x.fra-eng.fra": "un\n\ntrois\n", "x.fra-eng.eng": "one\ntwo\nthree\n",
	})
	runner := Runner{Vectors: &testset.Embedder{Encoder: &hashEncoder{}}, Searcher: exactSearch{}}
	for language, words := range map[string][]string{"de": {"x.deu-eng.deu", "2 lines", "3"}, "fr": {"x.fra-eng.fra:2", "empty"}} {
		sets, err := testset.FindAligned(dir, "devtest", []string{language}, "en")
		if err != nil {
			t.Fatal(err)
		}
		_, err = runner.Aligned(t.Context(), []*Protocol{XSim}, sets, AlignedOptions{})
		refused(t, err, words...)
	}
	_, err := testset.FindAligned(dir, "devtest", []string{"ja"}, "en")
	refused(t, err, "ja")
	_, err = testset.FindAligned(t.TempDir(), "devtest", nil, "en")
	refused(t, err, "no line-aligned")
	// The retrieval protocol needs a wider target side.
	sets, err := testset.FindAligned(dir, "devtest", []string{"de"}, "en")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := runner.Aligned(t.Context(), []*Protocol{Retrieval}, sets, AlignedOptions{}); err != nil {
		t.Error(err)
	}
}

func TestSTSRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		files map[string]string
		words []string
	}{
		"a score that is no number": {map[string]string{"2012/A.test.tsv": "four\ta\tb\n"}, []string{"A.test.tsv:1", "four"}},
		"too few fields":            {map[string]string{"2012/A.test.tsv": "4.0\ta\n"}, []string{"A.test.tsv:1"}},
		"more scores than pairs":    {map[string]string{"STS.input.track1.ar-ar.txt": "a\tb\n", "STS.gs.track1.ar-ar.txt": "1\n2\n"}, []string{"2 scores"}},
		"fewer scores than pairs":   {map[string]string{"STS.input.track5.en-en.txt": "a\tb\nc\td\n", "STS.gs.track5.en-en.txt": "1\n"}, []string{"2 pairs", "1 scores"}},
		"another half of track 6":   {map[string]string{"STS.input.track6.tr-en.txt": "a\tb\nc\td\n", "STS.gs.track6.tr-en.txt": "1\n"}, []string{"2 pairs", "1 scores"}},
		"a score above the scale":   {map[string]string{"2012/A.test.tsv": "7.2\ta\tb\n"}, []string{"A.test.tsv:1", "7.2 is not from 0 to 5"}},
		"a score below the scale":   {map[string]string{"STS22/de.jsonl": `{"score":-1,"sentence1":"a","sentence2":"b"}`}, []string{"de.jsonl:1", "-1 is not from 0 to 5"}},
		"no gold at all":            {map[string]string{"2012/A.test.tsv": "\ta\tb\n"}, []string{"A.test.tsv", "no pair"}},
	} {
		t.Run(name, func(t *testing.T) {
			files, err := testset.FindSTS(put(t, c.files))
			if err != nil {
				t.Fatal(err)
			}
			_, err = testset.ReadSTS(files[0])
			refused(t, err, c.words...)
		})
	}
	_, err := testset.FindSTS(t.TempDir())
	refused(t, err, "no STS set")
	_, err = testset.FindSTS(filepath.Join(t.TempDir(), "nowhere"))
	refused(t, err, "nowhere is no directory", "--dir")
}

// TestFindAlignedLayouts checks the three published layouts and codes with a script.
func TestFindAlignedLayouts(t *testing.T) {
	dir := put(t, map[string]string{
		"tatoeba.cmn-eng.cmn": "", "tatoeba.cmn-eng.eng": "", "x.zh-Hant-en.zh-Hant": "", "x.zh-Hant-en.en": "",
		"devtest/deu_Latn.devtest": "", "devtest/eng_Latn.devtest": "", "dev/fra_Latn.dev": "",
		"newstest2019-ref.jpn.txt": "", "newstest2019-ref.jpn.txt.gz": "", "newstest2019-src.eng.txt": "", "newstest2019-ref.eng-GB.txt": "", "README.md": "",
	})
	sets, err := testset.FindAligned(dir, "devtest", nil, "en")
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, s := range sets {
		got[s.Label+" "+s.Pair.Source] = filepath.Base(s.Target)
	}
	want := map[string]string{
		"cmn zh": "tatoeba.cmn-eng.eng", "zh-Hant zh-Hant": "x.zh-Hant-en.en",
		"deu_Latn de": "eng_Latn.devtest", "jpn ja": "newstest2019-src.eng.txt",
	}
	if !maps.Equal(got, want) || len(sets) != len(want) {
		t.Errorf("found %v of %d sets, want %v", got, len(sets), want)
	}
	only, err := testset.FindAligned(dir, "devtest", []string{"zh"}, "en")
	if err != nil || len(only) != 1 || only[0].Label != "cmn" {
		t.Errorf("%v, %v; want the one Chinese set", only, err)
	}
	_, err = testset.FindAligned(dir, "test", []string{"de"}, "en")
	refused(t, err, `no part "test": name one of dev, devtest`, "--split")
}
