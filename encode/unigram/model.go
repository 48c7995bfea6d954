// Package unigram splits text into the pieces of a unigram model (Kudo, 2018): those with the greatest sum of scores.
// It is what tokenizers of SentencePiece models and of tokenizer.json have in common.
package unigram

// Model has the pieces of a unigram model. It is only read, so any number of goroutines may use it.
type Model struct {
	Trie    *Trie
	Scores  []float64 // by id
	Unknown int32
	Penalty float64 // score of an unknown letter
	// Single rounds sums to float32, as SentencePiece does: a sum of more digits is compared with rounded ones.
	Single bool
}

// Way is the last piece of the best way to split a beginning of a text.
type Way struct {
	Score float64 // sum of the way's pieces
	Begin int32   // of the last piece
	ID    int32
}

// letters are the lengths of letters in UTF-8, by the high half of their first byte.
var letters = [16]int{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 3, 4}

// Best returns the best ways to split text[:end], for every end of a letter; ways[len(text)] is the last piece of the
// whole text. It reuses the memory of ways.
func (m *Model) Best(ways []Way, text []byte) []Way {
	if cap(ways) <= len(text) {
		ways = make([]Way, len(text)+1, 2*len(text)+64)
	}
	ways = ways[:len(text)+1]
	for i := range ways {
		ways[i] = Way{Begin: -1}
	}
	if m.Single {
		search[float32](m, ways, text)
	} else {
		search[float64](m, ways, text)
	}
	return ways
}

// search finds the best ways, whose sums are rounded to F.
func search[F float32 | float64](m *Model, ways []Way, text []byte) {
	nodes, scores, root := m.Trie.nodes, m.Scores, m.Trie.root
	for begin := 0; begin < len(text); {
		letter := min(letters[text[begin]>>4], len(text)-begin)
		before := ways[begin].Score
		whole := false // a piece is the letter
		base, children := root, uint32(all)
		for end := begin; end < len(text); {
			c := text[end]
			if !leads(children, c) {
				break
			}
			n := nodes[base^uint32(c)]
			if byte(n.link) != c {
				break
			}
			end++
			if id := n.id(); id >= 0 {
				score := scores[id] + before
				if w := &ways[end]; w.Begin < 0 || score > w.Score {
					*w = Way{float64(F(score)), int32(begin), id}
				}
				whole = whole || end-begin == letter
			}
			base, children = n.link>>8, n.piece>>24
		}
		if !whole {
			score := float64(F(m.Penalty + before))
			if w := &ways[begin+letter]; w.Begin < 0 || score > w.Score {
				*w = Way{score, int32(begin), m.Unknown}
			}
		}
		begin += letter
	}
}
