package bitext

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
)

func sampleRows(n int) []Row {
	rows := make([]Row, n)
	for i := range rows {
		side := func(lang string) Sentence {
			return Sentence{
				Text: fmt.Sprintf("%s Satz Nr. %d, schön", lang, i), Lang: lang, Key: [16]byte{byte(i), byte(i >> 8), lang[0]},
				Shard: fmt.Sprintf("%s.txt#%d", lang, i/100), Row: uint32(i), Doc: fmt.Sprintf("%s-%d", lang, i), Line: uint64(i) + 1<<40,
			}
		}
		rows[i] = Row{
			Source: side("de"), Target: side("en"), Score: 1 + float32(i)/1000, Cosine: 0.5, SourceMean: 0.25, TargetMean: 0.125,
			SourceRank: uint8(i % 4), TargetRank: 255, Keep: i%2 == 0,
		}
		if i%3 != 0 {
			rows[i].Source.Identified, rows[i].Source.Share = [...]string{"de", "nl"}[i%2], float32(i%100+1)/100
		}
		if !rows[i].Keep {
			rows[i].Reasons = []string{"below_threshold"}
		}
	}
	return rows
}

func write(t testing.TB, rows []Row) []byte {
	t.Helper()
	var out bytes.Buffer
	w, err := NewWriter(&out, Metadata{RunID: "r", Margin: "ratio", K: 4, Threshold: 1.06, Kept: len(rows)})
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range rows {
		if err := w.Append(row); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// foreignRow is a row of the table as another Parquet library reads it.
type foreignRow struct {
	SrcText  string   `parquet:"src_text"`
	TgtText  string   `parquet:"tgt_text"`
	SrcLang  string   `parquet:"src_lang"`
	Score    float32  `parquet:"score"`
	Prob     *float32 `parquet:"prob,optional"`
	TgtRank  uint8    `parquet:"tgt_rank"`
	SrcKey   [16]byte `parquet:"src_key"`
	SrcShard string   `parquet:"src_shard"`
	SrcRow   uint32   `parquet:"src_row"`
	TgtDoc   string   `parquet:"tgt_doc"`
	SrcLine  uint64   `parquet:"src_line"`
	LidSrc   *string  `parquet:"lid_src,optional"`
	LidSrcP  *float32 `parquet:"lid_src_p,optional"`
	LidTgt   *string  `parquet:"lid_tgt,optional"`
	Keep     bool     `parquet:"keep"`
	Reasons  []string `parquet:"reasons,list"`
}

func TestAnotherReaderReadsEveryValue(t *testing.T) {
	rows := sampleRows(RowGroup + 100) // two row groups
	data := write(t, rows)
	file, err := parquet.OpenFile(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	if v, ok := file.Lookup("mine.threshold"); !ok || v != "1.06" {
		t.Errorf("metadata threshold = %q, %v", v, ok)
	}
	got, err := parquet.Read[foreignRow](bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != len(rows) {
		t.Fatalf("%d rows, want %d", len(got), len(rows))
	}
	for i, g := range got {
		want := rows[i]
		reasons := fmt.Sprint(g.Reasons)
		if g.SrcText != want.Source.Text || g.TgtText != want.Target.Text || g.SrcLang != "de" || g.Score != want.Score ||
			g.Prob != nil || g.TgtRank != 255 || g.SrcKey != want.Source.Key || g.SrcShard != want.Source.Shard ||
			g.SrcRow != want.Source.Row || g.TgtDoc != want.Target.Doc || g.SrcLine != want.Source.Line || g.LidTgt != nil ||
			g.Keep != want.Keep || reasons != fmt.Sprint(want.Reasons) {
			t.Fatalf("row %d = %+v, want %+v", i, g, want)
		}
		if identified := want.Source.Identified; (g.LidSrc == nil) != (identified == "") || g.LidSrc != nil && (*g.LidSrc != identified || *g.LidSrcP != want.Source.Share) {
			t.Fatalf("row %d: identified %v, %v; want %q, %v", i, g.LidSrc, g.LidSrcP, identified, want.Source.Share)
		}
	}
}

func TestSameRowsGiveSameBytes(t *testing.T) {
	rows := sampleRows(RowGroup)
	for i := range rows { // more distinct text than fits in a dictionary by default
		rows[i].Source.Doc += strings.Repeat("x", 40)
		rows[i].Source.URL = "https://example.org/" + rows[i].Source.Doc
		rows[i].Target.Text += strings.Repeat("y", 40)
	}
	want := write(t, rows)
	for range 8 {
		if !bytes.Equal(write(t, rows), want) {
			t.Fatal("two files of the same rows differ")
		}
	}
}

func TestEmptyTableIsAFile(t *testing.T) {
	data := write(t, nil)
	got, err := parquet.Read[foreignRow](bytes.NewReader(data), int64(len(data)))
	if err != nil || len(got) != 0 {
		t.Errorf("%d rows, error %v", len(got), err)
	}
}

func BenchmarkWriter(b *testing.B) {
	rows := sampleRows(RowGroup)
	for b.Loop() {
		write(b, rows)
	}
	b.ReportMetric(float64(len(rows))*float64(b.N)/b.Elapsed().Seconds(), "pairs/s")
}
