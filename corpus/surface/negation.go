package surface

import "strings"

// Negation says whether a sentence has a negation word.
type Negation uint8

// Unknown is the value for a language without a list of negation words.
const (
	Unknown Negation = iota
	Affirmed
	Negated
)

// negations lists common negation words by language that hardly ever mean anything else. Spanish "no" and German "kein"
// are included. French "plus" and "personne" are not, because they have other meanings; "ne" is not, because it always
// comes with a listed word.
var negations = map[string]string{
	"de": "nicht nichts kein keine keinen keinem keiner keines nie niemals niemand niemanden niemandem nirgends nirgendwo weder ohne",
	"en": "not no never none nobody nothing neither nor nowhere without cannot " +
		"isn't aren't wasn't weren't don't doesn't didn't won't wouldn't can't couldn't shouldn't mustn't hasn't haven't hadn't needn't",
	"es": "no nunca jamás nadie nada ningún ninguno ninguna ni sin tampoco",
	"fr": "pas jamais rien aucun aucune sans ni nul nulle",
}

// negatingRunes lists the negation characters of languages that are written without spaces.
var negatingRunes = map[string]string{"zh": "不没沒无無未"}

// negationHashes holds the words of negations, hashed as WordAt does.
var negationHashes = func() map[string]map[uint32]bool {
	all := map[string]map[uint32]bool{}
	for language, words := range negations {
		all[language] = map[uint32]bool{}
		for _, word := range strings.Fields(words) {
			all[language][WordAt(word).Hash] = true
			all[language][WordAt(strings.ReplaceAll(word, "'", "’")).Hash] = true
		}
	}
	return all
}()
