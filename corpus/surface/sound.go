package surface

import (
	"slices"
	"unicode/utf8"
)

// sounds is the number of letters at a name's beginning by which it is compared with its form in other languages.
const sounds = 4

// maxAcronym is the number of letters of the longest words that are taken for acronyms.
const maxAcronym = 5

// latin gives Cyrillic and Greek letters, accents apart, in Latin ones.
var latin = map[rune]string{
	'а': "a", 'б': "b", 'в': "v", 'г': "g", 'ґ': "g", 'д': "d", 'е': "e", 'є': "e", 'ж': "s", 'з': "s", 'и': "i", 'і': "i", 'к': "k", 'л': "l",
	'м': "m", 'н': "n", 'о': "o", 'п': "p", 'р': "r", 'с': "s", 'т': "t", 'у': "u", 'ф': "f", 'х': "k", 'ц': "ts", 'ч': "s", 'ш': "s", 'щ': "s",
	'ы': "i", 'э': "e", 'ю': "iu", 'я': "ia", 'ъ': "", 'ь': "",
	'α': "a", 'β': "v", 'γ': "g", 'δ': "d", 'ε': "e", 'ζ': "s", 'η': "i", 'θ': "t", 'ι': "i", 'κ': "k", 'λ': "l", 'μ': "m", 'ν': "n", 'ξ': "ks",
	'ο': "o", 'π': "p", 'ρ': "r", 'σ': "s", 'ς': "s", 'τ': "t", 'υ': "i", 'φ': "f", 'χ': "k", 'ψ': "ps", 'ω': "o",
}

// soundOf hashes how the first letters of a word sound, roughly: Kanada and Canada, Wien and Vienna, Путин and Putin
// are equal.
func soundOf(word string) uint32 {
	if letters, ok := acronym(word); ok {
		return letters
	}
	hash := uint32(hashStart)
	count := 0
	for i := 0; i < len(word) && count < sounds; {
		_, width := utf8.DecodeRuneInString(word[i:])
		r := Fold(word[i : i+width])
		i += width
		letters, known := latin[r]
		if !known {
			next, _ := utf8.DecodeRuneInString(word[i:])
			letters = sound(r, next)
		}
		for _, letter := range letters {
			hash = mix(hash, letter)
			count++
		}
	}
	return hash
}

// acronym hashes the letters of three to five capitals in the order of the alphabet, because other languages often have
// them in another order: NATO is OTAN, and BIP, the gross domestic product, PIB.
func acronym(word string) (hash uint32, ok bool) {
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
		hash = mix(hash, rune(letter)) // a capital, which no other sound has
	}
	return hash, true
}

// sound is how a Latin letter sounds before the next one. Letters of other scripts are returned as they are.
func sound(r, next rune) string {
	switch r {
	case 'o':
		if next == 'u' {
			return "" // as French writes u
		}
	case 'c':
		if next == 'e' || next == 'i' || next == 'y' {
			return "s"
		}
		return "k"
	case 'q':
		return "k"
	case 'w':
		return "v"
	case 'y', 'j':
		return "i"
	case 'z', 'ß':
		return "s"
	case 'h', '\'', '’':
		return ""
	}
	return string(r)
}
