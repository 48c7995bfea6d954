package sentencepiece

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
)

// pieces is a unigram model that is computed here.
type pieces struct {
	spellings []string         // spelling by id
	others    map[string]int32 // pieces that are not looked for in a text, such as <s>
	unigram   *Unigram
	normal    normaliser
	bytes     []int32   // ids of bytes, which unknown text becomes; nil: it becomes the unknown piece
	memory    sync.Pool // pool of *memory
}

// memory holds the working buffers of splitting a text.
type memory struct {
	text []byte
	ways []Way
	ids  []int32
}

// newPieces is nil if the model must be left to the library: if a piece is empty, has a byte 0 or stands twice, if
// there is not one unknown piece, or nothing to look for.
func newPieces(s *specification) *pieces {
	p := &pieces{spellings: s.spellings, others: map[string]int32{}}
	p.memory.New = func() any { return new(memory) }
	searched := slices.Clone(s.spellings)
	unknown, least, greatest := []int32(nil), float32(math.MaxFloat32), float32(minNormal)
	var marked []string // user-defined pieces, found before a text is normalised
	for id, kind := range s.kinds {
		if s.spellings[id] == "" {
			return nil
		}
		switch kind {
		case typeNormal:
			least, greatest = min(least, s.scores[id]), max(greatest, s.scores[id])
			continue
		case typeUserDefined:
			marked = append(marked, s.spellings[id])
			continue
		case typeUnknown:
			unknown = append(unknown, int32(id))
		case typeByte:
			if !s.fallback {
				return nil
			}
		}
		searched[id] = ""
		if _, twice := p.others[s.spellings[id]]; twice {
			return nil
		}
		p.others[s.spellings[id]] = int32(id)
	}
	scores := make([]float64, len(s.scores))
	for id, score := range s.scores {
		scores[id] = float64(score)
		if s.kinds[id] == typeUserDefined { // greater than what any pieces in its place have
			scores[id] = float64(float32(len(s.spellings[id]))*greatest) - 0.1
		}
	}
	var twice bool
	p.unigram, twice = NewUnigram(searched, scores)
	if len(unknown) != 1 || len(p.others) == len(searched) || p.unigram == nil || twice || p.inside(p.unigram.Trie) ||
		math.IsNaN(float64(least+greatest)) {
		return nil
	}
	const below = 10
	p.unigram.Unknown, p.unigram.Single, p.unigram.Penalty = unknown[0], true, float64(least-below)
	if s.fallback && !p.findBytes(s.kinds) || !p.normal.set(s, marked) {
		return nil
	}
	return p
}

// inside reports whether a piece that is not looked for is spelled as one that is.
func (p *pieces) inside(trie *Trie) bool {
	for piece := range p.others {
		if _, ok := trie.Find(piece); ok {
			return true
		}
	}
	return false
}

// findBytes finds the pieces of bytes.
func (p *pieces) findBytes(kinds []byte) bool {
	p.bytes = make([]int32, 256)
	for b := range p.bytes {
		id, ok := p.others[fmt.Sprintf("<0x%02X>", b)]
		if !ok || kinds[id] != typeByte {
			return false
		}
		p.bytes[b] = id
	}
	return true
}

func (p *pieces) id(piece string) (int32, bool) {
	if id, ok := p.others[piece]; ok {
		return id, true
	}
	if id, ok := p.unigram.Find(piece); ok && !strings.Contains(piece, "\x00") {
		return id, true
	}
	return p.unigram.Unknown, false
}

func (p *pieces) encode(texts []string, maxIDs int, yield func(i int, ids []int32)) {
	m := p.memory.Get().(*memory)
	defer p.memory.Put(m)
	for i, text := range texts {
		m.text = p.normal.append(m.text[:0], text)
		m.ways = p.unigram.Best(m.ways, m.text)
		m.ids = p.collect(m.ids[:0], m.ways, m.text)
		yield(i, m.ids[:min(len(m.ids), maxIDs)])
	}
}

// collect appends the ids of the best way. Unknown letters side by side are one piece, or their bytes.
func (p *pieces) collect(ids []int32, ways []Way, text []byte) []int32 {
	unknown := false
	for end := len(text); end > 0; {
		w := ways[end]
		before := unknown
		unknown = w.ID == p.unigram.Unknown
		switch {
		case unknown && p.bytes != nil:
			for at := end - 1; at >= int(w.Begin); at-- {
				ids = append(ids, p.bytes[text[at]])
			}
		case !unknown || !before:
			ids = append(ids, w.ID)
		}
		end = int(w.Begin)
	}
	slices.Reverse(ids)
	return ids
}

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
