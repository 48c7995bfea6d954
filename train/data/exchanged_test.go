package data

import (
	"slices"
	"strings"
	"testing"

	"bitextmine/internal/badinput"
)

// TestLineAlignedFiles: a source may be two files, line by line, as OPUS and Moses have them.
func TestLineAlignedFiles(t *testing.T) {
	s := source(write(t, "a.de", "eins\n\nzwei\n"))
	s.Aligned = []string{write(t, "a.en", "one\n\ntwo\n")}
	got, stats := read(t, config(s))
	if !slices.Equal(got, []string{"eins|one", "zwei|two"}) || stats.Files[0].Lines != 3 {
		t.Errorf("%q, %v", got, stats.Files)
	}
	for says, change := range map[string]func(*Source){
		"aligned names 2":       func(s *Source) { s.Aligned = append(s.Aligned, "b.en") },
		"has 3 lines but":       func(s *Source) { s.Aligned = []string{write(t, "b.en", "one\n")} },
		"leave one out":         func(s *Source) { s.Format = "tsv" },
		"are for tsv and csv":   func(s *Source) { s.Header = true },
		"write src and tgt of ": func(s *Source) { s.Src, s.Tgt = "", "" },
	} {
		bad := s
		change(&bad)
		if err := firstError(config(bad)); !badinput.Is(err) || !strings.Contains(err.Error(), says) {
			t.Errorf("%v, want %q", err, says)
		}
	}
}

// TestFilesKeepTheirOrderBesideOthers: files are not sorted by name where aligned or alignments has one for each.
func TestFilesKeepTheirOrderBesideOthers(t *testing.T) {
	last := write(t, "a.de", "zwei\n") // its folder is the first by name
	s := source(write(t, "a.de", "eins\n"), last)
	s.Aligned = []string{write(t, "1.en", "one\n"), write(t, "2.en", "two\n")}
	if got, _ := read(t, config(s)); !slices.Equal(got, []string{"eins|one", "zwei|two"}) {
		t.Errorf("pairs %q", got)
	}
}

// TestExchangeFormats: a source may be in any format of package exchange, by its name.
func TestExchangeFormats(t *testing.T) {
	for name, content := range map[string]string{
		"a.csv":   "\"eins, zwei\",one\n",
		"a.xlf":   `<xliff srcLang="en" trgLang="de"><segment><source>one</source><target>eins, zwei</target></segment></xliff>`,
		"a.jsonl": `{"tgt_text":"one","src_text":"eins, zwei"}` + "\n",
		"a.po":    "msgid \"\"\nmsgstr \"Language: en\"\n\nmsgid \"eins, zwei\"\nmsgstr \"one\"\n",
	} {
		if got, _ := read(t, config(source(write(t, name, content)))); !slices.Equal(got, []string{"eins, zwei|one"}) {
			t.Errorf("%s: %q", name, got)
		}
	}
}
