package word

import (
	"slices"
	"strings"
	"testing"
	"unicode"
)

func TestWords(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"plain", "Guten Morgen.", "Guten|Morgen|."},
		{"apostrophes and hyphens", "L'homme-là don’t", "L|'|homme|-|là|don|’|t"},
		{"numbers", "1,000.5 um 12:30, in 2006.", "1,000.5|um|12:30|,|in|2006|."},
		{"letters and digits", "R2D2 x86", "R2D2|x86"},
		{"a full stop before a letter", "3.b", "3|.|b"},
		{"han", "我爱NLP。", "我|爱|NLP|。"},
		{"kana", "コーヒーを2つ", "コ|ー|ヒ|ー|を|2|つ"},
		{"thai vowels stay with their letter", "ที่นี่", "ที่|นี่"},
		{"khmer", "ខ្មែរ", "ខ្|មែ|រ"},
		{"hangul is written with spaces", "나는 학생이다.", "나는|학생이다|."},
		{"hindi marks", "हिन्दी है।", "हिन्दी|है|।"},
		{"persian joiner", "می\u200cروم", "می\u200cروم"},
		{"combining accent", "e\u0301tat", "\u00e9tat"},
		{"spaces only", " \t ", ""},
		{"not UTF-8", "a\xffb", "a|\ufffd|b"},
	} {
		if got := strings.Join(Text.Words(c.in), "|"); got != c.want {
			t.Errorf("%s: %q gives %q, want %q", c.name, c.in, got, c.want)
		}
	}
	if got := Spaces.Words("l' Homme  1. 。x \u3000 山\r\n"); !slices.Equal(got, []string{"l'", "Homme", "1.", "。x", "\u3000", "山"}) {
		t.Errorf("Spaces gives %q", got)
	}
}

// FuzzSplit: words are in order, do not overlap, have no space in them, and leave out nothing but spaces.
func FuzzSplit(f *testing.F) {
	for _, s := range []string{"Guten Morgen, 1,5 €.", "我爱NLP。", "ที่นี่", "a\xff\u200d\u0301 b", "1.2.3."} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, s := range Splitters {
			end := 0
			isSpace := unicode.IsSpace
			if s == Spaces {
				isSpace = func(r rune) bool { return strings.ContainsRune(" \r\n", r) }
			}
			for _, w := range s.Split(nil, text) {
				if w.Start < end || w.End <= w.Start || w.End > len(text) {
					t.Fatalf("%s: %q has the word %v after %d", s, text, w, end)
				}
				if strings.TrimFunc(text[end:w.Start], isSpace) != "" || strings.ContainsFunc(text[w.Start:w.End], isSpace) {
					t.Fatalf("%s: %q is divided at %v", s, text, w)
				}
				end = w.End
			}
			if strings.TrimFunc(text[end:], isSpace) != "" {
				t.Fatalf("%s: %q has words after %d", s, text, end)
			}
		}
	})
}
