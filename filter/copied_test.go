package filter

import (
	"math/rand/v2"
	"slices"
	"testing"
)

func TestCopied(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"The old bridge was closed in March.", "The old bridge was closed in March.", true},
		{"The old bridge was closed in March.", "the old bridge was closed in march", true},
		{"The old bridge was closed on 12 March.", "The old bridge was closed on 13 March!", true},
		{"The old bridge was closed in March.", "Read more: the old bridge was closed in March.", false},
		{"The old bridge was closed in March.", "Die alte Brücke wurde im März geschlossen.", false},
		{"旧桥在三月份因为安全问题被关闭了。", "旧桥在三月份因为安全问题被关闭了", true},
		{"旧桥在三月份因为安全问题被关闭了。", "古い橋は安全上の問題で三月に閉鎖された。", false},
		{"สะพานเก่าถูกปิดในเดือนมีนาคม", "สะพานเก่าถูกปิดในเดือนมีนาคม", true},
		{"Angela Merkel", "Angela Merkel", false},
		{"Tore: Hintze (9), Ernst (6), Schlögl (4), Kretschmer (3), van de Pol (2).", "Goals: Hintze (9), Ernst (6), Schlögl (4), Kretschmer (3), van de Pol (2).", false},
		{"The New York Times", "The New York Times", false},
		{"12 345 678 901 234 567", "12 345 678 901 234 567", true},
		{"25.07.2012", "25/07/2012", true},
		{"28", "29", false},
		{"28", "XXVIII", false},
		{"---", "---", false},
		{"+49 30 1234567, 10117 Berlin", "+49 30 1234567, 10117 Berlin", false},
		{"东京大学", "东京大学", false},
		{"Click here now", "click here now!", true},
		{"Hello world", "Hello world", true},
		{"Hello world", "Hello word", false},
		{"Ludwig van Beethoven", "Ludwig van Beethoven", false},
		{"software", "software", false},
		{"git commit -m msg_one", "git commit -m msg_one", false},
		{"return x = y", "return x = y", false},
		{"open data.json now", "open data.json now", false},
		{"", "", false},
		{"\xff\xfe a b c d e", "\xff a b c d e", true},
	} {
		if got := Copied(c.a, c.b); got != c.want {
			t.Errorf("Copied(%q, %q) = %v", c.a, c.b, got)
		}
		if got := Copied(c.b, c.a); got != c.want {
			t.Errorf("Copied(%q, %q) = %v, but not the other way round", c.b, c.a, got)
		}
	}
}

// TestNear compares the band with the whole table of Levenshtein's distance.
func TestNear(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var c comparison
	for range 5000 {
		a := make([]rune, rng.IntN(12))
		for i := range a {
			a[i] = 'a' + rune(rng.IntN(3))
		}
		b := slices.Clone(a)
		for range rng.IntN(5) {
			at := rng.IntN(len(b) + 1)
			switch {
			case rng.IntN(2) == 0 || at == len(b):
				b = slices.Insert(b, at, 'a'+rune(rng.IntN(3)))
			default:
				b = slices.Delete(b, at, at+1)
			}
		}
		c.a, c.b = a, b
		want := distance(a, b)
		for limit := range 6 {
			if got := c.near(limit); got != (want <= limit) {
				t.Fatalf("near(%q, %q, %d) = %v, the distance is %d", string(a), string(b), limit, got, want)
			}
		}
	}
}

func distance(a, b []rune) int {
	table := make([][]int, len(a)+1)
	for i := range table {
		table[i] = make([]int, len(b)+1)
		for j := range table[i] {
			switch {
			case i == 0 || j == 0:
				table[i][j] = i + j
			case a[i-1] == b[j-1]:
				table[i][j] = table[i-1][j-1]
			default:
				table[i][j] = 1 + min(table[i-1][j-1], table[i-1][j], table[i][j-1])
			}
		}
	}
	return table[len(a)][len(b)]
}

func BenchmarkCopied(b *testing.B) {
	english := "The committee will publish its report on the state of the old bridges in the autumn of next year."
	german := "Der Ausschuss wird seinen Bericht über den Zustand der alten Brücken im Herbst des nächsten Jahres veröffentlichen."
	for b.Loop() {
		Copied(english, german)
	}
}
