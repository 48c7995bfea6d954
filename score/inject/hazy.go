package inject

import (
	"math/rand/v2"
	"slices"
	"strings"

	"bitextmine/bitext/exchange"
)

// haze are the parts of the words that Hazy replaces, by turns. Without the 0 more wrong pairs are kept where nothing
// is translated; with 0, 0, 0.3 and 0.5 fewer translations are found (bench/results/unknown-2026-11-30.md).
var haze = []float64{0, 0.3, 0.5, 0.7}

// minWords is how many words a sentence has, at least, that is taken to separate them by blanks. Of others characters
// are replaced.
const minWords = 4

// Hazy returns pairs as an encoder sees them that hardly knows the language of some sides: part of the words of these
// are other pairs' ones. The pairs are still true ones, so that a scorer learns what translations look like there. The
// same pairs give the same ones.
func Hazy(pairs []exchange.Pair, sides [2]bool) []exchange.Pair {
	rng := rand.New(rand.NewPCG(1, 2))
	hazy := slices.Clone(pairs)
	for side, want := range sides {
		if !want {
			continue
		}
		of := func(p *exchange.Pair) *string { return [2]*string{&p.Source, &p.Target}[side] }
		for i := range hazy {
			text := of(&hazy[i])
			words, blank := parts(*text)
			for w := range words {
				if rng.Float64() >= haze[i%len(haze)] {
					continue
				}
				if other, between := parts(*of(&pairs[rng.IntN(len(pairs))])); between == blank {
					words[w] = other[rng.IntN(len(other))]
				}
			}
			*text = strings.Join(words, blank)
		}
	}
	return hazy
}

// parts are the words of a text or, without blanks, its characters, and what is between them.
func parts(text string) (parts []string, between string) {
	if words := strings.Fields(text); len(words) >= minWords {
		return words, " "
	}
	return strings.Split(text, ""), ""
}
