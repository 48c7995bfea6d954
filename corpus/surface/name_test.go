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

// TestUnlike: a name is found in other scripts, cases and spellings, and another name is not.
func TestUnlike(t *testing.T) {
	const found, missing = 0.3, 0.45
	var f Finder
	for _, c := range []struct {
		name, text string
		want       bool
	}{
		{"Kanada", "in Canada", true},
		{"Wien", "from Vienna to Rome", true},
		{"Ruhani", "President Rouhani", true},
		{"Yerofeyev", "роман Виктора Ерофеева", true},
		{"Kokkinakis", "сказал Кокинакис", true},
		{"Binladin", "семья бен Ладена", true},
		{"Athina", "στην Αθήνα", true},
		{"Clinton", "كلينتون", true},
		{"Hariri", "قال الحريري", true},
		{"Netanyahu", "נתניהו אמר", true},
		{"Johnson", "ジョンソン首相は", true},
		{"Merkel", "메르켈 총리는", true},
		{"Obama", "โอบามา", true},
		{"Gandhi", "गांधी ने", true},
		{"Clinton", "希拉里·克林顿说", true},
		{"Clinton", "قال الرئيس أوباما", false},
		{"Rostock", "Magdeburg", false},
		{"Merkel", "特朗普总统", false},
		{"Trump", "메르켈 총리는", false},
		{"Magdeburg", "сказал Кокинакис", false},
		{"Paris", "", false},
	} {
		unlike := f.Unlike(AppendSounds(nil, c.name), AppendSounds(nil, c.text))
		if c.want && unlike > found || !c.want && unlike < missing {
			t.Errorf("%s is unlike %q by %.2f", c.name, c.text, unlike)
		}
	}
}

func TestAcronym(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{{"NATO", "OTAN", true}, {"BIP", "PIB", true}, {"BMW", "BMX", false}, {"NATO", "Nato", false}} {
		a, _ := Acronym(c.a)
		if b, _ := Acronym(c.b); (a == b) != c.want {
			t.Errorf("%s and %s are the same acronym: %v, want %v", c.a, c.b, a == b, c.want)
		}
	}
}

func FuzzSounds(f *testing.F) {
	f.Add("O'Brien", "ジョンソン")
	f.Fuzz(func(t *testing.T, name, text string) {
		var finder Finder
		if unlike := finder.Unlike(AppendSounds(nil, name), AppendSounds(nil, text)); !(unlike >= 0 && unlike <= 1) {
			t.Errorf("%q is unlike %q by %v", name, text, unlike)
		}
	})
}

func BenchmarkUnlike(b *testing.B) {
	names := [][]Sound{AppendSounds(nil, "Magdeburg"), AppendSounds(nil, "Schwarzenegger"), AppendSounds(nil, "Obama")}
	text := AppendSounds(nil, "Die Polizei von Canning Vale wurde am Dienstag zu einem Hausfriedensbruch-Vorfall in Beckenham gerufen, "+
		"sagte der Sprecher der Behörde in Sydney.")
	var f Finder
	for b.Loop() {
		for _, name := range names {
			f.Unlike(name, text)
		}
	}
}
