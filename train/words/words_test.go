package words

import (
	"slices"
	"strings"
	"testing"

	"bitextmine/align/word"
)

// spell builds a speller whose vocabulary is the pieces, and spells a text with them. A piece "?" is the unknown token.
func spell(splitter word.Splitter, prefix, text string, pieces []string) (Sentence, bool) {
	s := &Speller{Splitter: splitter, Pieces: append([]string{"<unk>"}, pieces...)}
	tokens := make([]int32, len(pieces))
	for i, p := range pieces {
		if p != "?" {
			tokens[i] = int32(i + 1)
		}
	}
	return s.Spell(prefix, text, tokens, 1)
}

func TestSpell(t *testing.T) {
	for _, c := range []struct {
		name, prefix, text, pieces string
		words                      []Span
		of                         []int32
	}{
		{"whole words", "", "das Haus", "▁das ▁Haus", []Span{{1, 2}, {2, 3}}, []int32{0, 1}},
		{"parts of words", "", "Haustür auf", "▁Haus tür ▁a uf", []Span{{1, 3}, {3, 5}}, []int32{0, 1}},
		{"a token of two words", "", "l'homme.", "▁l' homme .", []Span{{1, 2}, {2, 3}, {3, 4}}, []int32{0, 0, 1, 2}},
		{"tokens that overlap words", "", "a-b c", "▁a- b ▁c", []Span{{1, 2}, {2, 3}, {3, 4}}, []int32{0, 0, 1, 2}},
		{"han: the tokens are the words", "", "我爱北京。", "▁ 我 爱 北京 。", []Span{{2, 3}, {3, 4}, {4, 5}, {5, 6}}, []int32{0, 1, 2, 2, 3}},
		{"han: a chain of shared tokens", "", "北京市", "▁北 京市", []Span{{1, 2}, {2, 3}}, []int32{0, 1, 1}},
		{"thai", "", "ที่นี่", "▁ที่ นี่", []Span{{1, 2}, {2, 3}}, []int32{0, 1}},
		{"kana", "", "これは", "▁これ は", []Span{{1, 2}, {2, 3}}, []int32{0, 0, 1}},
		{"NFKC and case", "", "ＦＵＬＬ ﬁn…", "▁full ▁fin ...", []Span{{1, 2}, {2, 3}, {3, 4}}, []int32{0, 1, 2}},
		{"truncated", "", "ein Haus am See", "▁ein ▁Hau", []Span{{1, 2}}, []int32{0, -1, -1, -1}},
		{"unknown in the middle", "", "a ☃☃ b", "▁a ▁ ? ▁b", []Span{{1, 2}, {3, 4}, {4, 5}}, []int32{0, 1, 1, 2}},
		{"unknown at the end", "", "a b☃", "▁a ▁b ?", []Span{{1, 2}, {2, 3}, {3, 4}}, []int32{0, 1, 2}},
		{"bytes", "", "a ☃ b", "▁a <0xE2> <0x98> <0x83> ▁b", []Span{{1, 2}, {2, 5}, {5, 6}}, []int32{0, 1, 2}},
		{"a prefix is no word", "query: ", "a b", "▁query : ▁a ▁b", []Span{{3, 4}, {4, 5}}, []int32{0, 1}},
		{"no words", "", "", "?", nil, nil},
	} {
		pieces := strings.Fields(c.pieces)
		got, ok := spell(word.Text, c.prefix, c.text, pieces)
		if !ok || !slices.Equal(got.Words, c.words) || !slices.Equal(got.Of, c.of) {
			t.Errorf("%s: %v %v %v, want %v %v", c.name, got.Words, got.Of, ok, c.words, c.of)
		}
	}
	for name, pieces := range map[string][]string{"other text": {"▁das", "▁Buch"}, "more text": {"▁das", "▁Haus", "▁am"}, "not after unknown": {"?", "▁Buch"}} {
		if got, ok := spell(word.Text, "", "das Haus", pieces); ok {
			t.Errorf("%s: %v", name, got)
		}
	}
	if got, ok := spell(word.Spaces, "", "l'homme .", []string{"▁l'", "homme", "▁."}); !ok || !slices.Equal(got.Of, []int32{0, 1}) {
		t.Errorf("separated by spaces: %v, %v", got, ok)
	}
}

func TestJoin(t *testing.T) {
	source := Sentence{Words: []Span{{1, 2}, {2, 4}}, Of: []int32{0, 0, 1, -1}}
	target := Sentence{Words: []Span{{1, 3}, {3, 4}}, Of: []int32{0, 1}}
	links := []word.Link{{Source: 2, Target: 1, Score: 1}, {Source: 0, Target: 1, Score: 0.9}, {Source: 1, Target: 1, Score: 0.95}, {Source: 3, Target: 0, Score: 1}, {Source: 2, Target: 0, Score: 0.89}}
	p := Join(source, target, links, 0.9)
	if want := []Link{{0, 1}, {1, 1}}; !slices.Equal(p.Links, want) {
		t.Errorf("links %v, want %v", p.Links, want)
	}
	if swapped := p.Swapped(); !slices.Equal(swapped.Links, []Link{{1, 0}, {1, 1}}) || !slices.Equal(swapped.Source, p.Target) {
		t.Errorf("swapped %v", swapped)
	}
}

// FuzzSpell: words are in order, do not overlap, and each word of the splitter has one or none.
func FuzzSpell(f *testing.F) {
	f.Add("das Haus", "▁das ▁Haus")
	f.Add("我爱北京", "▁ 我爱 ? 京")
	f.Add("a ☃ b", "▁a <0xE2> ? ▁b")
	f.Fuzz(func(t *testing.T, text, pieces string) {
		got, ok := spell(word.Text, "", text, strings.Fields(pieces))
		if !ok {
			return
		}
		end := uint16(1)
		for _, w := range got.Words {
			if w.Begin < end || w.End <= w.Begin || int(w.End) > 1+len(strings.Fields(pieces)) {
				t.Fatalf("%q spelled %q: words %v", text, pieces, got.Words)
			}
			end = w.End
		}
		if len(got.Of) != len(word.Text.Split(nil, text)) {
			t.Fatalf("%q has %d words", text, len(got.Of))
		}
		for _, w := range got.Of {
			if int(w) >= len(got.Words) || w < -1 {
				t.Fatalf("%q: %v of %v", text, got.Of, got.Words)
			}
		}
	})
}
