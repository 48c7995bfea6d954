package annotate

import (
	"testing"
	"unicode/utf8"
)

func TestRepair(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"German", "MÃ¼ller hÃ¶rt die BÃ¤ume", "Müller hört die Bäume"},
		{"a German capital", "Ã–sterreich und Ãœbersee", "Österreich und Übersee"},
		{"typographic marks", "Itâ€™s â€œgoodâ€\u009d â€“ really â€¦", "It’s “good” – really …"},
		{"signs", "20 Â°C, 5 â‚¬", "20 °C, 5 €"},
		{"French with a no-break space", "voilÃ\u00a0 lâ€™Ã©tÃ©", "voilà l’été"},
		{"Cyrillic", "ÐŸÑ€Ð¸Ð²ÐµÑ‚", "Привет"},
		{"Chinese", "ä½\u00a0å¥½ä¸–ç•Œ", "你好世界"},
		{"Devanagari", "à¤¨à¤®à¤¸à¥\u008dà¤¤à¥‡", "नमस्ते"},
		{"an emoji", "ok ðŸ˜€", "ok 😀"},
		{"twice", "MÃƒÂ¼ller", "Müller"},
		{"right German", "„Spaß“ ist Spaß… für 5 €", ""},
		{"right French", "« CAFÉ » et CAFÉ”, passé…» À bientôt", ""},
		{"right Portuguese", "AMANHÃ” e São Paulo nº 5", ""},
		{"right signs", "20 °C × 3 m² ½", ""},
		{"right Greek and Russian", "Καλημέρα — Привет", ""},
		{"ASCII", "plain", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			want, wrong := c.want, true
			if want == "" {
				want, wrong = c.text, false
			}
			if got := RepairMojibake(c.text); got != want {
				t.Errorf("repaired %q, want %q", got, want)
			}
			if n := CountMojibake(c.text); n > 0 != wrong {
				t.Errorf("%d wrong characters in %q", n, c.text)
			}
		})
	}
	if n := CountMojibake("a \uFFFD b"); n != 1 {
		t.Errorf("%d characters for a replacement character", n)
	}
}

func FuzzRepair(f *testing.F) {
	f.Add("MÃƒÂ¼ller â€œ")
	f.Fuzz(func(t *testing.T, text string) {
		repaired := RepairMojibake(text)
		if utf8.ValidString(text) && !utf8.ValidString(repaired) {
			t.Errorf("%q became %q, which is not UTF-8", text, repaired)
		}
		if len(repaired) > len(text) {
			t.Errorf("%q became longer: %q", text, repaired)
		}
	})
}
