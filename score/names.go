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
	texts []string            // [len(All)]
	lower map[uint32]struct{} // hashes of words that occur without a capital
	ids   []int32             // the token ids of all names; Rows are parts of it
}

func newNameList() nameList {
	return nameList{place: map[string]int32{}, lower: map[uint32]struct{}{}}
}

// take moves a sentence's names to the list and returns their places.
func (n *nameList) take(from *surface.Features) []int32 {
	names, lower := from.Names, from.Lower
	from.Names, from.Lower = nil, nil // they hold on to the text
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
			n.texts = append(n.texts, text)
			acronym, _ := surface.Acronym(text)
			n.All = append(n.All, feature.Name{Hash: name.Hash, Stem: name.Stem, Acronym: acronym, Sounds: surface.AppendSounds(nil, text)})
		}
		if !slices.Contains(list, at) {
			list = append(list, at)
		}
	}
	return list
}

// findWords marks what is also a word without a capital: words of headlines, and first words after marks that do not
// end a sentence.
func (n *nameList) findWords() {
	n.Words = make([]bool, len(n.All))
	for at := range n.All {
		_, n.Words[at] = n.lower[n.All[at].Hash]
	}
	n.lower, n.place = nil, nil
}

// tokenize finds the tokens of the names.
func (n *nameList) tokenize(ctx context.Context, tokens Tokenizer, language string) error {
	var texts []string
	for at, word := range n.Words {
		if !word {
			texts = append(texts, n.texts[at])
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
	for at, word := range n.Words {
		if !word {
			n.Rows[at] = n.ids[begin:ends[0]:ends[0]]
			begin, ends = ends[0], ends[1:]
		}
	}
	return nil
}
