package language

import "testing"

func TestProse(t *testing.T) {
	for text, want := range map[string]string{
		"@anna Je crois que oui. #weekend https://example.org/0a65":    "Je crois que oui.",
		"Use :ref:`the index <genindex>` or ``find`` here":             "Use or here",
		"Voir www.example.org et <b>anna</b>&nbsp;: ecrire a a@b.org.": "Voir et anna : ecrire a",
		"It's 'quoted` & 1/2":  "It's 'quoted` & 1/2",
		"https://example.org/": "",
		"":                     "",
	} {
		if got := prose(text); got != want {
			t.Errorf("%q: %q, not %q", text, got, want)
		}
	}
}

// TestProseAlone: what surrounds a sentence does not make it one of another language.
func TestProseAlone(t *testing.T) {
	const around = " #weekend #fun #happybirthday https://example.org/the-best-of-the-world/welcome-to-our-new-home"
	for _, s := range sentences(t) {
		if text := "@the_best_player " + s[1] + around; foreign(s[0], text) {
			t.Errorf("said to be %s: %+v: %s", s[0], For(s[0]).Identify(text), text)
		}
	}
	if g := For("fr").Identify("@anna Oui ! #weekend https://example.org/the-best-of-the-world/welcome-to-our-new-home"); g.Code == "en" {
		t.Errorf("an address is identified: %+v", g)
	}
}
