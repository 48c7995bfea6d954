package score

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"bitextmine/corpus/surface"
	"bitextmine/encode/tokenizer"
)

// byLetters is a tokenizer with a token for every two letters.
type byLetters struct{ Tokenizer }

func (byLetters) IDs(_ context.Context, _ string, texts []string) (tokenizer.Sequences, error) {
	var all tokenizer.Sequences
	for _, text := range texts {
		ids := make([]int32, len(text)/2)
		for i := range ids {
			ids[i] = int32(text[2*i])
		}
		all.Add(ids)
	}
	return all, nil
}

// TestNameList: each name is there once with its tokens, but for words that occur without a capital, too.
func TestNameList(t *testing.T) {
	texts := []string{"Da ist Anna.", "Da war Bert mit Anna.", "Der Name ist Haus!", "ein haus"}
	n := newNameList()
	var of [][]int32
	for _, text := range texts {
		f := surface.Of("de", text)
		of = append(of, n.take(&f))
		if f.Names != nil || f.Lower != nil {
			t.Error("the names hold on to the text")
		}
	}
	texts = n.texts
	ids, err := n.tokenize(t.Context(), byLetters{}, "de")
	if err != nil {
		t.Fatal(err)
	}
	names, lower := n.list(ids)
	var got []string
	for _, list := range of {
		for _, at := range list {
			name, ids := names.Of(at)
			if _, word := slices.BinarySearch(lower, name.Hash); !word {
				got = append(got, fmt.Sprint(texts[at], ids))
			}
		}
		got = append(got, "|")
	}
	want := "Anna[65 110] | Bert[66 114] Anna[65 110] | Name[78 109] | |"
	if got := strings.Join(got, " "); got != want {
		t.Errorf("names are %s, want %s", got, want)
	}
}

// TestNameListInChunks: more names than are tokenised at a time.
func TestNameListInChunks(t *testing.T) {
	for _, count := range []int{0, 1, chunk, chunk + 1, 2*chunk + 3} {
		n := newNameList()
		for i := range count {
			n.take(&surface.Features{Names: []surface.Name{{Text: fmt.Sprintf("%08d", i), Hash: uint32(i)}}, Lower: []uint32{0}})
		}
		ids, err := n.tokenize(t.Context(), byLetters{}, "de")
		if err != nil {
			t.Fatal(err)
		}
		names, _ := n.list(ids)
		for i := range count {
			text := fmt.Sprintf("%08d", i)
			want := []int32{int32(text[0]), int32(text[2]), int32(text[4]), int32(text[6])}
			if name, ids := names.Of(int32(i)); !slices.Equal(ids, want) || name.Hash != uint32(i) {
				t.Fatalf("%d names: name %d is %v with the tokens %v, want %v", count, i, name, ids, want)
			}
		}
	}
}
