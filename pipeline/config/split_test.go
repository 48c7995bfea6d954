package config

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"bitextmine/encode/encodetest"
	"bitextmine/internal/badinput"
	"bitextmine/pipeline/plan"
	"bitextmine/pipeline/setting"
)

// texts are JSON lines of records.
func jsonLines(t *testing.T, records ...string) string {
	t.Helper()
	var out strings.Builder
	for _, text := range records {
		data, err := json.Marshal(map[string]string{"text": text})
		if err != nil {
			t.Fatal(err)
		}
		out.Write(append(data, '\n'))
	}
	return out.String()
}

func TestSplitIsDecidedByTheFirstRecords(t *testing.T) {
	document, sentence := "One came. Two left. Three stayed.", "One came alone."
	paragraphs := strings.Repeat(document+"\n", 10)
	for _, c := range []struct {
		name, file, content, choice string
		divided, seen               bool
	}{
		{"short documents", "a.jsonl", jsonLines(t, document, document, sentence), "auto", false, false},
		{"more documents", "b.jsonl", jsonLines(t, document, document+" Four ran. Five.", sentence), "auto", true, true},
		{"few documents", "c.jsonl", jsonLines(t, strings.Repeat(document, 9), sentence, sentence), "auto", false, false},
		{"sentences", "d.jsonl", jsonLines(t, sentence, sentence), "auto", false, false},
		{"tsv", "e.tsv", "text\tid\n" + strings.Repeat(document+"\t1\n", 3), "auto", true, true},
		{"plain text", "f.txt", paragraphs, "auto", false, true},
		{"plain text, on", "g.txt", paragraphs, "on", true, false},
		{"sentences, on", "h.jsonl", jsonLines(t, sentence), "on", true, false},
		{"documents, off", "i.jsonl", jsonLines(t, document), "off", false, false},
		{"a damaged file", "j.jsonl", "{not JSON\n", "auto", false, false},
		{"another column", "k.jsonl", `{"body":"One. Two. Three."}` + "\n", "auto", false, false},
		{"pages of HTML", "m.jsonl", jsonLines(t, "<!DOCTYPE html><p>One came.", "<html>Two", document), "auto", true, true},
		{"a page of HTML", "n.jsonl", jsonLines(t, "<html>Two</html>", sentence, sentence), "auto", false, false},
		{"a column of lists", "l.jsonl", `{"text":["One came. Two left. Three."]}` + "\n", "auto", false, false},
	} {
		dir := t.TempDir()
		path := filepath.Join(dir, c.file)
		if err := os.WriteFile(path, []byte(c.content), 0o600); err != nil {
			t.Fatal(err)
		}
		cfg := defaultConfig()
		cfg.Source, cfg.Target, cfg.Split, cfg.Out = "en", "de", c.choice, dir
		cfg.SourceText, cfg.TargetText = []string{path}, []string{path}
		if err := cfg.Validate(); err != nil {
			t.Fatal(err)
		}
		languages, err := cfg.Texts()
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		for _, l := range languages {
			in := l.Inputs[0]
			divided := in.Corpus != nil && in.Corpus.SplitLanguage() == l.Code
			if divided != c.divided || in.Corpus != nil && !divided || (in.Seen != nil) != c.seen {
				t.Errorf("%s, %s: corpus options %+v, seen %+v", c.name, l.Code, in.Corpus, in.Seen)
			}
		}
	}
}

// TestDocumentsOfFiles: where documents are paired, a file of subtitles or of divided text is one, and a side of
// sentences alone is refused before it is read.
func TestDocumentsOfFiles(t *testing.T) {
	const cues = "1\n00:00:01,000 --> 00:00:02,000\nOne.\n"
	for name, c := range map[string]struct {
		file, content, choice, doc string
		whole, refused             bool
	}{
		"text, divided":         {"a.txt", "One. Two.\n", "on", "", true, false},
		"text, a column":        {"a.txt", "One. Two.\n", "on", "id", true, false},
		"text":                  {"a.txt", "One. Two.\n", "auto", "", false, true},
		"text without a column": {"a.txt", "One. Two.\n", "off", "id", false, true},
		"subtitles":             {"a.txt", cues, "auto", "", true, false},
		"subtitles, divided":    {"a.srt", cues, "on", "", true, false},
		"sentences":             {"a.jsonl", jsonLines(t, "One."), "auto", "", false, true},
		"sentences of ids":      {"a.jsonl", `{"text":"One.","id":1}`, "auto", "id", false, false},
		"records, divided":      {"a.jsonl", jsonLines(t, "One."), "on", "", false, false},
		"BUCC":                  {"a.txt", "a\tOne.\n", "auto", "", false, false},
		"damaged":               {"a.gz", "\x1f\x8b\x08\x00x", "auto", "", false, false},
	} {
		path := filepath.Join(t.TempDir(), c.file)
		if err := os.WriteFile(path, []byte(c.content), 0o600); err != nil {
			t.Fatal(err)
		}
		cfg := defaultConfig()
		cfg.Source, cfg.Target, cfg.Split, cfg.DocColumn, cfg.Documents, cfg.Out = "en", "de", c.choice, c.doc, setting.DocumentsOn, t.TempDir()
		cfg.SourceText, cfg.TargetText = []string{path}, []string{path}
		if err := cfg.Validate(); err != nil {
			t.Fatal(err)
		}
		languages, err := cfg.Texts()
		if refused := badinput.Is(err) && strings.Contains(err.Error(), "--split on"); refused != c.refused || err != nil && !refused {
			t.Errorf("%s: error %v", name, err)
		} else if err == nil && languages[0].Inputs[0].Corpus.Whole != c.whole {
			t.Errorf("%s: %+v", name, languages[0].Inputs[0].Corpus)
		}
	}
}

// TestSplitInRecords: the default leaves no trace in a record, and so in no key of corpora of sentences.
func TestSplitInRecords(t *testing.T) {
	for choice, want := range map[string]string{"": "", "auto": "", "on": "on", "off": "off"} {
		cfg := defaultConfig()
		cfg.Split = choice
		if got := RecordOf(&cfg, Models{}, nil).Split; got != want {
			t.Errorf("%q is %q in a record, want %q", choice, got, want)
		}
	}
}

func TestSplitRefuses(t *testing.T) {
	cfg := defaultConfig()
	cfg.Split = "perhaps"
	if err := cfg.Validate(); !badinput.Is(err) || !strings.Contains(err.Error(), `split is "perhaps", choose auto, on or off`) {
		t.Errorf("error %v", err)
	}
	cfg = defaultConfig()
	cfg.Split, cfg.SourceEmb = setting.SplitOn, []string{"x.npy"}
	if err := cfg.Validate(); !badinput.Is(err) || !strings.Contains(err.Error(), "split = on divides records") {
		t.Errorf("error %v", err)
	}
}

// TestSplitter: a learned splitter stands in the options of what is divided and in the record by its digest, and
// without one its threshold leaves no trace.
func TestSplitter(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.jsonl")
	if err := os.WriteFile(path, []byte(jsonLines(t, "One came. Two left. Three stayed.")), 0o600); err != nil {
		t.Fatal(err)
	}
	config := func(splitter string, threshold float64) Config {
		cfg := defaultConfig()
		cfg.Source, cfg.Target, cfg.Split, cfg.Out, cfg.Splitter, cfg.SplitterThreshold = "en", "de", setting.SplitOn, dir, splitter, threshold
		cfg.SourceText, cfg.TargetText = []string{path}, []string{path}
		return cfg
	}
	splitter := encodetest.Splitter(t, nil)
	seen := map[string]bool{}
	for _, threshold := range []float64{0.25, 0.5} {
		cfg := config(splitter, threshold)
		if err := cfg.Validate(); err != nil {
			t.Fatal(err)
		}
		languages, err := cfg.Texts()
		if err != nil {
			t.Fatal(err)
		}
		in, record := languages[0].Inputs[0], RecordOf(&cfg, Models{}, nil)
		if in.Splitter == nil || in.Splitter.Path != splitter || in.Splitter.Threshold != threshold || !strings.HasSuffix(in.Corpus.Split, " "+record.Splitter) || record.SplitterThreshold != threshold {
			t.Errorf("input %+v, options %+v, record %+v", in, in.Corpus, record.Dividing)
		}
		seen[in.Corpus.Split] = true
	}
	if len(seen) != 2 {
		t.Errorf("both thresholds have one key: %v", seen)
	}
	cfg := config("", 0.5)
	if err := cfg.Validate(); err != nil || RecordOf(&cfg, Models{}, nil).Dividing != (setting.Dividing{Split: setting.SplitOn}) {
		t.Errorf("%+v %v", RecordOf(&cfg, Models{}, nil).Dividing, err)
	}
	for says, cfg := range map[string]Config{"has no sentencepiece.bpe.model": config(encodetest.Splitter(t, map[string][]byte{"sentencepiece.bpe.model": nil}), 0.25), "split = off": config(splitter, 0.25)} {
		if says == "split = off" {
			cfg.Split = setting.SplitOff
		}
		if err := cfg.Validate(); !badinput.Is(err) || !strings.Contains(err.Error(), says) {
			t.Errorf("%v, want %q", err, says)
		}
	}
}

func TestSeenDocuments(t *testing.T) {
	for seen, want := range map[plan.Seen]bool{
		{}: false, {Records: 10, Several: 5, Sentences: 100}: false, {Records: 10, Several: 6, Sentences: 29}: false, {Records: 10, Several: 6, Sentences: 30}: true,
	} {
		if got := seen.Documents(); got != want {
			t.Errorf("%s: %v", fmt.Sprint(seen), got)
		}
	}
}
