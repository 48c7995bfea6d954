package objective

// Words tells which tokens are words.
type Words []bool // [vocabulary]: false for special tokens

// Words are all tokens of the vocabulary that are not special.
func (t Training) Words() Words {
	words := make(Words, t.Vocabulary)
	for id := range words {
		words[id] = true
	}
	for _, id := range t.Special {
		words[id] = false
	}
	return words
}

// Has reports whether a token is a word. A token that is not in the vocabulary is none.
func (w Words) Has(id int32) bool { return id >= 0 && int(id) < len(w) && w[id] }

// Places are the places of a sentence's words, in order.
func (w Words) Places(sentence []int32) (places []int) {
	for p, id := range sentence {
		if w.Has(id) {
			places = append(places, p)
		}
	}
	return places
}

// grains is into how many parts RoundUp divides.
const grains = 16

// RoundUp is the number of rows, at least 1, of an input that has count rows in use and could have most: count, rounded
// up to a sixteenth of most. A graph is compiled for each number of rows.
func RoundUp(count, most int) int {
	grain := max(1, most/grains)
	return (max(1, count) + grain - 1) / grain * grain
}
