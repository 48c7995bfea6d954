package annotate

import (
	"testing"
	"unicode/utf8"

	"bitextmine/corpus"
)

func TestText(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"nothing", "Alles ist gut.", "Alles ist gut."},
		{"wrong encoding", "FÃ¼r MÃ¼ller â€“ heute", "Für Müller – heute"},
		{"entities", "Fish &amp; chips &lt;b&gt; &#8217;s &nbsp;end", "Fish & chips <b> ’s end"},
		{"entities twice", "R&amp;amp;D", "R&D"},
		{"entities with a semicolon alone", "Caf&eacute; https://x.de/a?id=1&section=2&region=at &#39;", "Café https://x.de/a?id=1&section=2&region=at '"},
		{"an ampersand", "AT&T & Co", "AT&T & Co"},
		{"spaces", "  zwei \u00a0 Wörter\u200b\tund Zeichen\u00ad ", "zwei Wörter und Zeichen"},
		{"a control character as entity", "a&#7;b", "a b"},
		{"Cyrillic letters in a Latin word", "Pаris is nice", "Paris is nice"},
		{"Latin letters in a Russian word", "Пpивет", "Привет"},
		{"a Russian word of letters like Latin ones", "оно и она", "оно и она"},
		{"Greek", "Καλημέρα κόσμε", "Καλημέρα κόσμε"},
		{"Latin letters in Greek words", "ΕΛΛ\u0041ΔΑ π\u006fλύ", "ΕΛΛΑΔΑ πολύ"},
		{"letters of three scripts", "привет\u03bf\u006f", "привет\u03bf\u006f"},
		{"words of two scripts", "webсайт, SMSка и onlineмагазин, email'ом", "webсайт, SMSка и onlineмагазин, email'ом"},
		{"ligatures", "eﬃcient oﬃce", "efficient office"},
		{"Chinese", "你好，世界。", "你好，世界。"},
		{"Arabic", "مرحبا بالعالم", "مرحبا بالعالم"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := FixText(c.text); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

func FuzzText(f *testing.F) {
	f.Add("R&amp;amp;D Ã¼ Пpивет")
	f.Fuzz(func(t *testing.T, text string) {
		if !utf8.ValidString(text) {
			return
		}
		fixed := FixText(text)
		if !utf8.ValidString(fixed) || fixed != corpus.Normalise(fixed) {
			t.Errorf("%q became %q", text, fixed)
		}
	})
}
