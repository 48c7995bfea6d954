package corpus

import (
	"reflect"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"bitextmine/corpus/corpustest"
	"bitextmine/corpus/input"
	"bitextmine/internal/badinput"
)

func TestMetadataColumns(t *testing.T) {
	for list, want := range map[string][2]string{
		"": {}, "date": {"date", "date"}, "datum=date, source": {"datum,source", "date,source"},
	} {
		if got, err := MetadataColumns(list); got != want || err != nil {
			t.Errorf("%q: %q, %v", list, got, err)
		}
	}
	for list, want := range map[string]string{
		",": "is no list of columns", "date,": "is no list of columns", "=date": "is no list", "a=b=c": "is no list",
		"date,date": `names column "date" twice`, "a=x,b=x": `names column "x" twice`,
	} {
		if _, err := MetadataColumns(list); !badinput.Is(err) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", list, err)
		}
	}
}

func TestMetadataOfFormats(t *testing.T) {
	type row struct {
		Text string `parquet:"text"`
		Day  int32  `parquet:"day,date"`
		At   int64  `parquet:"at,timestamp(microsecond)"`
		ID   int64  `parquet:"id"`
		From string `parquet:"from"`
	}
	at := time.Date(2024, 3, 1, 12, 30, 0, 0, time.UTC)
	rows := []row{{"Eins", int32(at.Unix() / 86400), at.UnixMicro(), 7, "x"}}
	for name, c := range map[string]struct {
		columns, data string
		want          [][]string
	}{
		"a.jsonl":   {"date,n", `{"text":"Eins","date":"2024-03-01","n":7}` + "\n" + `{"text":"zwei","n":null}` + "\n", [][]string{{"2024-03-01", "7"}, {"", ""}}},
		"b.jsonl":   {"p,n", `{"p":NaN,"text":"NaN \"-Infinity\"","n":-Infinity}` + "\n" + `{"p":[Infinity],"text":"zwei"}` + "\n", [][]string{{"", ""}, {"", ""}}},
		"a.tsv":     {"n,date", "date\ttext\tn\n2024-03-01\tEins\t7\n\tzwei\t\n", [][]string{{"7", "2024-03-01"}, {"", ""}}},
		"a.parquet": {"day,at,id,from", string(corpustest.Parquet(t, rows)), [][]string{{"2024-03-01T00:00:00Z", "2024-03-01T12:30:00Z", "7", "x"}}},
	} {
		opts := DefaultOptions()
		opts.MetaColumns = c.columns
		sentences, _, err := readAll(name, []byte(c.data), opts)
		var got [][]string
		for _, s := range sentences {
			got = append(got, s.Meta)
		}
		if err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	opts := DefaultOptions()
	opts.MetaColumns = "date"
	long := strings.Repeat("x", MaxMetadataBytes+1)
	_, counts, err := readAll("a.jsonl", []byte(`{"text":"a","date":1}`+"\n"+`{"text":"a","date":"`+long+`"}`+"\n"+`{"text":"a","date":{"a":1}}`+"\n"), opts)
	if err != nil || counts.Kept != 1 || counts.Skipped[ReasonTooLong] != 1 || counts.Skipped[ReasonMalformed] != 1 {
		t.Errorf("%+v, %v", counts, err)
	}
	_, counts, err = readAll("a.tsv", []byte("text\tdate\na\t1\nb\t\xff\n"), opts)
	if err != nil || counts.Kept != 1 || counts.Skipped[ReasonNotUTF8] != 1 {
		t.Errorf("%+v, %v", counts, err)
	}
	for name, want := range map[string]string{"a.txt": "is plain text, without columns", "a.tsv": `no column "date"; its columns are ["text"]; name one of them in --doc-meta`} {
		in := input.File{FS: fstest.MapFS{name: {Data: []byte("text\nEins\n")}}, Path: name}
		if _, err := Open(in, opts); !badinput.Is(err) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for language, want := range map[string]string{"": "leave --doc-meta out", "lang": "leave --lang-column out"} {
		in := input.File{FS: fstest.MapFS{"a.txt": {Data: []byte("Eins\n")}}, Path: "a.txt"}
		opts.LangColumn = language
		if _, err := Open(in, opts); !badinput.Is(err) || !strings.Contains(err.Error(), want) {
			t.Errorf("language column %q: %v", language, err)
		}
	}
}
