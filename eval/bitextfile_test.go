package eval

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"bitextmine/mine"
)

var oneScore = &PairScore{Score: 1.5, Cosine: 0.75, SourceMean: 0.5, TargetMean: 0.5, SourceRank: 0, TargetRank: mine.Unranked}

const oneScoreText = "1.5\t0.75\t0.5\t0.5\t0\t"

func written(t *testing.T, b *BitextFile, scores ...*PairScore) string {
	t.Helper()
	var out strings.Builder
	if err := b.Write(&out, scores, "own_"); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestTSVKeepsEveryLine(t *testing.T) {
	dir := put(t, map[string]string{
		"named.tsv": "id\ttgt_text\tsrc_text\tnote\n7\tone\teins\tx\n\n8\t\tzwei\ty\n", "plain.tsv": "eins\tone\textra\nzwei\ttwo\t\n", "ragged.tsv": "eins\tone\nzwei\ttwo\textra\n", "single.tsv": "eins\n", "short.tsv": "eins\tone\nzwei\n",
		"a.de": "eins\n\nzwei\n\n", "a.en": "one\nnothing\ntwo\n\n", "b.en": "one\n", "tabs.de": "ein\tTab\n",
	})
	b, err := ReadPairsTSV(filepath.Join(dir, "named.tsv"), "src_text", "tgt_text")
	if err != nil || !slices.Equal(b.Sources, []string{"eins", "", "zwei"}) || !slices.Equal(b.Targets, []string{"one", "", ""}) {
		t.Fatalf("%q %q %v", b.Sources, b.Targets, err)
	}
	want := "id\ttgt_text\tsrc_text\tnote\town_score\town_cosine\town_src_mean\town_tgt_mean\town_src_rank\town_tgt_rank\n" +
		"7\tone\teins\tx\t" + oneScoreText + "\n\t\t\t\t\t\t\t\t\t\n8\t\tzwei\ty\t\t\t\t\t\t\n"
	if got := written(t, b, oneScore, nil, nil); got != want {
		t.Errorf("wrote %q, want %q", got, want)
	}
	if b, err = ReadPairsTSV(filepath.Join(dir, "plain.tsv"), "src_text", "tgt_text"); err != nil || len(b.Sources) != 2 {
		t.Fatal(b, err)
	}
	if got := written(t, b, nil, oneScore); got != "eins\tone\textra\t\t\t\t\t\t\nzwei\ttwo\t\t"+oneScoreText+"\n" {
		t.Errorf("wrote %q", got)
	}
	_, err = ReadPairsTSV(filepath.Join(dir, "short.tsv"), "src_text", "tgt_text")
	refused(t, err, "short.tsv:2", "1 tab-separated")
	_, err = ReadPairsTSV(filepath.Join(dir, "ragged.tsv"), "src_text", "tgt_text")
	refused(t, err, "ragged.tsv:2", "3 tab-separated", "the first line has 2")
	_, err = ReadPairsTSV(filepath.Join(dir, "single.tsv"), "src_text", "tgt_text")
	refused(t, err, "single.tsv:1", "a pair needs two")
	b, err = ReadLineAligned(filepath.Join(dir, "a.de"), filepath.Join(dir, "a.en"))
	if err != nil || !slices.Equal(b.Sources, []string{"eins", "", "zwei", ""}) || !slices.Equal(b.Targets, []string{"one", "nothing", "two", ""}) {
		t.Fatalf("%+v %v", b, err)
	}
	if lines := strings.Count(written(t, b, oneScore, nil, oneScore, nil), "\n"); lines != 4 {
		t.Errorf("%d lines written of 4", lines)
	}
	if b, err = ReadLineAligned(filepath.Join(dir, "tabs.de"), filepath.Join(dir, "b.en")); err != nil || b.Sources[0] != "ein\tTab" {
		t.Fatalf("%+v %v", b, err)
	}
	if got := written(t, b, oneScore); got != "ein Tab\tone\t"+oneScoreText+"\n" {
		t.Errorf("a text's tab parts fields: %q", got)
	}
	_, err = ReadLineAligned(filepath.Join(dir, "a.de"), filepath.Join(dir, "b.en"))
	refused(t, err, "a.de", "4 lines", "b.en", "1")
}

func TestTMXKeepsEverything(t *testing.T) {
	const tmx = `<?xml version="1.0"?><!-- kept --><tmx version="1.4"><header/><body>
<tu tuid="1"><note>kept too</note><tuv xml:lang="de-DE"><seg>Ein <bpt i="1">&lt;b&gt;</bpt>Haus &amp; Hof</seg></tuv><tuv xml:lang="EN"><seg>a house</seg></tuv></tu>
<tu><tuv xml:lang="fr"><seg>maison</seg></tuv><tuv xml:lang="en"><seg>house</seg></tuv></tu>
</body></tmx>`
	dir := put(t, map[string]string{"a.tmx": tmx, "cut.tmx": tmx[:200], "none.tmx": "<tmx/>"})
	b, err := ReadTMX(filepath.Join(dir, "a.tmx"), "de", "en")
	if err != nil || !slices.Equal(b.Sources, []string{"Ein Haus & Hof", ""}) || !slices.Equal(b.Targets, []string{"a house", "house"}) {
		t.Fatalf("%q %q %v", b.Sources, b.Targets, err)
	}
	got := written(t, b, oneScore, nil)
	props := `<prop type="x-own_score">1.5</prop><prop type="x-own_cosine">0.75</prop><prop type="x-own_src_mean">0.5</prop><prop type="x-own_tgt_mean">0.5</prop><prop type="x-own_src_rank">0</prop>`
	if want := strings.Replace(tmx, `<tu tuid="1">`, `<tu tuid="1">`+props, 1); got != want {
		t.Errorf("wrote\n%s\nwant\n%s", got, want)
	}
	_, err = ReadTMX(filepath.Join(dir, "cut.tmx"), "de", "en")
	refused(t, err, "cut.tmx", "mend the file")
	_, err = ReadTMX(filepath.Join(dir, "none.tmx"), "de", "en")
	refused(t, err, "none.tmx", "no translation unit")
}

func FuzzReadTMX(f *testing.F) {
	f.Add([]byte(`<tmx><tu><tuv xml:lang="de"><seg>a</seg></tuv></tu></tmx>`))
	f.Add([]byte(`<tu/><tu><tuv lang="en"><seg>&amp;<x/></seg>`))
	f.Fuzz(func(t *testing.T, data []byte) {
		path := filepath.Join(put(t, map[string]string{"f.tmx": string(data)}), "f.tmx")
		b, err := ReadTMX(path, "de", "en")
		if err != nil {
			return
		}
		if len(b.Sources) != len(b.units) || len(b.Targets) != len(b.units) {
			t.Fatalf("%d units, %d sources, %d targets", len(b.units), len(b.Sources), len(b.Targets))
		}
		if got := written(t, b, make([]*PairScore, len(b.units))...); got != string(data) {
			t.Errorf("without scores the file changes: %q", got)
		}
	})
}

func FuzzReadPairsTSV(f *testing.F) {
	f.Add("eins\tone\nzwei\ttwo\n")
	f.Add("tgt_text\tx\tsrc_text\n\n1\t2\t3\r\n")
	f.Fuzz(func(t *testing.T, text string) {
		b, err := ReadPairsTSV(filepath.Join(put(t, map[string]string{"f.tsv": text}), "f.tsv"), "src_text", "tgt_text")
		if err != nil {
			return
		}
		if len(b.Sources) != len(b.Targets) {
			t.Fatalf("%d sources, %d targets", len(b.Sources), len(b.Targets))
		}
		written(t, b, make([]*PairScore, len(b.Sources))...)
	})
}

func FuzzReadNegatives(f *testing.F) {
	f.Add(`{"a": {"errtype": "Number", "src": "b"}}`)
	f.Fuzz(func(t *testing.T, text string) {
		negatives, err := ReadNegatives(filepath.Join(put(t, map[string]string{"n.json": text}), "n.json"))
		if err == nil && len(negatives) == 0 {
			t.Error("no negative and no error")
		}
	})
}
