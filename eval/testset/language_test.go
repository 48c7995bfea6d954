package testset

import (
	"strings"
	"testing"

	"bitextmine/internal/badinput"
)

func TestLanguagesInAnyCode(t *testing.T) {
	for _, codes := range [][2]string{{"de", "en"}, {"deu", "eng"}, {"deu_Latn", "eng_Latn"}} {
		pair, err := ParsePair(codes[0], codes[1])
		if err != nil || pair != (LanguagePair{"de", "en"}) {
			t.Errorf("%v: %v, %v", codes, pair, err)
		}
	}
	if pair, ok := pairOf("zh-Hant-en"); !ok || pair != (LanguagePair{"zh-Hant", "en"}) {
		t.Errorf("zh-Hant-en: %v %v", pair, ok)
	}
	if pair, ok := pairOf("README"); ok {
		t.Errorf("README: %v", pair)
	}
	for code, says := range map[string]string{"deutsch": "deutsch", "eng": "two languages"} {
		if _, err := ParsePair(code, "en"); !badinput.Is(err) || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: error %v, want %q", code, err, says)
		}
	}
}
