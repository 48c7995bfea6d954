package data

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"bitextmine/encode/model"
	"bitextmine/internal/badinput"
)

// letters makes a token of every letter.
type letters struct{}

func (letters) Unknown() int32 { return 99 }

func (letters) Encode(texts []string, most int, yield func(i int, ids []int32)) error {
	for i, text := range texts {
		var ids []int32
		for _, r := range text {
			if r != '.' && len(ids) < most {
				ids = append(ids, r)
			}
		}
		yield(i, ids)
	}
	return nil
}

// setOf has pairs of n[i] lines in language pair i of de-en, fr-en, ja-en; lengths vary, the last ones of each are
// long.
func setOf(t testing.TB, c Config, o Options, n ...int) *Set {
	t.Helper()
	for g, rows := range n {
		var b strings.Builder
		for i := range rows {
			long := i % 11
			if i >= rows-rows/20 {
				long = 50
			}
			fmt.Fprintf(&b, "%c%d%s\t%c%d\n", 'a'+g, i, strings.Repeat("x", long), 'A'+g, i)
		}
		s := source(write(t, "a.tsv", b.String()))
		s.Src = []string{"de", "fr", "ja"}[g]
		c.Sources = append(c.Sources, s)
	}
	if o.Tokenizer == nil {
		o.Tokenizer = letters{}
	}
	set, err := Read(t.Context(), c, o)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

func batches(t testing.TB, s *Set) *Batches {
	t.Helper()
	b, err := s.Batches(nil)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestSetHoldsWhatAModelReads(t *testing.T) {
	c := config(source(write(t, "a.tsv", "ABC\tdefghij\n...\tk\nn\t..\nm\tk\n")))
	c.MaxTokens = 6
	o := Options{Tokenizer: letters{}, Lowercase: true, Number: func(id int32) int32 { return id + 1 }, BOS: []int32{1}, EOS: []int32{2},
		Prefixes: map[string]model.Prefix{"de": {Tokens: []int32{7}}, "en": {Tokens: []int32{8}}}, Texts: true}
	set, err := Read(t.Context(), c, o)
	if err != nil {
		t.Fatal(err)
	}
	for _, check := range []struct{ got, want []int32 }{
		{set.Source(0), []int32{1, 7, 'b', 'c', 'd', 2}},
		{set.Target(0), []int32{1, 8, 'e', 'f', 'g', 2}},
		{set.Source(1), []int32{1, 7, 'n', 2}},
		{set.Target(1), []int32{1, 8, 'l', 2}},
	} {
		if !slices.Equal(check.got, check.want) {
			t.Errorf("%v, want %v", check.got, check.want)
		}
	}
	if source, target := set.Texts(0); source != "ABC" || target != "defghij" {
		t.Errorf("texts %q, %q", source, target)
	}
	if set.Stats.Cut != 1 || set.Stats.Blank != 2 || set.Len() != 2 || set.Groups[0].Pairs != 2 || !slices.Equal(set.Languages, []string{"de", "en"}) || set.GroupName(0) != "de-en" {
		t.Errorf("%+v", set)
	}
	if source, target := set.Texts(1); source != "m" || target != "k" {
		t.Errorf("after two pairs without tokens: %q, %q", source, target)
	}
	c.MaxTokens = 3
	if _, err := Read(t.Context(), c, o); !badinput.Is(err) || !strings.Contains(err.Error(), "no room") {
		t.Errorf("%v", err)
	}
	o.Prefixes = map[string]model.Prefix{model.AnyLanguage: {Text: "Q"}, "de": {Tokens: []int32{7}}}
	if set, err = Read(t.Context(), config(source(write(t, "b.tsv", "A\tB\n"))), o); err != nil || !slices.Equal(set.Target(0), []int32{1, 'q' + 1, 'b' + 1, 2}) {
		t.Errorf("a prefix for all others gives %v, %v", set.Target(0), err)
	}
	delete(o.Prefixes, model.AnyLanguage)
	c.MaxTokens = 6
	if _, err := Read(t.Context(), c, o); !badinput.Is(err) || !strings.Contains(err.Error(), "language en of the bitext has no prefix") {
		t.Errorf("%v", err)
	}
}

// TestPrefixIsThatOfTheManifest: training takes the prefix that the exported encoder does, of languages with a script,
// too.
func TestPrefixIsThatOfTheManifest(t *testing.T) {
	own, bare, any := model.Prefix{Text: "own"}, model.Prefix{Tokens: []int32{7}}, model.Prefix{Text: "any"}
	for name, c := range map[string]struct {
		language string
		prefixes map[string]model.Prefix
		want     *model.Prefix // nil: there is none
	}{
		"no prefixes":                 {"zh-Hant", nil, &model.Prefix{}},
		"that of the language":        {"zh-Hant", map[string]model.Prefix{"zh": bare, model.AnyLanguage: any}, &bare},
		"that of language and script": {"sr-Latn", map[string]model.Prefix{"sr-Latn": own, "sr": bare, model.AnyLanguage: any}, &own},
		"that of all":                 {"sr-Latn", map[string]model.Prefix{"zh": bare, model.AnyLanguage: any}, &any},
		"no such language":            {"sr-Latn", map[string]model.Prefix{"zh": bare}, nil},
		"another script":              {"sr", map[string]model.Prefix{"sr-Latn": own, model.AnyLanguage: any}, &any},
	} {
		got, ok := Options{Prefixes: c.prefixes}.prefix(c.language)
		exported, err := model.Manifest{Prefixes: c.prefixes}.Prefix(c.language)
		if ok != (c.want != nil) || ok != (err == nil) || !reflect.DeepEqual(got, exported) || ok && !reflect.DeepEqual(got, *c.want) {
			t.Errorf("%s: training has %+v (%v) and the manifest %+v, %v", name, got, ok, exported, err)
		}
	}
}

// TestWindowsJoin reads more pairs than one window has.
func TestWindowsJoin(t *testing.T) {
	set := setOf(t, DefaultConfig(), Options{Texts: true}, window+7)
	if set.Len() != window+7 {
		t.Fatalf("%d pairs", set.Len())
	}
	for _, i := range []int{0, window/2 - 1, window / 2, window - 1, window, window + 6} {
		text, _ := set.Texts(i)
		if !strings.HasPrefix(text, fmt.Sprint("a", i)) || len(set.Source(i)) != len(text) {
			t.Errorf("pair %d is %q with %d tokens", i, text, len(set.Source(i)))
		}
	}
}

func TestBatchesAreWellFormed(t *testing.T) {
	for _, mixed := range []bool{true, false} {
		for _, both := range []bool{true, false} {
			c := DefaultConfig()
			c.BatchSize, c.MaxTokens, c.Mixed, c.BothWays, c.Temperature = 16, 40, mixed, both, 2
			set := setOf(t, c, Options{Texts: true}, 300, 40)
			b, swapped := batches(t, set), 0
			for range 200 {
				batch := b.Next()
				if batch.Views[SourceView].N != 16 || batch.Views[TargetView].N != 16 || len(batch.Rows) != 16 || !slices.Contains(c.lengths(), batch.Views[SourceView].Length) {
					t.Fatalf("%+v", batch)
				}
				seen, groups := map[int32]bool{}, map[uint16]bool{}
				for i, row := range batch.Rows {
					if seen[row] {
						t.Fatalf("step %d has pair %d twice", batch.Step, row)
					}
					seen[row] = true
					groups[set.group[row]] = true
					x, y := batch.Views[SourceView], batch.Views[TargetView]
					if set.Languages[x.Languages[i]] == "en" {
						x, y = y, x
						swapped++
					}
					source, target := set.Texts(int(row))
					if x.Texts[i] != source || y.Texts[i] != target || set.Languages[y.Languages[i]] != "en" {
						t.Fatalf("pair %d is %q, %q", row, x.Texts[i], y.Texts[i])
					}
					checkSide(t, x, i, set.Source(int(row)))
					checkSide(t, y, i, set.Target(int(row)))
				}
				if !mixed && len(groups) != 1 {
					t.Fatalf("%d language pairs in one batch", len(groups))
				}
			}
			if share := float64(swapped) / (200 * 16); both && math.Abs(share-0.5) > 0.15 || !both && swapped > 0 {
				t.Errorf("both ways %v: %.2f swapped", both, share)
			}
		}
	}
}

// TestBatchesOfAnyLength: batches have pairs of all lengths, and each pair once in an epoch; without any_length short
// and long ones are apart.
func TestBatchesOfAnyLength(t *testing.T) {
	for _, any := range []bool{true, false} {
		c := DefaultConfig()
		c.BatchSize, c.MaxTokens, c.AnyLength = 16, 64, any
		set := setOf(t, c, Options{}, 320)
		b, mixed, seen := batches(t, set), 0, map[int32]bool{}
		for range 20 {
			batch, short, long := b.Next(), 0, 0
			for _, row := range batch.Rows {
				seen[row] = true
				if n := len(set.Source(int(row))); n <= 8 {
					short++
				} else if n > 48 {
					long++
				}
			}
			if short > 0 && long > 0 {
				mixed++
				if batch.Views[SourceView].Length < 64 {
					t.Errorf("a batch with a long sentence is padded to %d", batch.Views[SourceView].Length)
				}
			}
		}
		if any != (mixed > 3) || len(seen) != 320 {
			t.Errorf("any length %v: %d of 20 batches have short and long sentences, %d pairs were seen", any, mixed, len(seen))
		}
	}
}

func checkSide(t *testing.T, s Side, i int, want []int32) {
	t.Helper()
	row := s.IDs[i*s.Length : (i+1)*s.Length]
	n := int(s.Lengths[i])
	if !slices.Equal(row[:n], want) || slices.ContainsFunc(row[n:], func(id int32) bool { return id != Pad }) {
		t.Fatalf("%v, want %v", row, want)
	}
}

func TestEveryPairIsSeenEquallyOften(t *testing.T) {
	for _, c := range []struct {
		mixed bool
		n     []int
	}{{true, []int{1000}}, {true, []int{33}}, {true, []int{32}}, {true, []int{700, 90}}, {false, []int{700, 90}}} {
		config := DefaultConfig()
		config.BatchSize, config.Mixed = 32, c.mixed
		set := setOf(t, config, Options{}, c.n...)
		b, seen := batches(t, set), make([]int, set.Len())
		const epochs = 12
		for range epochs * set.Len() / 32 {
			for _, row := range b.Next().Rows {
				seen[row]++
			}
		}
		for g, of := range set.Groups {
			least, most := math.MaxInt, 0
			for i, n := range seen {
				if set.Group(i) == g {
					least, most = min(least, n), max(most, n)
				}
			}
			if least == 0 || most-least > 2 {
				t.Errorf("mixed %v, %v: a pair of %s was seen %d times, another %d (%d pairs)", c.mixed, c.n, set.GroupName(g), least, most, of.Pairs)
			}
		}
	}
}

// TestAnEpochHoldsEachPairOnce looks at where the waiting rows make the only difference: what was handed out and what
// waits after n draws.
func TestAnEpochHoldsEachPairOnce(t *testing.T) {
	c := DefaultConfig()
	c.BatchSize = 32
	set := setOf(t, c, Options{}, 1000)
	b := batches(t, set)
	seen := map[int32]int{}
	for range 1000 / 32 { // 31 batches, 8 rows wait
		for _, row := range b.Next().Rows {
			seen[row]++
		}
	}
	for row := range b.order.stacks[0].rows {
		seen[row]++
	}
	if len(seen) != 1000 || b.order.draws != 1000 {
		t.Errorf("%d pairs in %d draws", len(seen), b.order.draws)
	}
	if w := len(b.order.stacks[0].rows); w != 8 {
		t.Errorf("%d rows wait", w)
	}
}

func TestTemperature(t *testing.T) {
	for _, c := range []struct{ temperature, want float64 }{{1, 0.1}, {2, 0.25}, {100, 0.49}} {
		config := DefaultConfig()
		config.BatchSize, config.Temperature = 16, c.temperature
		set := setOf(t, config, Options{}, 1800, 200)
		b, small := batches(t, set), 0
		const steps = 1500
		for range steps {
			for _, row := range b.Next().Rows {
				if set.Group(int(row)) == 1 {
					small++
				}
			}
		}
		if got := float64(small) / (steps * 16); math.Abs(got-c.want) > 0.02 {
			t.Errorf("T = %v: the small pair has a share of %.3f, want %.2f", c.temperature, got, c.want)
		}
	}
}

func TestTheSeedAndTheStepFixTheBatch(t *testing.T) {
	for _, mixed := range []bool{true, false} {
		c := DefaultConfig()
		c.BatchSize, c.Mixed, c.BothWays, c.Seed = 16, mixed, true, 3
		set := setOf(t, c, Options{}, 300, 50)
		b := batches(t, set)
		var all []*Batch
		for range 120 {
			all = append(all, b.Next())
		}
		for _, k := range []int{0, 1, 37, 119, 5} {
			b.Seek(k)
			if b.Step() != k {
				t.Fatalf("at step %d", b.Step())
			}
			for i := k; i < min(k+20, len(all)); i++ {
				if got := b.Next(); !reflect.DeepEqual(got, all[i]) {
					t.Fatalf("step %d after a seek to %d is another batch", i, k)
				}
			}
		}
		set.config.Seed++
		if other := batches(t, set).Next(); reflect.DeepEqual(other.Rows, all[0].Rows) {
			t.Error("another seed gave the same batch")
		}
	}
}

func TestNegatives(t *testing.T) {
	c := DefaultConfig()
	c.BatchSize, c.BothWays = 8, true
	set := setOf(t, c, Options{Texts: true}, 60)
	table := &HardNegatives{PerPair: 2}
	for i := range set.Len() {
		table.Rows = append(table.Rows, int32((i+1)%60), int32((i+59)%60))
	}
	b, err := set.Batches(table)
	if err != nil {
		t.Fatal(err)
	}
	for range 30 {
		batch := b.Next()
		if batch.Views[NegativesView].N != 16 || !slices.Contains(c.lengths(), batch.Views[NegativesView].Length) {
			t.Fatalf("%d negatives of length %d", batch.Views[NegativesView].N, batch.Views[NegativesView].Length)
		}
		for i, row := range batch.Rows {
			for h := range 2 {
				source, target := set.Texts(int(table.Rows[int(row)*2+h]))
				want := target
				if set.Languages[batch.Views[TargetView].Languages[i]] == "de" {
					want = source
				}
				if got := batch.Views[NegativesView].Texts[i*2+h]; got != want || batch.Views[NegativesView].Languages[i*2+h] != batch.Views[TargetView].Languages[i] {
					t.Fatalf("negative %d of pair %d is %q, want %q", h, row, got, want)
				}
			}
		}
	}
	for _, bad := range []*HardNegatives{{PerPair: 2, Rows: table.Rows[:7]}, {PerPair: 1, Rows: slices.Repeat([]int32{60}, 60)}, {}} {
		if _, err := set.Batches(bad); !badinput.Is(err) {
			t.Errorf("%v", err)
		}
	}
}

func TestTooFewPairsForABatch(t *testing.T) {
	c := DefaultConfig()
	c.BatchSize = 64
	if _, err := setOf(t, c, Options{}, 63).Batches(nil); !badinput.Is(err) || !strings.Contains(err.Error(), "only 63 pairs") {
		t.Errorf("%v", err)
	}
	c.Mixed = false
	if _, err := setOf(t, c, Options{}, 100, 63).Batches(nil); !badinput.Is(err) || !strings.Contains(err.Error(), "fr-en has only 63") {
		t.Errorf("%v", err)
	}
}
