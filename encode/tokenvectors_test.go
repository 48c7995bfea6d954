package encode

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"bitextmine/encode/encodetest"
	"bitextmine/encode/model"
	"bitextmine/fixtures"
	"bitextmine/internal/badinput"
)

func openTokens(t *testing.T, model *model.Model) *TokenEncoder {
	t.Helper()
	e, err := OpenTokens(model, Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return e
}

// TestTokenVectorsSumToSentence checks that a bag's sentence vector has the direction of the sum of its
// tokens' vectors.
func TestTokenVectorsSumToSentence(t *testing.T) {
	model, err := model.Load(encodetest.Bag())
	if err != nil {
		t.Fatal(err)
	}
	e := openTokens(t, model)
	texts := append(sentences(300, 5), "word", strings.Repeat("long ", 400))
	ids, err := e.IDs(context.Background(), "en", texts)
	if err != nil {
		t.Fatal(err)
	}
	want := encodeAll(t, openModel(t, encodetest.Bag(), Options{}), texts)
	vectors, err := e.Vectors(context.Background(), ids.IDs)
	if err != nil {
		t.Fatal(err)
	}
	dim, begin := e.Dim(), 0
	for i, end := range ids.Ends {
		sum, norm := make([]float64, dim), 0.0
		for at := begin; at < end; at++ {
			for d, x := range vectors[at*dim : (at+1)*dim] {
				sum[d] += float64(x)
			}
		}
		begin = end
		for _, x := range sum {
			norm += x * x
		}
		for d, x := range sum {
			if math.Abs(x/math.Sqrt(norm)-float64(want[i*dim+d])) > 1e-5 {
				t.Fatalf("sentence %d: value %d is %v, want %v", i, d, x/math.Sqrt(norm), want[i*dim+d])
			}
		}
	}
}

// TestContextualVectors reads the same output as if it depended on the sentence: every token must have the vector of
// its id.
func TestContextualVectors(t *testing.T) {
	model, err := model.Load(encodetest.Bag())
	if err != nil {
		t.Fatal(err)
	}
	e := openTokens(t, model)
	texts := append(sentences(200, 6), "")
	want, err := e.IDs(context.Background(), "en", texts)
	if err != nil {
		t.Fatal(err)
	}
	table, err := e.Vectors(context.Background(), want.IDs)
	if err != nil {
		t.Fatal(err)
	}
	seen := make([]bool, len(texts))
	err = e.Contextual(context.Background(), "en", texts, func(i int, ids []int32, vectors []float32) error {
		begin := 0
		if i > 0 {
			begin = want.Ends[i-1]
		}
		if !slices.Equal(ids, want.IDs[begin:want.Ends[i]]) || !slices.Equal(vectors, table[begin*e.Dim():want.Ends[i]*e.Dim()]) {
			t.Errorf("sentence %d has other tokens", i)
		}
		seen[i] = true
		return nil
	})
	if err != nil || slices.Contains(seen, false) {
		t.Errorf("error %v, sentences seen: %v", err, seen)
	}
}

// TestTokensWithoutTextPrefix: the tokens of a prefix that is text are not the sentence's, nor are their vectors.
func TestTokensWithoutTextPrefix(t *testing.T) {
	plain, err := model.Load(encodetest.Bag())
	if err != nil {
		t.Fatal(err)
	}
	prefixed := *plain
	prefixed.Prefixes = map[string]model.Prefix{"en": {Text: "query: "}}
	texts := append(sentences(200, 6), "query: a query", ": a colon")
	want, err := openTokens(t, plain).IDs(t.Context(), "en", texts)
	if err != nil {
		t.Fatal(err)
	}
	e := openTokens(t, &prefixed)
	got, err := e.IDs(t.Context(), "en", texts)
	if err != nil || !slices.Equal(got.IDs, want.IDs) || !slices.Equal(got.Ends, want.Ends) {
		t.Errorf("%d ids with a prefix, %d without, error %v", len(got.IDs), len(want.IDs), err)
	}
	of, err := e.Vectors(t.Context(), want.IDs)
	if err != nil {
		t.Fatal(err)
	}
	err = e.Contextual(t.Context(), "en", texts, func(i int, ids []int32, vectors []float32) error {
		if begin := want.Ends[i] - len(want.At(i)); !slices.Equal(ids, want.At(i)) || !slices.Equal(vectors, of[begin*e.Dim():want.Ends[i]*e.Dim()]) {
			t.Errorf("sentence %d has other tokens, or their vectors are others'", i)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// TestTableRows: a static encoder's table gives the same token vectors as its graph, bit for bit.
func TestTableRows(t *testing.T) {
	m, err := model.Load(fixtures.Encoder)
	if err != nil {
		t.Fatal(err)
	}
	e := openTokens(t, m)
	if !e.graph.session.Rows {
		t.Fatal("ONNX Runtime computes them")
	}
	whole := *e.graph.model
	g, err := openGraph(&whole, Options{}.withDefaults(), true)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := g.close(); err != nil {
			t.Error(err)
		}
	}()
	var ids []int32
	for id := 0; id < e.graph.session.Table.Rows(); id += 1 + id/40 {
		ids = append(ids, int32(id))
	}
	got, err := e.Vectors(context.Background(), ids)
	if err != nil {
		t.Fatal(err)
	}
	r := <-g.threads
	defer func() { g.threads <- r }()
	want, err := r.tokens([][]int32{ids})
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("the table has other rows than the graph: %v", err)
	}
	if _, err := e.Vectors(context.Background(), []int32{3, int32(e.graph.session.Table.Rows())}); err == nil {
		t.Error("an id that the table does not have was accepted")
	}
}

// TestVectorsNeedNoTokenizer checks that the tokenizer, which is slow to open, is not opened when the ids are known.
func TestVectorsNeedNoTokenizer(t *testing.T) {
	model, err := model.Load(encodetest.Bag())
	if err != nil {
		t.Fatal(err)
	}
	e := openTokens(t, model)
	if _, err := e.Vectors(context.Background(), []int32{5, 6}); err != nil {
		t.Fatal(err)
	}
	if e.opened.Load() != nil {
		t.Error("vectors of ids opened the tokenizer")
	}
	if _, err := e.IDs(context.Background(), "en", []string{"text"}); err != nil || e.opened.Load() == nil {
		t.Errorf("text did not open the tokenizer: %v", err)
	}
}

func TestOpenTokensRefuses(t *testing.T) {
	m, err := model.Load(encodetest.Bag())
	if err != nil {
		t.Fatal(err)
	}
	for name, tokens := range map[string]model.TokenOutput{
		"no output named":        {},
		"no such tensor":         {Output: "hidden"},
		"a tensor of other rank": {Output: "vectors"},
		"another dim":            {Output: "tokens", Dim: 300},
	} {
		t.Run(name, func(t *testing.T) {
			other := *m
			other.Tokens = tokens
			if _, err := OpenTokens(&other, Options{}); !badinput.Is(err) {
				t.Errorf("error %v is not about the input", err)
			} else {
				t.Log(err)
			}
		})
	}
}

// TestWords: a word's vector is the sum of its tokens' vectors of length 1, also beyond the length that the
// encoder reads; of a word that is longer than that the beginning counts.
func TestWords(t *testing.T) {
	m, err := model.Load(encodetest.Bag())
	if err != nil {
		t.Fatal(err)
	}
	e := openTokens(t, m)
	sentences := [][]string{{"extraordinarily", "Long"}, {"long"}, slices.Repeat([]string{"long"}, 2*m.MaxTokens+3),
		{"long", strings.Repeat("long", m.MaxTokens+3), "long"}}
	ids, err := e.IDs(t.Context(), "en", []string{"extraordinarily", "long"})
	if err != nil || ids.Ends[0] < 2 {
		t.Fatalf("%v: the first word is one token", err)
	}
	table, err := e.Vectors(t.Context(), ids.IDs)
	if err != nil {
		t.Fatal(err)
	}
	dim := e.Dim()
	want := make([]float32, 2*dim)
	for i := range ids.IDs {
		at := 0
		if i >= ids.Ends[0] {
			at = dim
		}
		addUnit(want[at:][:dim], table[i*dim:][:dim])
	}
	seen := 0
	err = e.Words(t.Context(), "en", sentences, func(i int, vectors []float32) error {
		seen++
		expected := want
		switch i {
		case 1:
			expected = want[dim:]
		case 2:
			perWord := ids.Ends[1] - ids.Ends[0]
			if perWord != 1 {
				t.Fatalf("long is %d tokens", perWord)
			}
			expected = slices.Repeat(want[dim:], 2*m.MaxTokens+3)
		case 3:
			if !slices.Equal(vectors[:dim], want[dim:]) || !slices.Equal(vectors[2*dim:], want[dim:]) || slices.Max(vectors[dim:2*dim]) == 0 {
				t.Error("words beside one that is too long have other vectors")
			}
			return nil
		}
		if !slices.Equal(vectors, expected) {
			t.Errorf("sentence %d has other vectors", i)
		}
		return nil
	})
	if err != nil || seen != len(sentences) {
		t.Errorf("%d sentences, %v", seen, err)
	}
}
