package surface

import "slices"

// maxAcronym is the number of letters of the longest words that are taken for acronyms.
const maxAcronym = 5

// Acronym hashes the letters of three to five capitals in the order of the alphabet, because other languages often have
// them in another order: NATO is OTAN, and BIP, the gross domestic product, PIB. ok is false for other words.
func Acronym(word string) (hash uint32, ok bool) {
	if len(word) < minName || len(word) > maxAcronym {
		return 0, false
	}
	letters := []byte(word)
	for _, letter := range letters {
		if letter < 'A' || letter > 'Z' {
			return 0, false
		}
	}
	slices.Sort(letters)
	hash = hashStart
	for _, letter := range letters {
		hash = mix(hash, rune(letter))
	}
	return hash, true
}
