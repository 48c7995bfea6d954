package bead

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"bitextmine/internal/badinput"
)

const dim = 64

// bagOfWords encodes a text as the sum of random vectors of its words, without the letter that marks their language.
func bagOfWords(_ context.Context, texts []string, dst []float32) error {
	for i, text := range texts {
		v := dst[i*dim:][:dim]
		clear(v)
		for word := range strings.FieldsSeq(text) {
			h := fnv.New64a()
			_, _ = h.Write([]byte(word[1:])) // it never fails
			rng := rand.New(rand.NewPCG(h.Sum64(), 0))
			for c := range v {
				v[c] += float32(rng.NormFloat64())
			}
		}
		normalise(v)
	}
	return nil
}

// sentences makes n sentences of 8 words of a language.
func sentences(language string, n int) []string {
	out := make([]string, n)
	for i := range out {
		words := make([]string, 8)
		for w := range words {
			words[w] = fmt.Sprintf("%sword%d", language, 8*i+w)
		}
		out[i] = strings.Join(words, " ")
	}
	return out
}

func side(texts ...string) Side { return Side{Sentences: texts, Dim: dim, Encode: bagOfWords} }

func align(t testing.TB, source, target []string, o Options) *Alignment {
	t.Helper()
	a, err := Align(context.Background(), side(source...), side(target...), o)
	if err != nil {
		t.Fatal(err)
	}
	checkOrder(t, a.Beads, len(source), len(target))
	return a
}

// checkOrder checks that the beads cover each sentence once, in order.
func checkOrder(t testing.TB, beads []Bead, n, m int) {
	t.Helper()
	i, j := 0, 0
	for _, b := range beads {
		if b.Source.First != i || b.Target.First != j || b.Source.Count+b.Target.Count == 0 {
			t.Fatalf("bead %+v after %d and %d sentences", b, i, j)
		}
		i, j = b.Source.End(), b.Target.End()
	}
	if i != n || j != m {
		t.Fatalf("the beads end after %d and %d sentences instead of %d and %d", i, j, n, m)
	}
}

func types(beads []Bead) string {
	var out []string
	for _, b := range beads {
		out = append(out, fmt.Sprintf("%d:%d", b.Source.Count, b.Target.Count))
	}
	return strings.Join(out, " ")
}

func halves(text string) []string {
	words := strings.Fields(text)
	return []string{strings.Join(words[:4], " "), strings.Join(words[4:], " ")}
}

func TestBeads(t *testing.T) {
	t.Parallel()
	a, b := sentences("a", 8), sentences("b", 8)
	for name, test := range map[string]struct {
		source, target []string
		want           string
	}{
		"equal":    {a, b, "1:1 1:1 1:1 1:1 1:1 1:1 1:1 1:1"},
		"split":    {a[:3], append(append([]string{b[0]}, halves(b[1])...), b[2]), "1:1 1:2 1:1"},
		"joined":   {a[:3], []string{b[0], b[1] + " " + b[2]}, "1:1 2:1"},
		"shifted":  {[]string{a[0], a[1] + " " + halves(a[2])[0], halves(a[2])[1], a[3]}, []string{b[0], b[1], b[2], b[3]}, "1:1 2:2 1:1"},
		"deleted":  {a[:4], []string{b[0], b[2], b[3]}, "1:1 1:0 1:1 1:1"},
		"inserted": {append([]string{a[0]}, a[3:]...), b, "1:1 0:1 0:1 1:1 1:1 1:1 1:1 1:1"},
		"six":      {[]string{a[0], strings.Join(a[1:7], " "), a[7]}, b, "1:1 1:6 1:1"},
		"one":      {a[:1], b[:1], "1:1"},
		"no text":  {nil, b[:2], "0:1 0:1"},
	} {
		if got := types(align(t, test.source, test.target, DefaultOptions()).Beads); got != test.want {
			t.Errorf("%s: beads %s, want %s", name, got, test.want)
		}
	}
}

// TestPartOfDocument: where a document has many times the text of the other one, which translates a part of it, that
// part is found: the documents' lengths say nothing of how long a translation is.
func TestPartOfDocument(t *testing.T) {
	t.Parallel()
	const n, first = 20, 60
	a, b := sentences("a", 10*n), sentences("b", 10*n)
	for i := range b { // what encoders see of translations
		b[i] = strings.Join(strings.Fields(b[i])[:6], " ") + " bown" + fmt.Sprint(i) + " bother" + fmt.Sprint(i)
	}
	for _, swapped := range []bool{false, true} {
		source, target := a[first:first+n], b
		if swapped {
			source, target = a, b[first:first+n]
		}
		found := 0
		for _, bead := range align(t, source, target, DefaultOptions()).Beads {
			whole, other := bead.Target, bead.Source
			if swapped {
				whole, other = bead.Source, bead.Target
			}
			if bead.Source.Count == 1 && bead.Target.Count == 1 && whole.First == other.First+first {
				found++
			}
		}
		if found < n-1 {
			t.Errorf("%d of %d sentences are found in a document that is ten times as long (swapped: %v)", found, n, swapped)
		}
	}
}

// TestScore checks a bead's figures against the definition.
func TestScore(t *testing.T) {
	a := align(t, sentences("a", 5), sentences("b", 5), DefaultOptions())
	for _, b := range a.Beads {
		// Of the five samples the equal one is left out.
		if b.Cosine < 0.999 || b.Score() < 0.999 || b.SourceMean < -0.2 || b.SourceMean > 0.2 {
			t.Errorf("%+v has score %v", b, b.Score())
		}
	}
	if got := (Bead{Source: Span{0, 1}, Target: Span{0, 1}, Cosine: 0.6, SourceMean: 0.1, TargetMean: 0.3}).Score(); got < 0.4999 || got > 0.5001 {
		t.Errorf("score %v, want 1 - 0.4/0.8", got)
	}
}

// TestShortDocuments: sentences of which a quarter of the words was left out have about the same scores in documents of
// any length, and two beads of them are found in the shortest.
func TestShortDocuments(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 2, 3, 5, 8, 12, 19, 20, 40} {
		a, b := sentences("a", n), sentences("b", n)
		sum := 0.0
		for i := range b {
			b[i] = strings.Join(strings.Fields(b[i])[:6], " ")
		}
		beads := align(t, a, b, DefaultOptions()).Beads
		for _, bead := range beads {
			if sum += float64(bead.Score()); bead.Score() < 0.7 {
				t.Errorf("of %d sentences one has a score of %.2f", n, bead.Score())
			}
		}
		if len(beads) != n || math.Abs(sum/float64(n)-0.86) > 0.05 {
			t.Errorf("%d sentences: mean score %.2f, beads %s", n, sum/float64(n), types(beads))
		}
	}
	of := &level{n: keepAll, dim: 1, vectors: slices.Repeat([]float32{0.5}, keepAll)}
	of.vectors[3] = 1
	if got := sample(of, 100).cosines([]float32{1})[0]; math.Abs(float64(got)-(0.5+0.5/keepAll)) > 1e-6 {
		t.Errorf("the mean of %d cosines is %v: none is left out", keepAll, got)
	}
}

// TestTrimmed: where deletions cost so much that a sentence without a translation is in a bead, it is taken out again,
// on either side and at either end. A sentence that is part of the translation stays.
func TestTrimmed(t *testing.T) {
	t.Parallel()
	a, b := sentences("a", 8), sentences("b", 8)
	o := DefaultOptions()
	o.Skip = -3
	joined := slices.Concat(b[:4], []string{b[4] + " " + b[5]}, b[6:])
	for name, test := range map[string]struct {
		source, target []string
		want           string
	}{
		"source": {a, slices.Concat(b[:3], b[4:]), "1:1 1:1 1:1 1:0 1:1 1:1 1:1 1:1"},
		"target": {slices.Concat(a[:5], a[6:]), b, "1:1 1:1 1:1 1:1 1:1 0:1 1:1 1:1"},
		"first":  {a, b[1:], "1:0 1:1 1:1 1:1 1:1 1:1 1:1 1:1"},
		"last":   {a[:7], b, "1:1 1:1 1:1 1:1 1:1 1:1 1:1 0:1"},
		"joined": {a, joined, "1:1 1:1 1:1 1:1 2:1 1:1 1:1"},
	} {
		found := align(t, test.source, test.target, o)
		if got := types(found.Beads); got != test.want {
			t.Errorf("%s: beads %s, want %s", name, got, test.want)
		}
		for _, bead := range found.Beads {
			if !bead.Deletion() && bead.Cosine < 0.999 {
				t.Errorf("%s: %+v", name, bead)
			}
		}
	}
}

// TestCommonDirection: vectors that all share a direction, so that random sentences have a cosine of 0.8, give the same
// beads with the same scores. Some encoders have such vectors.
func TestCommonDirection(t *testing.T) {
	t.Parallel()
	const shared = 0.8
	of := func(texts []string) Side {
		return Side{Sentences: texts, Dim: dim + 1, Encode: func(ctx context.Context, texts []string, dst []float32) error {
			plain := make([]float32, len(texts)*dim)
			if err := bagOfWords(ctx, texts, plain); err != nil {
				return err
			}
			for i := range texts {
				v := dst[i*(dim+1):][:dim+1]
				for c, x := range plain[i*dim:][:dim] {
					v[c] = x * float32(math.Sqrt(1-shared))
				}
				v[dim] = float32(math.Sqrt(shared))
			}
			return nil
		}}
	}
	a, b := sentences("a", 300), sentences("b", 300)
	b = slices.Concat(b[:40], halves(b[40]), b[41:100], b[110:])
	plain := align(t, a, b, DefaultOptions())
	got, err := Align(t.Context(), of(a), of(b), DefaultOptions())
	if err != nil || types(got.Beads) != types(plain.Beads) || !strings.Contains(types(got.Beads), "1:2") {
		t.Fatalf("%v, beads %s, want %s", err, types(got.Beads), types(plain.Beads))
	}
	for k, bead := range got.Beads {
		if want := plain.Beads[k].Score(); math.Abs(float64(bead.Score()-want)) > 1e-3 {
			t.Errorf("bead %d has the score %v, want %v", k, bead.Score(), want)
		}
		if !bead.Deletion() && bead.Cosine < shared {
			t.Errorf("bead %d has the cosine %v", k, bead.Cosine)
		}
	}
}

// TestMovedPassage: three sentences stand at the end of the source and at the beginning of the target.
func TestMovedPassage(t *testing.T) {
	t.Parallel()
	a, b := sentences("a", 40), sentences("b", 40)
	moved := append(append([]string{}, b[37:]...), b[:37]...)
	got := align(t, a, moved, DefaultOptions())
	if want := []Span{{37, 3}, {0, 3}}; len(got.Crossings) != 1 || got.Crossings[0].Source != want[0] || got.Crossings[0].Target != want[1] {
		t.Errorf("crossings %+v", got.Crossings)
	}
}

// TestLongDocuments aligns documents that are cut into pieces, with a passage of 300 sentences left out. It must find
// what one piece finds, on one thread or several.
func TestLongDocuments(t *testing.T) {
	t.Parallel()
	a, b := sentences("a", 1500), sentences("b", 1500)
	target := append(append([]string{}, b[:600]...), b[900:]...)
	o := DefaultOptions()
	o.MaxSpan = 3
	o.Piece = 1 << 20
	whole := align(t, a, target, o)
	o.Piece = 200
	pieces := align(t, a, target, o)
	if !reflect.DeepEqual(whole, pieces) {
		t.Error("documents in pieces have other beads")
	}
	one := 0
	for _, b := range whole.Beads {
		if b.Source.Count == 1 && b.Target.Count == 1 && b.Cosine > 0.999 {
			one++
		}
	}
	if one != 1200 {
		t.Errorf("%d sentences of 1200 are aligned", one)
	}
}

// TestOppositeGaps: 30 sentences are missing in the target, and soon after 30 others in the source. What is between
// them must be found.
func TestOppositeGaps(t *testing.T) {
	t.Parallel()
	a, b := sentences("a", 120), sentences("b", 120)
	source := append(append([]string{}, a[:75]...), a[105:]...)
	target := append(append([]string{}, b[:40]...), b[70:]...)
	found := 0
	for _, bead := range align(t, source, target, DefaultOptions()).Beads {
		if bead.Source.Count == 1 && bead.Target.Count == 1 && bead.Cosine > 0.999 {
			found++
		}
	}
	if found != 60 {
		t.Errorf("%d sentences of 60 are aligned", found)
	}
}

func TestRefusals(t *testing.T) {
	for name, o := range map[string]Options{
		"max-span":       {MaxSpan: 11, Band: 5, Samples: 5, Piece: 5},
		"band":           {MaxSpan: 5, Samples: 5, Piece: 5},
		"samples":        {MaxSpan: 5, Band: 5, Piece: 5},
		"skip is NaN":    {MaxSpan: 5, Band: 5, Samples: 5, Piece: 5, Skip: math.NaN()},
		"skip is +Inf":   {MaxSpan: 5, Band: 5, Samples: 5, Piece: 5, Skip: math.Inf(1)},
		"skip is -Inf":   {MaxSpan: 5, Band: 5, Samples: 5, Piece: 5, Skip: math.Inf(-1)},
		"skip is -1e+39": {MaxSpan: 5, Band: 5, Samples: 5, Piece: 5, Skip: -1e39},
	} {
		if err := o.Validate(); !badinput.Is(err) || !strings.Contains(err.Error(), name) {
			t.Fatalf("%s: %v", name, err) // such an alignment may not end
		}
		if _, err := Align(t.Context(), side("a"), side("b"), o); !badinput.Is(err) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	broken := errors.New("broken")
	s := side("a")
	s.Encode = func(context.Context, []string, []float32) error { return broken }
	if _, err := Align(t.Context(), s, side("b"), DefaultOptions()); !errors.Is(err, broken) {
		t.Errorf("an encoder's error: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Align(ctx, side(sentences("a", 3)...), side(sentences("b", 3)...), DefaultOptions()); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled alignment: %v", err)
	}
}

// BenchmarkAlign measures everything but the encoder: vectors are copied.
func BenchmarkAlign(b *testing.B) {
	for _, n := range []int{1000, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			rng := rand.New(rand.NewPCG(1, 2))
			stock := make([]float32, 4096*512)
			for i := range stock {
				stock[i] = float32(rng.NormFloat64()) / 22.6
			}
			copied := func(_ context.Context, texts []string, dst []float32) error {
				for i := range texts {
					copy(dst[i*512:][:512], stock[i%4096*512:])
				}
				return nil
			}
			s := Side{Sentences: make([]string, n), Dim: 512, Encode: copied}
			for i := range s.Sentences {
				s.Sentences[i] = "A sentence of the document, which has a usual length of some 100 characters, more or less."
			}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Align(context.Background(), s, s, DefaultOptions()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
