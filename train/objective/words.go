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
