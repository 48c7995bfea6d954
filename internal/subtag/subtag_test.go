package subtag

import "testing"

func TestLanguage(t *testing.T) {
	for code, want := range map[string]string{"de": "de", "zh-Hant": "zh", "sr-Latn-RS": "sr", "": ""} {
		if got := Language(code); got != want {
			t.Errorf("%q: %q instead of %q", code, got, want)
		}
	}
}
