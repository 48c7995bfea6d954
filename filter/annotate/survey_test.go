package annotate

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func surveyed(t *testing.T, pairs [][2]string) []Known {
	t.Helper()
	parent := t.TempDir()
	s, err := NewSurvey(parent)
	if err != nil {
		t.Fatal(err)
	}
	var scratch Scratch
	for _, p := range pairs {
		k := scratch.KeysOf(p[0], p[1])
		if err := s.Add(&k, "de", "en"); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Finish(); err != nil {
		t.Fatal(err)
	}
	known := make([]Known, len(pairs))
	for i := range known {
		if known[i], err = s.Next("de", "en"); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.Next("de", "en"); err == nil {
		t.Error("a row after the last")
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(parent); err != nil || len(left) > 0 {
		t.Errorf("%d temporary files are left, %v", len(left), err)
	}
	return known
}

func TestGroupsAndUses(t *testing.T) {
	known := surveyed(t, [][2]string{
		{"Der Zug nach Hamburg fährt heute von Gleis 7.", "The train to Hamburg leaves from platform 7 today."},
		{"Wir haben gestern lange gearbeitet.", "We worked for a long time yesterday."},
		{"DER ZUG nach Hamburg fährt heute von Gleis 7!", "The train to Hamburg leaves from platform 7 today"},
		{"Der Zug nach Hamburg fährt heute von Gleis 9.", "The train to Hamburg leaves from platform 9 today."},
		{"Wir haben gestern lange gearbeitet.", "The weather was lovely all week."},
		{"北京是中国的首都。", "Beijing is the capital of China."},
		{"北京是中國的首都,", "Beijing is the capital of China, then."},
	})
	for i, want := range []struct {
		first            uint64
		copy             Copy
		sources, targets uint32
	}{{1, Original, 1, 1}, {2, Original, 2, 1}, {1, Same, 1, 1}, {1, NearlySame, 1, 1}, {5, Original, 2, 1}, {6, Original, 1, 1}, {7, Original, 1, 1}} {
		k := known[i]
		if i == 6 { // a likeness that MinHash finds by chance
			continue
		}
		if k.First != want.first || k.Copy != want.copy || k.SourceUses != want.sources || k.TargetUses != want.targets || k.Row != uint64(i+1) {
			t.Errorf("row %d: %+v, want %+v", i+1, k, want)
		}
	}
}

// TestSymbolsTellPairsApart: what differs in a symbol or a sign is no copy, what differs in punctuation is one.
func TestSymbolsTellPairsApart(t *testing.T) {
	key := func(text string) uint64 {
		var s Scratch
		k := s.KeysOf(text, text)
		return k.pair
	}
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{"C++", "C#", false}, {"C++", "C", false}, {"C#", "C", false}, {"at -5 degrees", "at +5 degrees", false}, {"at -5 degrees", "at 5 degrees", false},
		{"-5", "−5", true}, {"(-5)", "(5)", false}, {"x > y", "x < y", false}, {"5 €", "5 $", false}, {"ok 😀", "ok 😢", false}, {"< 7.4", ">= 7.4", false}, {"5 %", "5", false},
		{"Ja, gut.", "ja gut", true}, {"COVID-19", "Covid 19", true}, {"1-0", "1:0", true}, {"a | b", "a - b", true}, {"■ a", "a", true}, {"`a`", "'a'", true},
	} {
		if same := key(c.a) == key(c.b); same != c.same {
			t.Errorf("%q and %q are the same: %v", c.a, c.b, same)
		}
	}
}

// TestManyRows has more rows than fit in the buckets' buffers, so that they are written, and a range of rows that ends.
// TestVowelSignsTellPairsApart: what a man and a woman say is not the same, and accents and vowel points say nothing.
func TestVowelSignsTellPairsApart(t *testing.T) {
	var s Scratch
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{"मैं जाता हूँ", "मैं जाती हूँ", false}, {"ไม่", "ไม้", false}, {"நான் பாடுகிறேன்", "நான் பாடுகிறான்", false}, {"দেশ", "দশ", false},
		{"ज़रूर", "जरूर", true}, {"résumé", "resume", true}, {"r\u00e9sum\u0323e", "resume", true}, {"שָׁלוֹם", "שלום", true}, {"كِتَاب", "كتاب", true}, {"か\u3099", "が", true},
	} {
		if a, b := s.KeysOf(c.a, "I go."), s.KeysOf(c.b, "I go"); (a.pair == b.pair) != c.same {
			t.Errorf("%s and %s are the same: %v", c.a, c.b, !c.same)
		}
	}
}

func TestManyRows(t *testing.T) {
	const rows = 20_500
	s := newSurvey(t.TempDir(), 12, 1<<10)
	defer func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}()
	for i := range uint64(rows) {
		k := Keys{source: mix(i % 1000), target: mix(i), pair: mix(i | 1), sourceWidth: 10, targetWidth: 10}
		for b := range k.near {
			k.near[b] = mix(uint64(b) + i<<8)
		}
		if err := s.Add(&k, "de", "en"); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Finish(); err != nil {
		t.Fatal(err)
	}
	for i := range uint64(rows) {
		k, err := s.Next("de", "en")
		if err != nil {
			t.Fatal(err)
		}
		uses := uint32(rows / 1000)
		if i%1000 < rows%1000 {
			uses++
		}
		first, kind := i+1, Original
		if i%2 == 1 { // the same pair as the row before
			first, kind = i, Same
		}
		if k.SourceUses != uses || k.TargetUses != 1 || k.First != first || k.Copy != kind {
			t.Fatalf("row %d: %+v, want %d uses and the group of %d", i+1, k, uses, first)
		}
	}
}

// TestMinHash checks the probabilities that the package comment states.
func TestMinHash(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	letters := []rune("abcdefghijklmnopqrstuvwxyz")
	random := func(n int) []rune {
		out := make([]rune, n)
		for i := range out {
			out[i] = letters[rng.IntN(len(letters))]
		}
		return out
	}
	// Two texts of the same beginning of a share of their sequences have the similarity shared/(2-shared).
	for _, c := range []struct{ similarity, low, high float64 }{{0.9, 0.95, 1}, {0.8, 0.65, 0.92}, {0.5, 0, 0.08}, {0.2, 0, 0.01}} {
		shared := 2 * c.similarity / (1 + c.similarity)
		found, trials := 0, 300
		var scratch Scratch
		for range trials {
			begin := random(int(300 * shared))
			a := scratch.KeysOf(string(append(begin[:len(begin):len(begin)], random(300-len(begin))...)), "x")
			b := scratch.KeysOf(string(append(begin[:len(begin):len(begin)], random(300-len(begin))...)), "x")
			agree := 0
			for i := range a.near {
				if a.near[i] == b.near[i] {
					agree++
				}
			}
			if agree >= 2 {
				found++
			}
		}
		if rate := float64(found) / float64(trials); rate < c.low || rate > c.high {
			t.Errorf("of pairs with similarity %v a share of %v is found, want %v to %v", c.similarity, rate, c.low, c.high)
		}
	}
}

// TestLengths: wrong pairs hardly move the distribution, and few pairs leave the prior.
func TestLengths(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	var l Lengths
	for range 2000 {
		width := 60 + rng.IntN(60)
		l.Add(width, int(float64(width)*1.2*math.Exp(rng.NormFloat64()*0.1)))
	}
	for range 800 {
		l.Add(60+rng.IntN(60), 10+rng.IntN(400))
	}
	l.Fit()
	if math.Abs(l.median-math.Log(1.2)) > 0.05 {
		t.Errorf("the median is %v, want %v", l.median, math.Log(1.2))
	}
	if z := l.Deviation(100, 120); math.Abs(z) > 0.3 {
		t.Errorf("the usual ratio is %v deviations away", z)
	}
	if z := l.Deviation(100, 300); z < 4 {
		t.Errorf("a target 2.5 times too long is %v deviations away", z)
	}
	if z := l.Deviation(4, 10); z > 2 {
		t.Errorf("a short pair is %v deviations away", z)
	}
	var few Lengths
	few.Add(10, 1000)
	few.Fit()
	if math.Abs(few.median) > 0.2 {
		t.Errorf("one pair makes the median %v", few.median)
	}
	if WidthOf("北京") != 6 || WidthOf("서울") != 4 || WidthOf("Köln") != 4 {
		t.Error("widths")
	}
}

func BenchmarkKeys(b *testing.B) {
	source, target := "", ""
	for i := range 20 {
		source += fmt.Sprintf("Wort%d ", i)
		target += fmt.Sprintf("word%d ", i)
	}
	var scratch Scratch
	for b.Loop() {
		scratch.KeysOf(source, target)
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "pairs/s")
}

// TestSurveyOfOnePair: where every row is the same, what is read at a time does not grow with the rows.
func TestSurveyOfOnePair(t *testing.T) {
	t.Parallel()
	s, err := NewSurvey(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	var scratch Scratch
	keys := scratch.KeysOf("Das ist ein Haus", "This is a house")
	const rows, most = 200_000, 1_000_000 // records of 56 bytes
	for range rows {
		if err := s.Add(&keys, "de", "en"); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Finish(); err != nil {
		t.Fatal(err)
	}
	for row := uint64(1); row <= rows; row++ {
		known, err := s.Next("de", "en")
		if err != nil || known.SourceUses != rows || known.First != 1 {
			t.Fatalf("row %d: %+v, %v", row, known, err)
		}
		if read := len(s.repeated); read > most {
			t.Fatalf("%d records are in memory at row %d", read, row)
		}
	}
}

// TestNoRoomForTheSurvey: where a temporary file cannot be written, the flag for another folder is named.
func TestNoRoomForTheSurvey(t *testing.T) {
	gone := filepath.Join(t.TempDir(), "gone")
	_, missing := NewSurvey(gone)
	s := newSurvey(gone, 2, 16)
	unwritten := errors.Join(s.Add(&Keys{}, "de", "en"), s.Add(&Keys{}, "de", "en"))
	if said := fmt.Sprint(missing, unwritten); strings.Count(said, "--temp-dir") < 2 {
		t.Errorf("errors %s", said)
	}
}
