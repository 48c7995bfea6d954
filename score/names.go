package score

import (
	"context"
	"slices"
	"strings"

	"bitextmine/corpus/surface"
	"bitextmine/score/feature"
)

// nameList collects the names of a side's sentences, each once.
type nameList struct {
	feature.NameList
	place map[string]int32    // in All
	lower map[uint32]struct{} // hashes of words that occur without a capital
	ids   []int32             // the token ids of all names; Rows are parts of it
}

func newNameList(sentences int) nameList {
	return nameList{NameList: feature.NameList{Of: make([][]int32, sentences)}, place: map[string]int32{}, lower: map[uint32]struct{}{}}
}

// take moves a sentence's names to the list.
func (n *nameList) take(sentence int32, from *surface.Features) {
	names, lower := from.Names, from.Lower
	from.Names, from.Lower = nil, nil // they hold on to the text
	if n.place == nil {
		return
	}
	for _, word := range lower {
		n.lower[word] = struct{}{}
	}
	list := make([]int32, 0, len(names))
	for _, name := range names {
		at, known := n.place[name.Text]
		if !known {
			at = int32(len(n.All))
			text := strings.Clone(name.Text)
			n.place[text] = at
			name.Text = text
			n.All = append(n.All, name)
		}
		if !slices.Contains(list, at) {
			list = append(list, at)
		}
	}
	n.Of[sentence] = list
}

// removeWords removes what is also a word without a capital: words of headlines, and first words after marks that do
// not end a sentence. It returns which names are left.
func (n *nameList) removeWords() []bool {
	left := make([]bool, len(n.All))
	for at := range n.All {
		_, word := n.lower[n.All[at].Hash]
		left[at] = !word
	}
	for sentence, list := range n.Of {
		n.Of[sentence] = slices.DeleteFunc(list, func(at int32) bool { return !left[at] })
	}
	n.lower, n.place = nil, nil
	return left
}

// tokenize finds the tokens of the names.
func (n *nameList) tokenize(ctx context.Context, tokens Tokenizer, language string) error {
	left := n.removeWords()
	var texts []string
	for at, is := range left {
		if is {
			texts = append(texts, n.All[at].Text)
		}
	}
	ends := make([]int, 0, len(texts))
	for part := range slices.Chunk(texts, chunk) {
		found, err := tokens.IDs(ctx, language, part)
		if err != nil {
			return err
		}
		begin := len(n.ids)
		n.ids = append(n.ids, found.IDs...)
		for _, end := range found.Ends {
			ends = append(ends, begin+end)
		}
	}
	n.Rows = make([][]int32, len(n.All))
	begin := 0
	for at, is := range left {
		if is {
			n.Rows[at] = n.ids[begin:ends[0]:ends[0]]
			begin, ends = ends[0], ends[1:]
		}
	}
	return nil
}
