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
