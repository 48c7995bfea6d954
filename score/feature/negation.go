package feature

import (
	"strings"
	"unicode/utf8"
)

// Negation says whether a sentence has a word that negates.
type Negation uint8

// Unknown is of a language whose negations are not listed.
const (
	Unknown Negation = iota
	Affirmed
	Negated
)

// negations are the words that negate, by language: the common ones that hardly ever mean anything else. Spanish "no"
// and German "kein" are there; French "plus" and "personne" are not, as they mean more, and "ne" never stands without
// one that is there.
var negations = map[string]string{
	"de": "nicht nichts kein keine keinen keinem keiner keines nie niemals niemand niemanden niemandem nirgends nirgendwo weder ohne",
	"en": "not no never none nobody nothing neither nor nowhere without cannot " +
		"isn't aren't wasn't weren't don't doesn't didn't won't wouldn't can't couldn't shouldn't mustn't hasn't haven't hadn't needn't",
	"es": "no nunca jamás nadie nada ningún ninguno ninguna ni sin tampoco",
	"fr": "pas jamais rien aucun aucune sans ni nul nulle",
}

// negatingRunes are those of languages written without spaces.
var negatingRunes = map[string]string{"zh": "不没沒无無未"}

// negationHashes are the words of negations, hashed as addWord does.
var negationHashes = func() map[string]map[uint32]bool {
	all := map[string]map[uint32]bool{}
	for language, words := range negations {
		all[language] = map[uint32]bool{}
		for _, word := range strings.Fields(words) {
			all[language][hashWord(word)] = true
			all[language][hashWord(strings.ReplaceAll(word, "'", "’"))] = true
		}
	}
	return all
}()

// hashWord is addWord's hash of a word.
func hashWord(word string) uint32 {
	hash := uint32(hashStart)
	for i := 0; i < len(word); {
		_, width := utf8.DecodeRuneInString(word[i:])
		hash = mix(hash, fold(word[i:i+width]))
		i += width
	}
	return hash
}
