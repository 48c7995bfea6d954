package surface

import (
	"testing"
	"unicode/utf8"
)

func TestPlain(t *testing.T) {
	for text, want := range map[string]string{
		"":               "",
		"Ünï 12,5 — „Ж“": "Ünï 12,5 — „Ж“",
		"ＢＢＣ　Ｓｃｏｔｌａｎｄ！": "BBC　Scotland!",
		"１６，７００人、１０：１５": "16,700人、10:15",
		"12，345，678":         "12,345,678",
		"在2018，300人，1，23":    "在2018，300人，1，23",
		"٣٫٧٥٪ و ١٦٬٧٠٠":     "3.75% و 16,700",
		"١٦،٧٠٠، ٥":          "16,700، 5",
		"१६,७०० ๒๕๖๐ 16،700": "16,700 2560 16,700",
		"\xff１":              "\xff1",
	} {
		if got := Plain(text); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}

func FuzzPlain(f *testing.F) {
	f.Add("１，２３４ ١٦،٧٠٠\xff")
	f.Fuzz(func(t *testing.T, text string) {
		plain := Plain(text)
		if utf8.RuneCountInString(plain) != utf8.RuneCountInString(text) || Plain(plain) != plain {
			t.Errorf("%q is %q, then %q", text, plain, Plain(plain))
		}
	})
}
