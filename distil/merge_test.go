package distil

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"bitextmine/corpus"
	"bitextmine/encode/model"
	"bitextmine/encode/sentencepiece"
	"bitextmine/encode/tokenizer"
	"bitextmine/fixtures"
)

// The table is fitted on sentences that Translate cuts, and the student's own tokenizer cuts the text that it encodes:
// the two must agree, but where the tokenizer had two ways of nearly equal probability.
func TestMergesAreCutAsTheTokenizerCutsThem(t *testing.T) {
	file := testPieces(t)
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "spm.model"), file, 0o644); err != nil {
		t.Fatal(err)
	}
	m, err := model.OnlyTokenizer(dir, model.Tokenizer{Kind: "sentencepiece", File: "spm.model"})
	if err != nil {
		t.Fatal(err)
	}
	m.MaxTokens = 1000
	v, err := tokenizer.Open(m)
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	var lines []string
	for _, name := range []string{"text/de.txt", "text/en.txt"} {
		data, err := fixtures.Text.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(data)) {
			_, sentence, _ := strings.Cut(strings.TrimSpace(line), "\t")
			lines = append(lines, sentence)
		}
	}
	text := &Sentences{seen: map[corpus.Key]int{}}
	var own tokenizer.Sequences
	if err := v.Tokenize(&own, model.Prefix{}, slices.Clone(lines)); err != nil {
		t.Fatal(err)
	}
	for i := range lines {
		text.add(own.At(i), 0)
	}
	p, err := ParsePieces(file)
	if err != nil {
		t.Fatal(err)
	}
	keep := slices.Repeat([]bool{true}, len(p.raw))
	const n = 30
	merged := p.merges(text, keep, v, n)
	if len(merged.parts) != n {
		t.Fatalf("%d merges, want %d", len(merged.parts), n)
	}
	pruned := p.Model(keep, merged.pieces...)
	vocabulary, err := NewVocabulary(v.Rows(), keep, v.Number, merged, nil, pruned)
	if err != nil {
		t.Fatal(err)
	}
	cutter, err := sentencepiece.New(pruned)
	if err != nil {
		t.Fatal(err)
	}
	defer cutter.Close()
	uses, differ := make([]int, len(vocabulary.Teacher)), 0
	if err := cutter.Encode(lines, 1000, func(i int, want []int32) {
		got, ok := vocabulary.Translate(own.At(i), nil)
		if !ok || !slices.Equal(got, want) {
			differ++
		}
		for _, id := range want {
			uses[id]++
		}
	}); err != nil {
		t.Fatal(err)
	}
	if differ > len(lines)/100 {
		t.Errorf("%d of %d lines are cut otherwise by the tokenizer", differ, len(lines))
	}
	for i, parts := range merged.parts {
		if got := uses[int(vocabulary.merged)+i]; got < leastUses {
			t.Errorf("the merge of %d pieces %q is used %d times", len(parts), merged.pieces[i].spelling, got)
		}
	}
}

func TestMergesPreferFewPieces(t *testing.T) {
	m := mergesOf([]word{{[]int32{1, 2}, 50}, {[]int32{2, 3}, 900}, {[]int32{3, 4}, 20}, {[]int32{5, 6}, 9}, {[]int32{5, 6, 7}, 5}})
	for _, test := range []struct {
		ids  []int32
		want []span
	}{
		{nil, []span{}},
		{[]int32{2, 1}, []span{{1, -1}, {1, -1}}},
		{[]int32{1, 2, 3}, []span{{1, -1}, {2, 1}}},      // no more pieces, and more frequent ones
		{[]int32{1, 2, 3, 4}, []span{{2, 0}, {2, 2}}},    // fewer pieces
		{[]int32{5, 6, 7, 5, 6}, []span{{3, 4}, {2, 3}}}, // the longest
	} {
		if got := m.cut(test.ids, nil); !slices.Equal(got, test.want) {
			t.Errorf("%v is cut into %v, want %v", test.ids, got, test.want)
		}
	}
}
