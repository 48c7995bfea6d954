package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"bitextmine/internal/badinput"
)

// TestAlignDocs aligns two small documents in several formats, and measures the beads.
func TestAlignDocs(t *testing.T) {
	dir := t.TempDir()
	write := writerInto(t, dir)
	source := write("one.de", "Das Haus ist alt.\nEs steht am Fluss, und im Garten wachsen Rosen.\n\nDie Katze "+
		"schläft.\nMorgen fahren wir nach Berlin.\n")
	target := write("one.en", "The house is old.\nIt stands by the river.\nRoses grow in the garden.\nThe cat is "+
		"sleeping.\nTomorrow we are going to Berlin.\n")
	gold := write("one.deen", "[0]:[0]\n[1]:[1, 2]\n[2]:[3]\n[3]:[4]\n")
	found := filepath.Join(dir, "one.ladder")
	must(t, "align-docs", source, target, "--src", "de", "--tgt", "en", "--out", found)
	out := must(t, "eval", "beads", "--hyp", found, "--gold", gold, "--format", "tsv")
	if !strings.Contains(out, "\t100\t100\t100\t100\t100\t100\t4\t4\n") {
		t.Errorf("%s", out)
	}
	out = must(t, "eval", "beads", "--dir", dir, "--src", "de", "--tgt", "en", "--only", "one", "--format", "tsv")
	if strings.Count(out, "\t100\t100\t100\t100\t100\t100\t4\t4\n") != 2 {
		t.Errorf("%s", out)
	}
	out = must(t, "align-docs", source, target, "--src", "de", "--tgt", "en")
	if lines := strings.Split(out, "\n"); len(lines) < 3 ||
		!strings.HasPrefix(lines[2],
			"Es steht am Fluss, und im Garten wachsen Rosen.\tIt stands by the river. Roses grow in the garden.\tde\ten\t") {
		t.Errorf("%s", out)
	}
	pairs := write("pairs.tsv", source+"\t"+target+"\n")
	parquet, crossings := filepath.Join(dir, "out.parquet"), filepath.Join(dir, "crossings.tsv")
	must(t, "align-docs", "--pairs", pairs, "--src", "de", "--tgt", "en", "--out", parquet,
		"--deletions", "--crossings", crossings)
	must(t, "export", parquet, "--out", filepath.Join(dir, "exported.tsv"), "--columns", "n_src,n_tgt,found_by")
	if data, err := os.ReadFile(filepath.Join(dir, "exported.tsv")); err != nil ||
		!strings.Contains(string(data), "\t1\t2\tlocal\n") {
		t.Errorf("%s %v", data, err)
	}
	must(t, "align-docs", source, target, "--src", "de", "--tgt", "en", "--format", "moses",
		"--out", filepath.Join(dir, "moses"))
	if data, err := os.ReadFile(filepath.Join(dir, "moses.en")); err != nil || strings.Count(string(data), "\n") != 4 {
		t.Errorf("%s %v", data, err)
	}
	made := must(t, "eval", "beads", "--src-text", source, "--tgt-text", source, "--src", "de", "--tgt", "de",
		"--length", "3", "--made", "2", "--format", "tsv")
	if !strings.Contains(made, "lines 1-3") {
		t.Errorf("%s", made)
	}
	if _, _, log := captured(t, "align-docs", source, target, "--src", "de", "--tgt", "sw"); !strings.Contains(log, "was not trained on sw") {
		t.Errorf("a language that the encoder does not know is not warned of: %s", log)
	}
	for _, args := range [][]string{
		{"align-docs", source},
		{"align-docs", source, target},
		{"align-docs", source, "--pairs", pairs, "--src", "de", "--tgt", "en"},
		{"align-docs", source, target, "--src", "de", "--tgt", "deu"},
		{"align-docs", source, target, "--src", "de", "--tgt", "en", "--format", "word"},
		{"align-docs", source, target, "--src", "de", "--tgt", "en", "--format", "parquet"},
		{"align-docs", source, target, "--src", "de", "--tgt", "en", "--max-span", "11"},
		{"align-docs", source, target, "--src", "de", "--tgt", "en", "--min-score", "nan"},
		{"align-docs", source, target, "--src", "de", "--tgt", "en", "--line-breaks", "no"},
		{"align-docs", "--pairs", pairs, "--src", "de", "--tgt", "en", "--format", "ladder"},
		{"align-docs", source, target, "--src", "de", "--tgt", "en", "--format", "ladder", "--min-score", "2"},
		{"align-docs", source, target, "--src", "de", "--tgt", "en", "--format", "ladder", "--deletions"},
		{"align-docs", source, target, "--src", "de", "--tgt", "en", "--format", "jsonl", "--line-breaks", "refuse"},
		{"align-docs", source, filepath.Join(dir, "none"), "--src", "de", "--tgt", "en"},
		{"eval", "beads"},
		{"eval", "beads", "--hyp", found},
		{"eval", "beads", "--hyp", found, "--gold", gold, "--dir", dir},
		{"eval", "beads", "--hyp", found, "--gold", source},
		{"eval", "beads", "--hyp", found, "--gold", gold, "--max-span", "3"},
		{"eval", "beads", "--hyp", found, "--gold", gold, "--src", "de"},
		{"eval", "beads", "--hyp", found, "--gold", gold, "--seed", "4"},
		{"eval", "beads", "--dir", dir, "--src", "de", "--tgt", "en", "--made", "2"},
		{"eval", "beads", "--src-text", source, "--tgt-text", source, "--src", "de", "--tgt", "de", "--length", "3", "--only", "one"},
		{"eval", "beads", "--dir", dir, "--src", "de", "--tgt", "en", "--only", "two"},
		{"eval", "beads", "--src-text", source, "--tgt-text", target, "--length", "3"},
		{"eval", "beads", "--src-text", source, "--tgt-text", source, "--made", "0"},
	} {
		if _, err := command(t, args...); !badinput.Is(err) {
			t.Errorf("mine %s: %v", strings.Join(args, " "), err)
		}
	}
}

// TestEqualIDsOfFiles: the last document of a file and the first of the next do not become one.
func TestEqualIDsOfFiles(t *testing.T) {
	write := writerInto(t, t.TempDir())
	one := write("a.jsonl", `{"id":"1","text":"One. Two."}`+"\n")
	again := write("b.jsonl", `{"id":"1","text":"Three. Four."}`+"\n")
	other := write("c.jsonl", `{"id":"2","text":"Five."}`+"\n"+`{"id":"2","text":"Six."}`+"\n")
	args := []string{"split", "--lang", "en", "--format", "jsonl", "--doc-column", "id"}
	_, err := command(t, append(args, one, again)...)
	if want := fmt.Sprintf("%s:1: document \"1\" is the last of %s, too", again, one); !badinput.Is(err) ||
		!strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}
	for _, files := range [][]string{{one, other}, {other}} { // ids may repeat in a file
		must(t, append(args, files...)...)
	}
	if out := must(t, "split", "--lang", "en", "--format", "lines", one, again); out != "One.\nTwo.\n\nThree.\nFour.\n\n" {
		t.Errorf("%q", out)
	}
}

// TestDocs: documents are split, paired and aligned.
func TestDocs(t *testing.T) {
	dir := t.TempDir()
	write := writerInto(t, dir)
	split := func(lang, content string) string {
		out := filepath.Join(dir, lang+".sentences.jsonl")
		must(t, "split", write(lang+".jsonl", content), "--lang", lang, "--doc-column", "id",
			"--url-column", "url", "--out", out)
		return out
	}
	source := split("de", `{"id":"haus","url":"","text":"Das Haus ist alt. Es steht am Fluss."}`+"\n"+
		`{"id":"reise","url":"","text":"Morgen fahren wir nach Berlin. Der Zug ist schnell."}`+"\n")
	target := split("en", `{"id":"trip","url":"","text":"Tomorrow we are going to Berlin. The train is fast."}`+"\n"+
		`{"id":"cat","url":"","text":"The cat drinks milk."}`+"\n"+
		`{"id":"house","url":"","text":"The house is old. It stands by the river."}`+"\n")
	pairs := filepath.Join(dir, "pairs.tsv")
	must(t, "docs", source, target, "--src", "de", "--tgt", "en", "--out", pairs)
	data, err := os.ReadFile(pairs)
	if err != nil || !strings.Contains(string(data), "haus\thouse\t") ||
		!strings.Contains(string(data), "reise\ttrip\t") || strings.Count(string(data), "\n") != 3 {
		t.Errorf("%s %v", data, err)
	}
	root, said := newRoot(), &bytes.Buffer{}
	root.SetOut(said)
	root.SetErr(said)
	root.SetArgs([]string{"docs", source, target, "--src", "de", "--tgt", "en", "--min-score", "0.001"})
	if err := root.ExecuteContext(t.Context()); err != nil ||
		!strings.Contains(said.String(), "--min-score 0.001 leaves out no pair: ") {
		t.Errorf("%s %v", said, err)
	}
	out := must(t, "align-docs", source, target, "--pairs", pairs, "--src", "de", "--tgt", "en")
	if !strings.Contains(out, "Das Haus ist alt.\tThe house is old.\tde\ten\t") || strings.Count(out, "\n") != 5 {
		t.Errorf("%s", out)
	}
	lines := write("lines.de",
		"Das Haus ist alt.\nEs steht am Fluss.\nMorgen fahren wir nach Berlin.\nDer Zug ist schnell.\n")
	aligned := write("lines.en",
		"The house is old.\nIt stands by the river.\nTomorrow we are going to Berlin.\nThe train is fast.\n")
	news := write("news.en", "The cat drinks milk.\nNobody knows why.\nPrices rose again.\nThe match was lost.\n")
	made := []string{"eval", "docs", "--src", "de", "--tgt", "en", "--src-text", lines, "--tgt-text", aligned,
		"--lines", "2", "--format", "tsv"}
	if out := must(t, append(made, "--documents", "2", "--others", news)...); !strings.Contains(out,
		"others\t100\t100\t2\t2\n") {
		t.Errorf("%s", out)
	}
	if out := must(t, append(made, "--documents", "2")...); !strings.Contains(out, "halves of right ones\t") {
		t.Errorf("%s", out)
	}
	twice := write("twice.jsonl",
		`{"doc":"a","url":"","text":"x"}`+"\n"+`{"doc":"b","url":"","text":"x"}`+"\n"+`{"doc":"a","url":"","text":"x"}`+"\n")
	said.Reset()
	root.SetArgs([]string{"docs", source, twice, "--src", "de", "--tgt", "en"})
	if err := root.ExecuteContext(t.Context()); err != nil || !strings.Contains(said.String(), "1 documents whose id stood before are left out\n") ||
		!strings.Contains(said.String(), "2 pairs of 2 and 2 ") {
		t.Errorf("%s %v", said, err)
	}
	other := write("other.tsv", "haus\tgarden\n")
	for _, args := range [][]string{
		{"docs", source}, {"docs", source, target}, {"docs", source, target, "--src", "de",
			"--tgt", "en", "--candidates", "0"},
		{"docs", source, target, "--src", "de", "--tgt", "en", "--min-score", "nan"},
		{"docs", source, target, "--src", "de", "--tgt", "en", "--url-bonus", "nan"},
		{"docs", source, target, "--src", "de", "--tgt", "en", "--meta-bonus", "inf"},
		append(made, "--documents", "2", "--min-score", "nan"), append(made, "--documents", "2", "--meta-bonus", "nan"),
		{"docs", source,
			write("none.jsonl", `{"doc":"","url":"","text":"x"}`+"\n"), "--src", "de", "--tgt", "en"},
		{"align-docs", "--pairs", pairs, "--src", "de", "--tgt", "en"},
		{"align-docs", source, target, "--pairs", other, "--src", "de", "--tgt", "en"},
		append(made, "--near", "0"), append(made, "--doc-meta", "author"),
		append(made, "--documents", "3"), append(made, "--documents", "0"), append(made, "--tgt-text", news+","+news),
		{"eval", "docs", "--src", "de", "--tgt", "en"}, {"eval", "docs", "--src-text", lines, "--tgt-text", aligned},
		{"eval", "docs", "--src", "de", "--tgt", "en", "--src-text", lines, "--tgt-text", write("short.en", "One.\n")},
	} {
		if _, err := command(t, args...); !badinput.Is(err) {
			t.Errorf("mine %s: %v", strings.Join(args, " "), err)
		}
	}
}

// TestDocsByMetadata: metadata travels from the documents through their sentences, and decides between equal texts.
func TestDocsByMetadata(t *testing.T) {
	dir := t.TempDir()
	write := writerInto(t, dir)
	text := [2]string{"Das Haus ist alt. Es steht am Fluss.", "The house is old. It stands by the river."}
	var collections [2]string
	for side, lang := range []string{"de", "en"} {
		var lines strings.Builder
		for n := range 3 {
			day := [2]int{n + 1, 3 - n}[side]
			fmt.Fprintf(&lines, `{"id":"%s%d","text":%q,"date":"2024-05-%02d","by":"<A & B>"}`+"\n", lang, n, text[side], day)
		}
		collections[side] = filepath.Join(dir, lang+".sentences.jsonl")
		must(t, "split", write(lang+".jsonl", lines.String()), "--lang", lang, "--doc-column", "id",
			"--doc-meta", "date,by", "--out", collections[side])
	}
	data, err := os.ReadFile(collections[0])
	if first, _, _ := strings.Cut(string(data), "\n"); err != nil ||
		!strings.HasSuffix(first, `"start":0,"end":17,"by":"<A & B>","date":"2024-05-01"}`) {
		t.Errorf("%s %v", first, err)
	}
	arguments := []string{"docs", collections[0], collections[1], "--src", "de", "--tgt", "en"}
	out := must(t, append(arguments, "--doc-meta", "date,by")...)
	for _, want := range []string{"\tsame_url\tmetadata\n", "de0\ten2\t", "de1\ten1\t", "de2\ten0\t",
		"\tfalse\t0.1000\n"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is not in\n%s", want, out)
		}
	}
	if out := must(t, arguments...); strings.Contains(out, "metadata") || !strings.Contains(out, "de0\ten0\t") {
		t.Errorf("%s", out)
	}
	lists := write("lists.jsonl", `{"id":"a","text":"Eins."}`+"\n"+`{"id":["b"],"text":"Zwei."}`+"\n")
	root, said := newRoot(), &bytes.Buffer{}
	root.SetOut(said)
	root.SetErr(said)
	root.SetArgs([]string{"split", lists, "--lang", "de", "--doc-column", "id"})
	if err := root.ExecuteContext(t.Context()); err != nil ||
		!strings.Contains(said.String(),
			`set aside: 1 records (malformed; `+lists+`:2: column "id" is a list, not one value)`) {
		t.Errorf("%s %v", said, err)
	}
	pages := filepath.Join(dir, "de.jsonl")
	for want, args := range map[string][]string{
		`make the file with mine split --format jsonl --doc-column NAME`: {"docs", filepath.Join(dir, "de.jsonl"),
			collections[1], "--src", "de", "--tgt", "en"},
		`there is no column "day"`:                          append(arguments, "--doc-meta", "day"),
		`--doc-meta: "date,date" names column "date" twice`: append(arguments, "--doc-meta", "date,date"),
		`--format lines writes sentences alone`: {"split", pages, "--lang", "de",
			"--doc-meta", "date"},
		`--doc-meta names "text", which stands for something`: {"split", pages, "--lang", "de",
			"--doc-meta", "text", "--format", "jsonl"},
		`documents of one language have no target`: {"split", pages, "--lang", "de",
			"--doc-meta", "date=datum", "--format", "jsonl"},
	} {
		if _, err := command(t, args...); !badinput.Is(err) || !strings.Contains(err.Error(), want) {
			t.Errorf("mine %s: %v", strings.Join(args, " "), err)
		}
	}
}

// TestDocsOfGivenVectors: vectors of another program pair documents as the encoder's do, which encodes the spans.
func TestDocsOfGivenVectors(t *testing.T) {
	dir := t.TempDir()
	write := writerInto(t, dir)
	sentences := [2][][2]string{
		{{"haus", "Das Haus ist alt."}, {"haus", "Es steht am Fluss."}, {"reise", "Morgen fahren wir nach Berlin."},
			{"reise", "Der Zug ist schnell."}},
		{{"trip", "Tomorrow we are going to Berlin."}, {"trip", "The train is fast."}, {"house", "The house is old."},
			{"house", "It stands by the river."}},
	}
	var texts, vectors [2]string
	for side, lang := range []string{"de", "en"} {
		tsv, plain := "doc\turl\ttext\n", ""
		for _, s := range sentences[side] {
			tsv, plain = tsv+s[0]+"\t\t"+s[1]+"\n", plain+s[1]+"\n"
		}
		texts[side], vectors[side] = write(lang+"#.tsv", tsv), filepath.Join(dir, lang+".npy")
		must(t, "encode", "--lang", lang, write(lang+".txt", plain), "--out", vectors[side])
	}
	pair := []string{"--src", "de", "--tgt", "en"}
	given := append(slices.Clone(pair), "--src-emb", vectors[0], "--tgt-emb", vectors[1])
	docs := append([]string{"docs", texts[0], texts[1]}, pair...)
	encoded := must(t, docs...)
	if out := must(t, append(docs[:3:3], given...)...); out != encoded || strings.Count(out, "\n") != 3 {
		t.Errorf("%s, by the encoder\n%s", out, encoded)
	}
	run := append([]string{"run", "--src-text", texts[0], "--tgt-text", texts[1], "--doc-column", "doc",
		"--documents", "on", "--split", "off", "--encoder", "use-static"}, given...)
	must(t, append(run, "--out", filepath.Join(dir, "mined"))...)
	must(t, "export", filepath.Join(dir, "mined"), "--columns", "src_doc,tgt_doc,found_by",
		"--out", filepath.Join(dir, "out.tsv"))
	data, err := os.ReadFile(filepath.Join(dir, "out.tsv"))
	if err != nil || strings.Count(string(data), "haus\thouse\t") != 2 ||
		strings.Count(string(data), "reise\ttrip\t") != 2 {
		t.Errorf("%s %v", data, err)
	}
	checkBlocks(t, dir, filepath.Join(dir, "mined"))
	for want, args := range map[string][]string{
		"has 4 rows but " + write("more.tsv", "doc\turl\ttext\na\t\tEins.\n"): append([]string{"docs",
			filepath.Join(dir, "more.tsv"), texts[1]}, given...),
		"name 1 and 0 files": append(docs, "--src-emb", vectors[0]),
		"is not .npy":        append(docs, "--src-emb", texts[0], "--tgt-emb", vectors[1]),
	} {
		if _, err := command(t, args...); !badinput.Is(err) || !strings.Contains(err.Error(), want) {
			t.Errorf("mine %s: %v", strings.Join(args, " "), err)
		}
	}
}

// checkBlocks exports the two pairs of documents of a run as blocks, and what is in no pair.
func checkBlocks(t *testing.T, dir, mined string) {
	t.Helper()
	out := filepath.Join(dir, "blocks.tsv")
	must(t, "export", mined, "--blocks", "document", "--columns", "src_doc,tgt_doc,beads", "--out", out)
	data, err := os.ReadFile(out)
	for _, row := range []string{"src_text\ttgt_text\tsrc_doc\ttgt_doc\tbeads\n",
		"Das Haus ist alt. Es steht am Fluss.\tThe house is old. It stands by the river.\thaus\thouse\t2\n"} {
		if err != nil || !strings.Contains(string(data), row) {
			t.Errorf("%q is not in %s %v", row, data, err)
		}
	}
	must(t, "export", mined, "--blocks", "4", "--out", out)
	if data, err := os.ReadFile(out); err != nil || strings.Contains(string(data), "_parts") || strings.Count(string(data), "\n") < 3 {
		t.Errorf("%s %v", data, err)
	}
	must(t, "export", mined, "--where", "src_doc == 'haus'", "--format", "parquet", "--out", filepath.Join(dir, "haus.parquet"))
	if got := must(t, "export", mined, "--blocks", "document", "--bitext", filepath.Join(dir, "haus.parquet"), "--out", out); !strings.Contains(got, "1 blocks of 1 pairs") {
		t.Errorf("%s", got)
	}
	if got := must(t, "export", mined, "--blocks", "document", "--dev", "0.5", "--out", filepath.Join(dir, "sets.tsv")); !strings.Contains(got, "divided by src_doc") {
		t.Errorf("%s", got)
	}
	rest := filepath.Join(dir, "rest.jsonl")
	if got := must(t, "rest", mined, "--side", "tgt", "--bitext", filepath.Join(dir, "haus.parquet"), "--out", rest); !strings.HasPrefix(got, "2 of 4 sentences") {
		t.Errorf("%s", got)
	}
	if data, err := os.ReadFile(rest); err != nil || !strings.HasPrefix(string(data), `{"text":"Tomorrow we are going to Berlin.","doc":"trip","url":"","file":"`+filepath.Join(dir, "en#.tsv")+`","line":2}`) {
		t.Errorf("%s %v", data, err)
	}
	kept, err := os.ReadFile(filepath.Join(dir, "haus.parquet"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if is, err := os.ReadFile(filepath.Join(dir, "haus.parquet")); err != nil || !bytes.Equal(is, kept) {
			t.Errorf("the bitext that blocks are made from was replaced: %v", err)
		}
	}()
	for want, args := range map[string][]string{
		"is the file that is rea": {"export", mined, "--blocks", "9", "--bitext", filepath.Join(dir, "haus.parquet"), "--out", filepath.Join(dir, "haus.parquet")},
		`--blocks is "page"`:      {"export", mined, "--blocks", "page", "--out", out},
		`--blocks is "0"`:         {"export", mined, "--blocks", "0", "--out", out},
		"--blocks is of one run":  {"export", mined, out, "--blocks", "document", "--out", rest},
		"--max-missing changes n": {"export", mined, "--max-missing", "2", "--out", out},
		"--ascending changes not": {"export", mined, "--ascending", "--out", out},
		"--where changes nothing": {"export", mined, "--where", "", "--out", out},
		"--sort changes nothing":  {"export", mined, "--sort", "", "--out", out},
		"--split-by changes not":  {"export", mined, "--split-by", "src_doc", "--out", out},
		"--licence changes not":   {"export", mined, "--licence", "cc0-1.0", "--out", out},
		"--max-missing is -2":     {"export", mined, "--blocks", "9", "--max-missing", "-2", "--out", out},
		"nothing is known of par": {"export", mined, "--blocks", "paragraph", "--out", out},
		"--bitext says what bloc": {"export", mined, "--bitext", out, "--out", out},
		`--anonymise is "yes"`:    {"export", mined, "--anonymise", "yes", "--out", out},
		`--side is ""`:            {"rest", mined, "--out", rest},
		"with --out":              {"rest", mined, "--side", "src"},
	} {
		if _, err := command(t, args...); !badinput.Is(err) || !strings.Contains(err.Error(), want) {
			t.Errorf("mine %s: %v", strings.Join(args, " "), err)
		}
	}
}
