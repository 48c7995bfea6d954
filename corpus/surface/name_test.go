package surface

import (
	"math/rand/v2"
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
		unlike := f.Unlike(nil, [][]Sound{AppendSounds(nil, c.name)}, AppendSounds(nil, c.text))[0]
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

// unlike is Finder.Unlike for one name and by one cell of the table after the other.
func unlike(name, text []Sound) float32 {
	for len(name) > 0 && name[0] <= syllableStart {
		name = name[1:]
	}
	name = name[:min(len(name), 24)]
	last := make([]int, len(name)+1)
	for i, s := range name {
		last[i+1] = last[i] + int(costs.insert[s])
	}
	whole := last[len(name)]
	if whole == 0 {
		return 1
	}
	best, word, ending := whole, infiniteCost, infiniteCost
	for _, s := range text {
		if s == wordStart {
			best, word, ending = min(best, ending), infiniteCost, infiniteCost
		}
		now := []int{int(costs.start[s])}
		for i, n := range name {
			now = append(now, min(last[i]+int(costs.substitute[n][s]), last[i+1]+int(costs.insert[s]), now[i]+int(costs.insert[n])))
		}
		if s > syllableStart {
			word = min(word, now[len(name)])
			ending = min(ending+endingCost, word+maxEndingCost, now[len(name)])
		}
		last = now
	}
	return float32(min(best, ending)) / float32(whole)
}

// TestUnlikeTogether: any number of names of any length are as unlike together as one by one.
func TestUnlikeTogether(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	sounds := func(most int) []Sound {
		s := make([]Sound, random.IntN(most+1))
		for i := range s {
			s[i] = Sound(random.IntN(int(soundCount)))
		}
		return s
	}
	var f Finder
	for range 2000 {
		text, names := sounds(200), make([][]Sound, random.IntN(20))
		for i := range names {
			names[i] = sounds(30)
		}
		for i, got := range f.Unlike(nil, names, text) {
			if want := unlike(names[i], text); got != want {
				t.Fatalf("name %v is unlike %v by %v, want %v", names[i], text, got, want)
			}
		}
	}
}

func FuzzSounds(f *testing.F) {
	f.Add("O'Brien", "ジョンソン")
	f.Fuzz(func(t *testing.T, name, text string) {
		var finder Finder
		sounds, other := AppendSounds(nil, name), AppendSounds(nil, text)
		got := finder.Unlike(nil, [][]Sound{sounds, other}, other)
		if want := unlike(sounds, other); got[0] != want || got[1] != unlike(other, other) || !(want >= 0 && want <= 1) {
			t.Errorf("%q is unlike %q by %v, want %v", name, text, got, want)
		}
	})
}

func BenchmarkUnlike(b *testing.B) {
	names := [][]Sound{AppendSounds(nil, "Magdeburg"), AppendSounds(nil, "Schwarzenegger"), AppendSounds(nil, "Obama")}
	text := AppendSounds(nil, "Die Polizei von Canning Vale wurde am Dienstag zu einem Hausfriedensbruch-Vorfall in Beckenham gerufen, "+
		"sagte der Sprecher der Behörde in Sydney.")
	var f Finder
	var unlike []float32
	for b.Loop() {
		unlike = f.Unlike(unlike[:0], names, text)
	}
}
