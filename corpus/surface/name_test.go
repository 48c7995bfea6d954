package surface

import (
	"slices"
	"strings"
	"testing"
)

func TestNames(t *testing.T) {
	for text, want := range map[string][]string{
		"Gestern kam Anna aus Rostock.":           {"Anna", "Rostock"},
		"Rostock liegt nicht hoch. Anna mag es.":  nil, // first words say nothing
		"He said: \u201cLondon is big\u201d":      nil,
		"The talk of Mr. Brown in St. Ives":       {"Brown", "Ives"}, // no sentence ends after a short word
		"In 2019 Berlin won; then Li and Jo lost": {"Berlin"},        // two letters are no name
		"他住在Berlin附近":                             {"Berlin"},
		"В 2019 году Путин приехал в Берлин":      {"Путин", "Берлин"},
		"er sah Dr. Müller-Lüdenscheidt in Ulm !": {"Müller", "Lüdenscheidt", "Ulm"},
	} {
		var got []string
		for _, name := range Of("de", text).Names {
			got = append(got, name.Text)
		}
		if !slices.Equal(got, want) {
			t.Errorf("names of %q are %q, want %q", text, got, want)
		}
	}
}

// TestElision: what loses its vowel before a name is no part of it.
func TestElision(t *testing.T) {
	for _, c := range []struct{ language, text, want string }{
		{"fr", "C'est l'Arizona d’Obama, qu'Anna aime", "Arizona Obama Anna"},
		{"it", "l'Italia dell'Ottocento e Dell'Utri", "Italia Ottocento Utri"},
		{"fr", "il s'agit de Conan O'Brien", "Conan O'Brien"},
		{"en", "she is in D'Urville's house", "D'Urville's"},
	} {
		var got []string
		for _, name := range Of(c.language, c.text).Names {
			got = append(got, name.Text)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("names of %q are %q, want %s", c.text, got, c.want)
		}
	}
}

func TestSounds(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"Kanada", "Canada", true},
		{"Wien", "Vienna", true},
		{"Sizilien", "Sicily", true},
		{"Путин", "Putin", true},
		{"Αθήνα", "Athens", false},
		{"Αθηνα", "Atina", true},
		{"Rostock", "Magdeburg", false},
		{"Jena", "Jenas", true},
		{"Rom", "Roma", false},
		{"Ruhani", "Rouhani", true},
		{"Bakou", "Baku", true},
		{"NATO", "OTAN", true},
		{"BIP", "PIB", true},
		{"NATO", "Nato", false},
		{"BMW", "BMX", false},
	} {
		if got := soundOf(c.a) == soundOf(c.b); got != c.want {
			t.Errorf("%s and %s sound alike: %v, want %v", c.a, c.b, got, c.want)
		}
	}
}
