package sentencepiece

import "math"

// Unigram has the pieces of a unigram model. It is only read, so any number of goroutines may use it.
type Unigram struct {
	*Trie
	scores  []float64 // score by id
	Unknown int32
	Penalty float64 // score of an unknown letter
	// Single rounds sums to float32, as SentencePiece does: a sum of more digits is compared with rounded ones.
	Single bool
}

// A node has its piece's score, so that a look at it is enough; it has none if no piece ends there, and other if the
// piece's score is not a float32.
var (
	none  = math.Float32frombits(noneBits)
	other = math.Float32frombits(noneBits + 1)
)

const noneBits = 0x7fc00000 // no number

// NewUnigram makes a model of pieces and their scores; a piece's id is its index. NewTrie documents pieces and results.
func NewUnigram(pieces []string, scores []float64) (m *Unigram, twice bool) {
	trie, twice := NewTrie(pieces)
	if trie == nil {
		return nil, twice
	}
	for slot, id := range trie.ids {
		if id < 0 {
			continue
		}
		score := float32(scores[id])
		if float64(score) != scores[id] {
			score = other
		}
		trie.nodes[slot].score = score
	}
	return &Unigram{Trie: trie, scores: scores}, twice
}

// Way is the last piece of the best way to split a beginning of a text.
type Way struct {
	Score float64 // sum of the way's pieces
	Begin int32   // start of the last piece
	ID    int32
}

// letters are the lengths of letters in UTF-8, by the high half of their first byte.
var letters = [16]int{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 3, 4}

// Best returns the best ways to split text[:end], for every end of a letter; ways[len(text)] is the last piece of the
// whole text. Ways that are not on the way to it have no valid ID. It reuses the memory of ways.
func (m *Unigram) Best(ways []Way, text []byte) []Way {
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
	for end := len(text); end > 0; end = int(ways[end].Begin) {
		if w := &ways[end]; w.ID >= 0 {
			w.ID = m.ids[w.ID]
		} else {
			w.ID = m.Unknown
		}
	}
	return ways
}

// search finds the best ways, whose sums are rounded to F. Their IDs are the slots of the pieces, -1 for unknown ones.
func search[F float32 | float64](m *Unigram, ways []Way, text []byte) {
	nodes, start := m.nodes, m.start()
	for begin := 0; begin < len(text); {
		letter := min(letters[text[begin]>>4], len(text)-begin)
		before := ways[begin].Score
		whole := false // a piece is the letter
		n := start
		for end := begin; end < len(text) && n.leads(text[end]); {
			slot := n.base() ^ uint32(text[end])
			if n = nodes[slot]; byte(n.link) != text[end] {
				break
			}
			end++
			score := float64(n.score)
			if n.score != n.score {
				if math.Float32bits(n.score) == noneBits {
					continue
				}
				score = m.scores[m.ids[slot]]
			}
			score += before
			if w := &ways[end]; w.Begin < 0 || score > w.Score {
				*w = Way{float64(F(score)), int32(begin), int32(slot)}
			}
			whole = whole || end-begin == letter
		}
		if !whole {
			score := float64(F(m.Penalty + before))
			if w := &ways[begin+letter]; w.Begin < 0 || score > w.Score {
				*w = Way{score, int32(begin), -1}
			}
		}
		begin += letter
	}
}
