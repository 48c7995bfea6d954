package sentencepiece

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// words makes n distinct strings of letters of one to three bytes, and of all bytes but 0 if wild.
func words(rng *rand.Rand, n int, wild bool) []string {
	seen := map[string]bool{}
	var all []string
	for len(all) < n {
		var b strings.Builder
		for range 1 + rng.IntN(6) {
			if wild {
				b.WriteByte(byte(1 + rng.IntN(255)))
			} else {
				b.WriteRune([]rune("abcdeäß▁的一国")[rng.IntN(11)])
			}
		}
		if !seen[b.String()] {
			seen[b.String()] = true
			all = append(all, b.String())
		}
	}
	return all
}

func TestTrie(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, n := range []int{1, 2, 50, 20_000} {
		for _, wild := range []bool{false, true} {
			if wild && n == 1 {
				continue
			}
			pieces := words(rng, n, wild)
			trie, twice := NewTrie(pieces)
			if trie == nil || twice {
				t.Fatalf("%d pieces: %v, twice: %v", n, trie, twice)
			}
			ids := map[string]int32{}
			for id, piece := range pieces {
				ids[piece] = int32(id)
			}
			for _, text := range append(words(rng, 2000, wild), pieces[:min(n, 2000)]...) {
				want, known := ids[text]
				if got, ok := trie.Find(text); ok != known || known && got != want {
					t.Fatalf("%q: id %d, %v; want %d, %v", text, got, ok, want, known)
				}
				longest := 0
				for end := range len(text) + 1 {
					if _, ok := ids[text[:end]]; ok {
						longest = end
					}
				}
				if got := trie.Longest(text); got != longest {
					t.Fatalf("%q: the longest piece has %d bytes, want %d", text, got, longest)
				}
			}
			if slots := 2*len(strings.Join(pieces, "")) + 20*block; len(trie.nodes) > slots {
				t.Errorf("%d pieces take %d slots, more than %d", n, len(trie.nodes), slots)
			}
		}
	}
}

func TestTrieOfFew(t *testing.T) {
	for name, c := range map[string]struct {
		pieces []string
		none   bool
		twice  bool
	}{
		"nothing":     {},
		"empty":       {pieces: []string{"", ""}},
		"twice":       {pieces: []string{"a", "ab", "a"}, twice: true},
		"a zero byte": {pieces: []string{"a", "a\x00"}, none: true},
	} {
		trie, twice := NewTrie(c.pieces)
		if trie == nil != c.none || twice != c.twice {
			t.Errorf("%s: %v, twice: %v", name, trie, twice)
		}
		if trie == nil {
			continue
		}
		for _, text := range []string{"", "\x00", "\xff", "a\x00", "b"} {
			if id, ok := trie.Find(text); ok {
				t.Errorf("%s: %q is piece %d", name, text, id)
			}
		}
		if id, _ := trie.Find("a"); c.twice && id != 2 {
			t.Errorf("%s: of equal pieces %d counts, not the last", name, id)
		}
	}
}

// TestBest compares with the best of all ways to split short texts.
func TestBest(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	pieces := words(rng, 300, false)
	scores := make([]float64, len(pieces))
	for id := range scores {
		if scores[id] = -rng.Float64() * 10; id%2 == 0 {
			scores[id] = float64(float32(scores[id]))
		}
	}
	m, _ := NewUnigram(pieces, scores)
	m.Unknown, m.Penalty = int32(len(pieces)), -20
	var ways []Way
	for _, text := range words(rng, 3000, false) {
		ways = m.Best(ways, []byte(text))
		want := best(m, text, map[string]float64{"": 0})
		if got := ways[len(text)].Score; got-want > 1e-9 || want-got > 1e-9 {
			t.Fatalf("%q: %g, want %g", text, got, want)
		}
		var parts []string
		for end := len(text); end > 0; end = int(ways[end].Begin) {
			parts = append(parts, text[ways[end].Begin:end])
			if id := ways[end].ID; id != m.Unknown && pieces[id] != parts[len(parts)-1] {
				t.Fatalf("%q: %q is called %q", text, parts[len(parts)-1], pieces[id])
			}
		}
		if slices.Reverse(parts); strings.Join(parts, "") != text {
			t.Fatalf("%q is split into %q", text, parts)
		}
	}
}

func best(m *Unigram, text string, known map[string]float64) float64 {
	if score, ok := known[text]; ok {
		return score
	}
	score := m.Penalty * 1e6
	for i, letter := range text {
		end := i + len(string(letter))
		if id, ok := m.Find(text[:end]); ok {
			score = max(score, m.scores[id]+best(m, text[end:], known))
		} else if i == 0 {
			score = max(score, m.Penalty+best(m, text[end:], known))
		}
	}
	known[text] = score
	return score
}

// FuzzTrie: a trie has its pieces and no others.
func FuzzTrie(f *testing.F) {
	f.Add("a b ab abc", "ab")
	f.Fuzz(func(t *testing.T, list, text string) {
		pieces := strings.Split(list, " ")
		trie, _ := NewTrie(pieces)
		if trie == nil {
			if !strings.Contains(list, "\x00") {
				t.Error("no trie")
			}
			return
		}
		if _, ok := trie.Find(text); ok != (text != "" && slices.Contains(pieces, text)) {
			t.Errorf("%q in %q: %v", text, pieces, ok)
		}
		m, _ := NewUnigram(pieces, make([]float64, len(pieces)))
		m.Unknown, m.Penalty = int32(len(pieces)), -1
		for end, ways := len(text), m.Best(nil, []byte(text)); end > 0; {
			if begin := int(ways[end].Begin); begin < 0 || begin >= end {
				t.Fatalf("%q: a piece from %d to %d", text, begin, end)
			}
			end = int(ways[end].Begin)
		}
	})
}
