package inject

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"bitextmine/bitext/exchange"
	"bitextmine/corpus"
	"bitextmine/encode/embedding"
	"bitextmine/index"
	"bitextmine/index/exact"
	"bitextmine/mine"
	"bitextmine/score"
	"bitextmine/score/feature"
)

// letters is an encoder for which only the words count, not their order: sentences of the same words tie.
type letters struct{}

func (letters) Dim() int { return 32 }

func (letters) Encode(_ context.Context, _ string, texts []string, dst []float32) error {
	for i, text := range texts {
		row := dst[i*32:][:32]
		sum := 0
		var counts [32]int
		for word := range strings.FieldsSeq(text) {
			counts[(int(word[0])*7+int(word[len(word)-1]))%32]++
		}
		for _, n := range counts {
			sum += n * n
		}
		for d, n := range counts {
			row[d] = float32(float64(n) / math.Sqrt(float64(sum)))
		}
	}
	return nil
}

// sentences are n different ones of few words, so that many have the same words in another order.
func sentences(rng *rand.Rand, n int) []string {
	seen := map[string]bool{}
	for len(seen) < n {
		words := make([]string, 3)
		for i := range words {
			words[i] = string(rune('a' + rng.IntN(9)))
		}
		seen[strings.Join(words, " ")] = true
	}
	texts := make([]string, 0, n)
	for text := range seen {
		texts = append(texts, text)
	}
	slices.Sort(texts)
	rng.Shuffle(n, func(i, j int) { texts[i], texts[j] = texts[j], texts[i] })
	return texts
}

func byKey(texts []string) []string {
	texts = slices.Clone(texts)
	slices.SortFunc(texts, func(a, b string) int { return corpus.KeyOf(a).Compare(corpus.KeyOf(b)) })
	return texts
}

func encoded(t testing.TB, texts []string) embedding.Matrix {
	t.Helper()
	rows := make([]float32, len(texts)*32)
	if err := (letters{}).Encode(t.Context(), "", texts, rows); err != nil {
		t.Fatal(err)
	}
	return embedding.Narrow(embedding.FromFloat32(rows, 32))
}

// newHost searches two corpora.
func newHost(t testing.TB, source, target []string) *Host {
	t.Helper()
	searcher, err := exact.Open(exact.Options{Threads: 2})
	if err != nil {
		t.Fatal(err)
	}
	h := &Host{
		Languages: [2]string{"de", "en"}, Texts: [2][]string{source, target}, K: 4, Searcher: searcher, Encoder: letters{}, Threads: 2,
		Vectors: [2]embedding.Matrix{encoded(t, source), encoded(t, target)},
	}
	h.Read = score.Texts(h.Texts).Read
	found, err := searcher.Search(t.Context(), index.Side{Vectors: h.Vectors[0]}, index.Side{Vectors: h.Vectors[1]}, h.K, nil)
	if err != nil {
		t.Fatal(err)
	}
	h.Lists = [2]mine.Neighbours{found.Source, found.Target}
	return h
}

// TestInjectionIsASearchOfAll: the lists are those of a search of all sentences, numbered and ordered as Order says.
func TestInjectionIsASearchOfAll(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	source, target := sentences(rng, 200), sentences(rng, 200)
	var pairs []exchange.Pair
	for i := range 60 {
		pairs = append(pairs, exchange.Pair{Source: source[i], Target: target[i]})
	}
	pairs[7].Target = target[100] // the host has it
	h := newHost(t, byKey(source[60:]), byKey(target[60:]))
	sides := func(i int) Sides { return Sides(i % 3) }
	for order, arrange := range map[Order]func(all []string) []string{ByKey: byKey, Appended: slices.Clone[[]string]} {
		in, err := h.Inject(t.Context(), pairs, order, sides)
		if err != nil {
			t.Fatal(err)
		}
		var all [2][]string
		for side := range all {
			all[side] = arrange(append(slices.Clone(h.Texts[side]), in.texts[side]...))
		}
		whole := newHost(t, all[0], all[1])
		for side, lists := range []mine.Neighbours{in.Lists.Source, in.Lists.Target} {
			if want := whole.Lists[side]; !slices.Equal(lists.IDs, want.IDs) || !slices.Equal(lists.Cosines, want.Cosines) {
				t.Errorf("order %d: the lists of side %d are not those of a search of all", order, side)
			}
		}
		for i, pair := range pairs {
			x, y := slices.Index(all[0], pair.Source), slices.Index(all[1], pair.Target)
			if i != 7 && (x >= 0) != (sides(i) != TargetOnly) || (y >= 0) != (i == 7 || sides(i) != SourceOnly) {
				t.Fatalf("pair %d, sides %d: numbers %d and %d", i, sides(i), x, y)
			}
			if unpaired := x < 0 || y < 0; in.Unpaired(int32(i)) != unpaired || !unpaired && !in.Whole(&mine.Candidate{Source: int32(x), Target: int32(y)}) {
				t.Errorf("order %d: pair %d is not what it is", order, i)
			}
			for side, number := range []int{x, y} {
				if got, ok := in.KnownPair(side, int32(number)); number >= 0 && (!ok || got != int32(i)) {
					t.Errorf("order %d: sentence %d of side %d is of pair %d, not %d", order, number, side, got, i)
				}
			}
		}
		candidates, values, err := in.Problem().Candidates(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		checkFeatures(t, in, whole, candidates, values)
	}
}

// checkFeatures computes the features again from all texts at once.
func checkFeatures(t *testing.T, in *Injection, whole *Host, candidates []mine.Candidate, values feature.Values) {
	t.Helper()
	problem := score.Problem{Languages: whole.Languages, Lists: in.Lists, Read: whole.Read, Threads: 1}
	all, want, err := problem.Candidates(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	at := 0
	for i := range all {
		if _, ok := in.PairOf(&all[i]); !ok {
			continue
		}
		if at >= len(candidates) || candidates[at] != all[i] || !slices.Equal(values.Of(at), want.Of(i)) {
			t.Fatalf("candidate %d is not %+v with its features", at, all[i])
		}
		at++
	}
	if at != len(candidates) || at == 0 {
		t.Errorf("%d candidates, want %d", len(candidates), at)
	}
}

func TestDistinctAndAbsent(t *testing.T) {
	h := &Host{Texts: [2][]string{{"a"}, {"z"}}}
	pairs := []exchange.Pair{{Source: "b", Target: "y"}, {Source: "a", Target: "x"}, {Source: "c", Target: "z"}, {Source: "b", Target: "w"}, {Source: "d", Target: "y"}, {Source: "", Target: "v"}, {Source: "e", Target: "x"}}
	absent := h.Absent(pairs)
	if got, want := fmt.Sprint(absent), "[{b y} {b w} {d y} { v} {e x}]"; got != want {
		t.Errorf("absent %s, want %s", got, want)
	}
	if got, want := fmt.Sprint(Distinct(absent)), "[{b y} {e x}]"; got != want {
		t.Errorf("distinct %s, want %s", got, want)
	}
}

// counted counts the sentences that it encodes.
type counted struct {
	letters
	sentences *int
}

func (c counted) Encode(ctx context.Context, language string, texts []string, dst []float32) error {
	*c.sentences += len(texts)
	return c.letters.Encode(ctx, language, texts, dst)
}

// TestInjectedSentencesAreEncodedOnce: pairs that are injected again, or into a part of the host, have their vectors;
// those beyond maxKept are encoded again. The lists are as of a host that knows none.
func TestInjectedSentencesAreEncodedOnce(t *testing.T) {
	var source, target []string
	var pairs []exchange.Pair
	for i := range maxKept + 300 {
		source, target = append(source, fmt.Sprintf("%d %c", i, 'a'+i%9)), append(target, fmt.Sprintf("%d %c", i, 'b'+i%9))
		if i < maxKept+100 {
			pairs = append(pairs, exchange.Pair{Source: source[i], Target: target[i]})
		}
	}
	all := func(int) Sides { return Both }
	n, h := 0, newHost(t, byKey(source[len(pairs):]), byKey(target[len(pairs):]))
	h.Encoder = counted{sentences: &n}
	part, err := h.Part(t.Context(), 50, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		host  *Host
		pairs int
		more  int // sentences that are encoded
	}{{h, 60, 120}, {h, 80, 40}, {part, 80, 0}, {h, len(pairs), 2*len(pairs) - 160}, {h, len(pairs), 200}} {
		before := n
		in, err := test.host.Inject(t.Context(), pairs[:test.pairs], Appended, all)
		if err != nil {
			t.Fatal(err)
		}
		if n-before != test.more {
			t.Errorf("%d pairs: %d sentences were encoded, want %d", test.pairs, n-before, test.more)
		}
		fresh := *test.host
		fresh.injected, fresh.Encoder = nil, letters{}
		want, err := fresh.Inject(t.Context(), pairs[:test.pairs], Appended, all)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(in.Lists.Source.IDs, want.Lists.Source.IDs) || !slices.Equal(in.Lists.Target.Cosines, want.Lists.Target.Cosines) {
			t.Errorf("%d pairs: the lists differ from those of a host that knows no vectors", test.pairs)
		}
	}
}

// told keeps the sentences that it encodes.
type told struct {
	letters
	texts *[]string
}

func (e told) Encode(ctx context.Context, language string, texts []string, dst []float32) error {
	*e.texts = append(*e.texts, texts...)
	return e.letters.Encode(ctx, language, texts, dst)
}

// TestInjectedSentencesAreCalm: encoders get injected sentences as they get a run's own, those in capitals in lower
// case, whether their vectors are kept or not; so does the strong encoder, of the host's sentences too.
func TestInjectedSentencesAreCalm(t *testing.T) {
	var source, target []string
	var pairs []exchange.Pair
	for i := range maxKept + 20 {
		source, target = append(source, fmt.Sprintf("ÜBER DEN ZEILEN %d", i)), append(target, fmt.Sprintf("ABOVE THE LINES %d", i))
		pairs = append(pairs, exchange.Pair{Source: source[i], Target: target[i]})
	}
	var first, strong []string
	h := newHost(t, byKey(source[maxKept+10:]), byKey(target[maxKept+10:]))
	h.Encoder, h.Strong = told{texts: &first}, &Strong{Encoder: told{texts: &strong}}
	in, err := h.Inject(t.Context(), pairs[:maxKept+10], Appended, func(int) Sides { return Both })
	if err != nil {
		t.Fatal(err)
	}
	candidates := []mine.Candidate{{Source: 0, Target: 0, Score: 1}, {Source: maxKept + 19, Target: maxKept + 19, Score: 1}}
	cosines, err := in.StrongCosines(t.Context(), candidates)
	if err != nil {
		t.Fatal(err)
	}
	if len(first) != 2*(maxKept+10) || len(strong) != 4 || slices.Contains(cosines, mine.NotRefined) {
		t.Errorf("%d and %d sentences were encoded, cosines %v", len(first), len(strong), cosines)
	}
	for _, text := range slices.Concat(first, strong) {
		if text != strings.ToLower(text) {
			t.Fatalf("%q was encoded", text)
		}
	}
}
