package data

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"bitextmine/align/word"
	"bitextmine/internal/badinput"
	"bitextmine/train/words"
)

// wholeWords is a tokenizer whose pieces are whole words. Token 0 is the unknown one, 1 and 2 begin and end a sentence.
type wholeWords []string

func (w wholeWords) Encode(texts []string, maxIDs int, yield func(i int, ids []int32)) error {
	for i, text := range texts {
		var ids []int32
		for f := range strings.FieldsSeq(text) {
			ids = append(ids, int32(max(0, slices.Index(w, f))))
		}
		yield(i, ids[:min(len(ids), maxIDs)])
	}
	return nil
}

func (wholeWords) Unknown() int32 { return 0 }

// aligned reads a set with words of one token each.
func aligned(t *testing.T, c Config) (*Set, error) {
	t.Helper()
	pieces := wholeWords{"<unk>", "<s>", "</s>", "ein", "Haus", "Buch", "a", "house", "book"}
	return Read(t.Context(), c, Options{Tokenizer: pieces, BOS: []int32{1}, EOS: []int32{2}, Texts: true, Pieces: pieces})
}

const alignedText = "ein Haus\ta house\nein\t\nein Haus\ta house\nBuch ein\ta book\n"

// TestAlignments: links are those of the pair's own line, also after lines that are dropped, and turn with the sides.
func TestAlignments(t *testing.T) {
	s := source(write(t, "a.tsv", alignedText))
	s.Alignments = []string{writeGzip(t, "a.pharaoh.gz", "0-0 1-1:0.5\n\n0-1\n0-1 1-0:0.95\n")}
	c := config(s)
	c.BatchSize, c.BothWays = 2, true
	set, err := aligned(t, c)
	if err != nil {
		t.Fatal(err)
	}
	want := [][]words.Link{{{Source: 0, Target: 0}}, {{Source: 0, Target: 1}, {Source: 1, Target: 0}}}
	for i, links := range want {
		if !slices.Equal(set.words[i].Links, links) {
			t.Errorf("pair %d has %v, want %v", i, set.words[i].Links, links)
		}
	}
	if set.words[0].Source[1] != (words.Span{Begin: 2, End: 3}) {
		t.Errorf("words %v", set.words[0].Source)
	}
	if *set.Stats.Words != (words.Stats{Pairs: 2, Links: 3}) {
		t.Errorf("%+v", set.Stats.Words)
	}
	batches, err := set.Batches(nil)
	if err != nil {
		t.Fatal(err)
	}
	swapped := 0
	for range 20 {
		b := batches.Next()
		for i, row := range b.Rows {
			pair, is := set.words[row], b.Views[0].Languages[i] != set.Groups[0].Source
			if is {
				pair = pair.Swapped()
				swapped++
			}
			if fmt.Sprint(b.Words[i]) != fmt.Sprint(pair) {
				t.Errorf("row %d, swapped %v: %v, want %v", row, is, b.Words[i], pair)
			}
		}
	}
	if swapped == 0 || swapped == 40 {
		t.Errorf("%d of 40 are swapped", swapped)
	}
	c.Sources[0].Alignments = []string{write(t, "b.pharaoh", "0-0\n\n\n0-0\n")}
	if other, err := aligned(t, c); err != nil || other.Digest() == set.Digest() {
		t.Errorf("other links are the same bitext: %v", err)
	}
}

// TestAlignedByTheProgram: without a file of links, the pairs are aligned, each language pair with all of its own.
func TestAlignedByTheProgram(t *testing.T) {
	var text strings.Builder
	for range 3 {
		text.WriteString("ein Haus\ta house\nein Buch\ta book\nHaus\thouse\nBuch\tbook\nein\ta\n")
	}
	s := source(write(t, "a.tsv", text.String()))
	set, err := aligned(t, config(s))
	if err != nil {
		t.Fatal(err)
	}
	if links := set.words[0].Links; !slices.Equal(links, []words.Link{{Source: 0, Target: 0}, {Source: 1, Target: 1}}) || set.Stats.Words.Unlinked > 0 {
		t.Errorf("links %v, %+v", links, set.Stats.Words)
	}
}

func TestAlignmentsAreChecked(t *testing.T) {
	text := write(t, "a.tsv", alignedText)
	for name, c := range map[string]struct{ links, says string }{
		"outside":  {"0-0\n\n\n2-0\n", "links:4: the link 2-0 is outside its sentences, which have 2 and 2 words"},
		"fewer":    {"0-0\n\n\n", "links has only 3 lines"},
		"more":     {"0-0\n\n\n0-0\n\n", "links has more than the 4 lines"},
		"no link":  {"0-0\nzero\n\n\n", `links:2: "zero" is not a link`},
		"no links": {"\n\n\n\n", "none of the 2 pairs of the bitext has words that are linked"},
		"low":      {"0-0:0.1\n\n\n\n", "lower bitext.words.min_score"},
	} {
		s := source(text)
		s.Alignments = []string{write(t, "links", c.links)}
		if _, err := aligned(t, config(s)); !badinput.Is(err) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %q", name, err, c.says)
		}
	}
	s := source(text)
	s.Alignments = []string{"nowhere.pharaoh"}
	if _, err := aligned(t, config(s)); !badinput.Is(err) || !strings.Contains(err.Error(), "nowhere.pharaoh") {
		t.Errorf("no such file: %v", err)
	}
	s.Alignments = []string{"a", "b"}
	if _, err := aligned(t, config(s)); !badinput.Is(err) || !strings.Contains(err.Error(), "is 1 files but alignments names 2") {
		t.Errorf("two files of links: %v", err)
	}
}

// TestUnlikeTokens: pairs whose tokens do not spell their text are counted, and tokenised text that normalising divides
// into other words has no links.
func TestUnlikeTokens(t *testing.T) {
	s := source(write(t, "a.tsv", "ein Haus\ta house\nein \u3000 Haus ein\ta book a\n"))
	s.Alignments = []string{write(t, "a.pharaoh", "0-0\n2-1\n")}
	c := config(s)
	c.Words = &words.Config{Split: word.Spaces, Symmetry: word.Union}
	set, err := aligned(t, c)
	if err != nil {
		t.Fatal(err)
	}
	if *set.Stats.Words != (words.Stats{Pairs: 2, Links: 1, Unlinked: 1}) {
		t.Errorf("%+v", set.Stats.Words)
	}
	pieces := wholeWords{"<unk>", "<s>", "</s>", "ein", "Haus", "a", "house", "book"}
	o := Options{Tokenizer: pieces, BOS: []int32{1}, EOS: []int32{2}, Texts: true, Pieces: wholeWords{"<unk>", "<s>", "</s>", "ein", "Haus", "a", "x", "book"}}
	if set, err = Read(t.Context(), c, o); err == nil || set.Stats.Words.Unspelt != 1 {
		t.Errorf("%+v, %v", set.Stats.Words, err)
	}
}
