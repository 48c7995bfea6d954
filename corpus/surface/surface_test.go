package surface

import (
	"testing"
	"unicode/utf8"
)

func TestSharedSurface(t *testing.T) {
	shared := func(a, b []uint32) int {
		n := 0
		for _, x := range a {
			for _, y := range b {
				if x == y {
					n++
				}
			}
		}
		return n
	}
	for _, c := range []struct {
		name                  string
		a, b                  string
		numbers, names, stems int
	}{
		{"separators", "Es kostet 1.000,50 Euro", "It costs 1,000.50 euros", 1, 0, 0},
		{"leading zeros and scripts", "um 07:30", "在０７：３０ ٧٣٠", 1, 0, 0}, // ： is no separator: 07 and 30, beside 730
		{"a full stop ends a number", "Im Jahr 2019.", "In 2019", 1, 0, 0},
		{"different numbers", "12 Hunde", "21 dogs", 0, 0, 0},
		{"names without accents", "Gestern kam Müller", "Muller was here", 0, 1, 1},
		{"names in Chinese text", "他住在Berlin附近", "He lives near Berlin", 0, 1, 1},
		{"short words are no names", "Er ist da", "He is It", 0, 0, 0},
		{"cognates by their beginning", "eine Katastrophe", "catastrophe: katastrofal", 0, 0, 1},
		{"Cyrillic", "Москва большая", "Москва велика", 0, 1, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			a, b := Of("de", c.a), Of("en", c.b)
			only, _ := UnpairedNumbers(a.Numbers, b.Numbers)
			if n := len(a.Numbers) - len(only); n != c.numbers {
				t.Errorf("%d numbers shared, want %d", n, c.numbers)
			}
			if n := shared(a.Capitals, b.Capitals); n != c.names {
				t.Errorf("%d names shared, want %d", n, c.names)
			}
			if n := shared(a.Stems, b.Stems); n != c.stems {
				t.Errorf("%d cognates shared, want %d", n, c.stems)
			}
		})
	}
}

func TestMarksAndLength(t *testing.T) {
	f := Of("de", "„Wirklich?“ – 50 % (ca.): ja!")
	want := [8]uint8{1, 1, 2, 1, 1, 1, 0, 1}
	if f.Marks != want {
		t.Errorf("marks %v, want %v", f.Marks, want)
	}
	if f.Length != 29 {
		t.Errorf("length %d, want 29", f.Length)
	}
}

func FuzzOf(f *testing.F) {
	f.Add("Am 3. März 2019 um 7:30, sagte O’Neill (47) — «oui»!")
	f.Add("在 Berlin ٣٫٥٪")
	f.Add("1.,:2..3,")
	f.Add("l’Europe d'Ulm qu’ NATO 7月 2.0")
	f.Fuzz(func(t *testing.T, text string) {
		got := Of("fr", text) // whose words may end at an apostrophe
		if n := utf8.RuneCountInString(text); int(got.Length) > n {
			t.Errorf("length %d of %d runes", got.Length, n)
		}
		for _, list := range [][]uint32{got.Capitals, got.Stems} {
			for i := 1; i < len(list); i++ {
				if list[i] < list[i-1] {
					t.Fatalf("hashes out of order: %v", list)
				}
			}
		}
	})
}

func BenchmarkOf(b *testing.B) {
	text := "Die meisten Amerikaner sagten, dass die E-Mail-Kontroverse keine Auswirkungen auf ihre Meinungen hatte, obwohl 36 Prozent klagten."
	var last Features
	for b.Loop() {
		last = Of("en", text)
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "sentences/s")
	if last.Length == 0 {
		b.Fatal("no surface features")
	}
}

func TestNegation(t *testing.T) {
	for _, c := range []struct {
		language, text string
		want           Negation
	}{
		{"de", "Das ist nicht wahr.", Negated},
		{"de", "KEINE Zeit", Negated},
		{"de", "Eine Nichte kam.", Affirmed},
		{"en", "He didn’t come", Negated},
		{"en", "He didn't come", Negated},
		{"en", "A notable knot", Affirmed},
		{"fr", "Je ne sais pas.", Negated},
		{"es", "jamás", Negated},
		{"zh", "我不知道", Negated},
		{"zh", "我知道", Affirmed},
		{"zh-Hant", "我不喜歡", Negated},
		{"xx", "not", Unknown},
	} {
		if got := Of(c.language, c.text).Negation; got != c.want {
			t.Errorf("%s %q: %v, want %v", c.language, c.text, got, c.want)
		}
	}
}
