package corpus

import (
	"strings"
	"testing"

	"bitextmine/corpus/corpustest"
)

// TestCSVAndJSONArrays: columns are read as of TSV and JSON lines.
func TestCSVAndJSONArrays(t *testing.T) {
	for name, data := range map[string]string{
		"a.csv":     "id,text,doc,url\n1,\"It rained, and \"\"how\"\".\",d1,\n2,\"two\nlines\",d2,u\n",
		"b.csv":     "text;doc;url\n\"It rained, and \"\"how\"\".\";d1;\n\"two\nlines\";d2;u\n",
		"c.json":    `[{"text":"It rained, and \"how\".","doc":"d1","url":null}, {"n":[1],"text":"two\nlines","doc":"d2","url":"u"}]`,
		"d.json":    "\ufeff\n{\"text\":\"It rained, and \\\"how\\\".\",\"doc\":\"d1\",\"url\":\"\"}\n{\"text\":\"two\\nlines\",\"doc\":\"d2\",\"url\":\"u\"}\n",
		"e.json.gz": string(packers["gz"](t, []byte(`[ {"text":"It rained, and \"how\".","doc":"d1","url":null},{"text":"two\nlines","doc":"d2","url":"u"} ]`))),
	} {
		all, counts, err := readAll(name, []byte(data), columnOptions())
		if err != nil || len(all) != 2 || all[0].Text != `It rained, and "how".` || all[0].Doc != "d1" || all[1].Text != "two\nlines" || all[1].URL != "u" ||
			counts.Kept != 2 {
			t.Errorf("%s: %+v, %+v, %v", name, all, counts, err)
		}
	}
	all, _, err := readAll("texts.json", []byte(`["one", "two", 3]`), DefaultOptions())
	if err != nil || len(all) != 2 || all[1].Text != "two" || all[1].Line != 2 {
		t.Errorf("an array of texts: %+v, %v", all, err)
	}
	// Python writes NaN and Infinity, which JSON does not have.
	nan := `[{"text":"NaN, \"Infinity, \\","score":NaN,"more":[-Infinity,{"a":Infinity}]}, {"text":NaN},{"text":"[2}, ","score":1}]`
	all, counts, err := readAll("nan.json", []byte(nan), DefaultOptions())
	if err != nil || len(all) != 2 || all[0].Text != `NaN, "Infinity, \` || all[1].Text != "[2}, " || all[1].Line != 3 || counts.Skipped[ReasonEmpty] != 1 {
		t.Errorf("an array with NaN: %+v, %+v, %v", all, counts, err)
	}
	all, counts, err = readAll("bad.csv", []byte("text,n\nfine,1\nshort\n\"a\"b,2\nfine again,3\n\"open,4\n"), DefaultOptions())
	if err != nil || len(all) != 2 || counts.Skipped[ReasonMalformed] != 3 || all[1].Line != 5 {
		t.Errorf("bad records: %+v, %+v, %v", all, counts, err)
	}
	// A quotation mark that nobody closes, or one for inches, costs its own record, not those after it.
	open := "text,n\n\"left open,1\n" + strings.Repeat("it rained,2\n", 40_000) + "\"two\nlines\",3\n5\" disk,4\nlast,5\n"
	all, counts, err = readAll("open.csv", []byte(open), DefaultOptions())
	if err != nil || len(all) != 40_003 || counts.Skipped[ReasonMalformed] != 1 || all[40_000].Text != "two\nlines" || all[40_001].Text != `5" disk` {
		t.Errorf("an open quotation mark: %d records, %+v, %v", len(all), counts, err)
	}
	inches := "text\nHe is 5 feet 10\" tall\nThe sky is blue today\nMy dog sleeps a lot\nA 12\" pizza is on the table\nThis is the end\n"
	all, counts, err = readAll("inches.csv", []byte(inches), DefaultOptions())
	if err != nil || len(all) != 5 || counts.Skipped[ReasonMalformed] != 0 || all[3].Text != `A 12" pizza is on the table` {
		t.Errorf("quotation marks for inches in one column: %+v, %+v, %v", all, counts, err)
	}
	all, counts, err = readAll("unclosed.csv", []byte("n,text\nEins,\"He said \"\"yes\"\"\nZwei,yes\nDrei,\"unclosed\n"), DefaultOptions())
	if err != nil || len(all) != 1 || counts.Skipped[ReasonMalformed] != 2 {
		t.Errorf("quotation marks that are not closed: %+v, %+v, %v", all, counts, err)
	}
	for name, data := range map[string]string{
		"cut.json": `[{"text":"one"}, {"te`, "comma.json": `["one",]`, "two.json": `["one" "two"]`, "closed.json": `["one"}, "two"]`, "deep.json": `["x",` + strings.Repeat("[", 20_000), "long.json": `["x", "` + strings.Repeat("x", 1<<20) + `"]`, "none.csv": "a,b\n1,2\n",
	} {
		_, _, err := readAll(name, []byte(data), DefaultOptions())
		corpustest.BadInput(t, err, name)
	}
}

// TestNoArray: a file that is named an array and is none says so.
func TestNoArray(t *testing.T) {
	options := DefaultOptions()
	options.Format = FormatJSON
	for _, data := range []string{"{\"text\":\"one\"}\n", "\"text\"", " \n"} {
		_, _, err := readAll("a.json", []byte(data), options)
		corpustest.BadInput(t, err, "a.json", "no JSON array", "--format jsonl")
	}
	if all, _, err := readAll("a.json", []byte("[\n]\n"), options); err == nil && len(all) > 0 {
		t.Errorf("an empty array: %+v", all)
	}
}

// TestBehindAnArray: what follows an array is an error, not text that is lost; white space may follow.
func TestBehindAnArray(t *testing.T) {
	for name, data := range map[string]string{
		"arrays.json": "[\"a\",\"b\"]\n[\"c\"]\n", "object.json": `["a","b"] {"text":"c"}`, "bracket.json": `["a","b"]]`, "garbage.json": `["a","b"], x`,
		"long.json": `["a","b"] "` + strings.Repeat("x", 1<<20) + `"`,
	} {
		_, _, err := readAll(name, []byte(data), DefaultOptions())
		corpustest.BadInput(t, err, name, "something follows the JSON array after element 2")
	}
	if all, _, err := readAll("a.json", []byte("[\"a\",\"b\"]\r\n \n"), DefaultOptions()); err != nil || len(all) != 2 {
		t.Errorf("white space: %+v, %v", all, err)
	}
}

// TestPagesAboutHTML: neither Markdown with elements in it nor a text of which some lines begin with tags is HTML.
func TestPagesAboutHTML(t *testing.T) {
	for name, data := range map[string]string{
		"template.md": "# The template element\n\n<template>\n<p>It rained.</p>\n</template>\n<div class=\"note\">\n</div>\n",
		"notes.txt":   "<p>It rained.</p>\nIt rained again.\nThe dog slept.\n<ul>one</ul>\nNobody came.\n",
	} {
		if all, _, err := readAll(name, []byte(data), DefaultOptions()); err != nil || len(all) == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestOneObject: a file that is one JSON object over several lines says what is wanted; a first line that is cut off
// stands for itself.
func TestOneObject(t *testing.T) {
	for name, data := range map[string]string{
		"a.json":  "{\n  \"menu.open\": \"Öffnen\",\n  \"menu.close\": \"Schließen\"\n}\n",
		"b.jsonl": "{\"menu\": {\n  \"open\": \"Öffnen\"\n}}\n",
	} {
		_, _, err := readAll(name, []byte(data), DefaultOptions())
		corpustest.BadInput(t, err, name, "one JSON object over several lines", "an array of objects, or JSON lines")
	}
	for _, data := range []string{"{]\n", "\"{\n"} {
		if _, _, err := readAll("c.jsonl", []byte(data), DefaultOptions()); err == nil || strings.Contains(err.Error(), "several lines") {
			t.Errorf("%q: error %v", data, err)
		}
	}
	all, counts, err := readAll("d.jsonl", []byte("{\"text\": \"Ei\n{\"text\": \"Zwei\"}\n"), DefaultOptions())
	if err != nil || len(all) != 1 || counts.Skipped[ReasonMalformed] != 1 || strings.Contains(counts.Examples[0].Detail, "several lines") {
		t.Errorf("%+v, counts %+v, error %v", all, counts, err)
	}
}
