package corpus

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
	"unsafe"

	"golang.org/x/text/unicode/norm"
)

func TestNormalise(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"empty", "", ""},
		{"plain", "A sentence.", "A sentence."},
		{"case is kept", "ß ẞ SS İ", "ß ẞ SS İ"},
		{"compatibility forms are kept", "ﬁ Ａ １ ㎏", "ﬁ Ａ １ ㎏"},
		{"trimmed", " \ta b\r\n", "a b"},
		{"runs fold", "a \t\n  b", "a b"},
		{"every white space", "a\u00a0b\u1680c\u2003d\u2028e\u2029f\u202fg\u205fh\u3000i\u0085j", "a b c d e f g h i j"},
		{"white space alone", " \u3000\t", ""},
		{"controls part words", "a\x00b\x1fc\u0092d\x7fe", "a b c d e"},
		{"zero width space parts words", "ក\u200bខ", "ក ខ"},
		{"invisible", "a\u00adb\u2060c\ufeffd\u200ee\u200ff\u202ag\u202ch\u2066i\u2069j\u061ck", "abcdefghijk"},
		{"invisible beside a space", "a \u200e b", "a b"},
		{"ZWNJ inside a Persian word", "می\u200cخواهم", "می\u200cخواهم"},
		{"ZWJ after a Malayalam virama", "ന്\u200d", "ന്\u200d"},
		{"emoji sequence", "👩\u200d👧", "👩\u200d👧"},
		{"joiner at a word's start", "\u200ca \u200d\u200cb", "a b"},
		{"joiners alone", "\u200d\u200c \u200d", ""},
		{"composes", "e\u0301 A\u030a", "é Å"},
		{"Hangul jamo", "\u1112\u1161\u11ab", "한"},
		{"singletons", "\u212b\u2126", "ÅΩ"},
		{"marks reorder", "a\u0301\u0323", "ạ\u0301"},
		{"composes over what is removed", "e\u00ad\u0301", "é"},
		{"flags keep their tags", "🏴\U000e0067\U000e007f", "🏴\U000e0067\U000e007f"},
		{"variation selector", "❤\ufe0f", "❤\ufe0f"},
		{"replacement character", "a\ufffdb", "a\ufffdb"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := Normalise(tt.text); got != tt.want {
				t.Errorf("Normalise(%q) = %q, want %q", tt.text, got, tt.want)
			}
		})
	}
}

func TestNormaliseCopiesNothingNormal(t *testing.T) {
	for _, s := range []string{"plain text", "Größe, Straße", "一二三四，五六。", "ви хочете", "ṩ"} {
		if got := Normalise(s); unsafe.StringData(got) != unsafe.StringData(s) {
			t.Errorf("Normalise(%q) made a copy", s)
		}
	}
}

func FuzzNormalise(f *testing.F) {
	for _, s := range []string{"", "a  b", "e\u0301\u00ad\u0323", "\u200d\u200c a", "\u1112\u1161\u11ab", "a\u200b\u0301b", strings.Repeat("\u0301", 40), "\u0958\u0344"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if !utf8.ValidString(s) {
			t.Skip()
		}
		n := Normalise(s)
		if again := Normalise(n); again != n {
			t.Fatalf("not idempotent: %+q -> %+q -> %+q", s, n, again)
		}
		if !utf8.ValidString(n) || !norm.NFC.IsNormalString(n) {
			t.Fatalf("%+q -> %+q is not NFC", s, n)
		}
		if strings.TrimSpace(n) != n || strings.Contains(n, "  ") {
			t.Fatalf("%+q -> %+q has stray spaces", s, n)
		}
		for _, r := range n {
			if r != ' ' && unicode.IsSpace(r) || unicode.IsControl(r) || isInvisible(r) {
				t.Fatalf("%+q -> %+q keeps %U", s, n, r)
			}
		}
		if viaNFD := Normalise(norm.NFD.String(s)); viaNFD != n && len(s) < 30 {
			t.Fatalf("%+q and its NFD differ: %+q, %+q", s, n, viaNFD)
		}
	})
}

func BenchmarkNormalise(b *testing.B) {
	for _, bb := range []struct{ name, text string }{
		{"ascii", "The companies would have had a year to prepare for the law, he said yesterday."},
		{"german", "Die Herstellergesellschaften hätten ein Jahr lang Zeit, sich auf die Anwendung des Gesetzes vorzubereiten."},
		{"chinese", "他昨天表示，这些公司将有一年的时间为该法律的实施做好准备。"},
		{"hindi", "उन्होंने कल कहा कि कंपनियों के पास कानून की तैयारी के लिए एक वर्ष होगा।"},
		{"folded", "The companies  would have had\u00a0a year to prepare for the law, he said yesterday. "},
	} {
		b.Run(bb.name, func(b *testing.B) {
			b.SetBytes(int64(len(bb.text)))
			b.ReportAllocs()
			for b.Loop() {
				Normalise(bb.text)
			}
		})
	}
}
