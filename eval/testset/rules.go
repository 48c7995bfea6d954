package testset

import (
	"encoding/binary"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"bitextmine/corpus"
)

// RuleNegativesNote must accompany every report on RuleNegatives.
const RuleNegativesNote = "negatives were made from the targets by this program's rules: not comparable with published xsim++ figures (for those, give the published errtype.json with --negatives)"

// Kinds of RuleNegatives.
const (
	numberEdit    = "Number"
	entityEdit    = "Entity"
	negationEdit  = "Negation"
	causalityEdit = "Causality"
)

const (
	// alternatives is the number of replacements for each number or entity.
	alternatives = 3
	// editsOfKind is the maximum number of negatives of one kind for a sentence, so that long sentences do not dominate
	// the targets.
	editsOfKind = 6
)

// RuleNegatives makes hard English negatives. Each is a sentence with one edit that changes its meaning.
//
//   - Number: a number becomes another of the same form (1,250 -> 3,250; 3.5 -> 8.5; three -> six);
//   - Entity: a capitalised name inside the sentence becomes one of the same length in words from another sentence;
//   - Negation: an auxiliary gets or loses its "not";
//   - Causality: a connective, or a word of change or order, becomes one that turns the relation (because -> although,
//     increased -> decreased, before -> after).
//
// The edits depend only on the sentence and the set. A negative that is itself a target is left out.
func RuleNegatives(targets []string) ([]Negative, error) {
	names := entities(targets)
	taken := make(map[string]bool, len(targets))
	for _, t := range targets {
		taken[t] = true
	}
	var out []Negative
	edited := make(map[string]bool)
	for _, of := range targets {
		if edited[of] {
			continue
		}
		edited[of] = true
		key := corpus.KeyOf(of)
		rng := rand.New(rand.NewPCG(binary.LittleEndian.Uint64(key[:8]), binary.LittleEndian.Uint64(key[8:])))
		for _, kind := range []struct {
			name  string
			edits []string
		}{
			{numberEdit, numberEdits(of, rng)},
			{entityEdit, entityEdits(of, names, rng)},
			{negationEdit, wordEdits(of, negations)},
			{causalityEdit, wordEdits(of, causality)},
		} {
			for _, text := range kind.edits[:min(editsOfKind, len(kind.edits))] {
				if !taken[text] {
					taken[text] = true
					out = append(out, Negative{Text: text, Of: of, Kind: kind.name})
				}
			}
		}
	}
	return out, nil
}

var digits = regexp.MustCompile(`\d+(?:[.,]\d+)*`)

// numberEdits replaces each number, in digits or as a word, by other numbers.
func numberEdits(text string, rng *rand.Rand) []string {
	var out []string
	for _, at := range digits.FindAllStringIndex(text, -1) {
		for range alternatives {
			out = append(out, text[:at[0]]+otherNumber(text[at[0]:at[1]], rng)+text[at[1]:])
		}
	}
	for _, at := range words(text) {
		word := text[at[0]:at[1]]
		if i := slices.Index(numberWords, strings.ToLower(word)); i >= 0 {
			for step := 1; step <= alternatives; step++ {
				out = append(out, text[:at[0]]+likeCase(numberWords[(i+step*3)%len(numberWords)], word)+text[at[1]:])
			}
		}
	}
	return out
}

// otherNumber changes the leading digits of a number. Its length and punctuation stay. A year stays near (1987 ->
// 1974).
func otherNumber(number string, rng *rand.Rand) string {
	if year, err := strconv.Atoi(number); err == nil && year >= 1500 && year < 2100 {
		return strconv.Itoa(year - 2 - rng.IntN(40))
	}
	b := []byte(number)
	for i, c := range b {
		if c < '0' || c > '9' {
			continue
		}
		low := 0
		if i == 0 {
			low = 1 // no leading zero
		}
		other := byte('0' + low + rng.IntN(9-low))
		if other >= c {
			other++
		}
		b[i] = other
		if i > 0 || rng.IntN(2) == 0 {
			break // always change the first digit, sometimes the second too
		}
	}
	return string(b)
}

// entities lists the names inside sentences by their number of words, sorted.
func entities(targets []string) map[int][]string {
	seen := make(map[string]bool)
	out := make(map[int][]string)
	for _, text := range targets {
		for _, at := range names(text) {
			if name := text[at[0]:at[1]]; !seen[name] {
				seen[name] = true
				n := strings.Count(name, " ") + 1
				out[n] = append(out[n], name)
			}
		}
	}
	for n := range out {
		slices.Sort(out[n])
	}
	return out
}

func entityEdits(text string, known map[int][]string, rng *rand.Rand) []string {
	var out []string
	for _, at := range names(text) {
		name := text[at[0]:at[1]]
		others := known[strings.Count(name, " ")+1]
		for range alternatives {
			if other := others[rng.IntN(len(others))]; other != name && !strings.Contains(text, other) {
				out = append(out, text[:at[0]]+other+text[at[1]:])
			}
		}
	}
	return out
}

// names finds runs of capitalised words that are not at the start of the sentence. English capitalises only names
// there.
func names(text string) [][2]int {
	var out [][2]int
	afterStop := true
	for _, at := range words(text) {
		word := text[at[0]:at[1]]
		capital := unicode.IsUpper([]rune(word)[0]) && len(word) > 1
		joined := len(out) > 0 && text[out[len(out)-1][1]:at[0]] == " "
		switch {
		case !capital || afterStop || notNames[word]:
		case joined:
			out[len(out)-1][1] = at[1]
		default:
			out = append(out, at)
		}
		afterStop = at[1] < len(text) && strings.ContainsRune(".!?:\"“", rune(text[at[1]]))
	}
	return out
}

// words returns the positions of the words in a text: letters, with apostrophes and hyphens between them.
func words(text string) [][2]int {
	var out [][2]int
	start := -1
	for i, r := range text {
		inside := unicode.IsLetter(r) || start >= 0 && (r == '\'' || r == '’' || r == '-')
		switch {
		case inside && start < 0:
			start = i
		case !inside && start >= 0:
			out = append(out, [2]int{start, i})
			start = -1
		}
	}
	if start >= 0 {
		out = append(out, [2]int{start, len(text)})
	}
	return out
}

// wordEdits replaces each occurrence of a phrase of the table as whole words.
func wordEdits(text string, table []replacement) []string {
	lower := strings.ToLower(text)
	if len(lower) != len(text) {
		return nil // a letter's lower case has another length, so the positions would not agree
	}
	var out []string
	covered := make([]bool, len(text))
	for _, r := range table {
		for from := 0; ; {
			at := strings.Index(lower[from:], r.from)
			if at < 0 {
				break
			}
			at += from
			end := at + len(r.from)
			from = end
			if covered[at] || !wholeWord(lower, at, end) {
				continue
			}
			for i := at; i < end; i++ {
				covered[i] = true // "was not" does not count as "was" too
			}
			out = append(out, text[:at]+likeCase(r.to, text[at:end])+text[end:])
		}
	}
	return out
}

func wholeWord(text string, at, end int) bool {
	letter := func(i int) bool {
		return i >= 0 && i < len(text) &&
			(text[i] >= 'a' && text[i] <= 'z' || text[i] == '\'' || text[i] == '-' || text[i] >= 0x80)
	}
	return !letter(at-1) && !letter(end)
}

// likeCase capitalises word if model is capitalised.
func likeCase(word, model string) string {
	if r := []rune(model); len(r) > 0 && unicode.IsUpper(r[0]) {
		return strings.ToUpper(word[:1]) + word[1:]
	}
	return word
}

// replacement turns one phrase, in lower case, into another.
type replacement struct{ from, to string }

var numberWords = []string{
	"two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "thirteen", "fifteen",
	"sixteen", "twenty", "thirty", "forty", "fifty", "sixty", "hundred", "thousand", "million", "billion",
}

// notNames are words that English always capitalises although they are not names.
var notNames = map[string]bool{"I": true, "I'm": true, "I've": true, "I'd": true, "I'll": true, "OK": true}

// negations: the longer phrase of a pair is first, so that it is matched before its part.
var negations = []replacement{
	{"is not", "is"}, {"are not", "are"}, {"was not", "was"}, {"were not", "were"}, {"has not", "has"},
	{"have not", "have"}, {"had not", "had"},
	{"will not", "will"}, {"would not", "would"}, {"should not", "should"}, {"could not", "could"},
	{"must not", "must"}, {"may not", "may"},
	{"cannot", "can"}, {"can't", "can"}, {"won't", "will"}, {"isn't", "is"}, {"aren't", "are"}, {"wasn't", "was"},
	{"weren't", "were"}, {"hasn't", "has"},
	{"haven't", "have"}, {"hadn't", "had"}, {"wouldn't", "would"}, {"shouldn't", "should"}, {"couldn't", "could"},
	{"is", "is not"}, {"are", "are not"}, {"was", "was not"}, {"were", "were not"}, {"will", "will not"},
	{"would", "would not"}, {"should", "should not"},
	{"could", "could not"}, {"can", "cannot"}, {"must", "must not"}, {"may", "may not"},
	{"has been", "has not been"}, {"have been", "have not been"}, {"had been", "had not been"},
}

// causality reverses the relation between two parts of a sentence, or the direction of a change.
var causality = []replacement{
	{"because of", "despite"}, {"due to", "despite"}, {"thanks to", "despite"}, {"as a result of", "in spite of"},
	{"despite", "because of"}, {"in spite of", "because of"},
	{"because", "although"}, {"although", "because"}, {"even though", "because"}, {"therefore", "nevertheless"},
	{"however", "therefore"},
	{"so that", "although"}, {"if", "unless"}, {"unless", "if"}, {"before", "after"}, {"after", "before"},
	{"until", "since"}, {"with", "without"}, {"without", "with"},
	{"caused", "prevented"}, {"causes", "prevents"}, {"causing", "preventing"}, {"led to", "prevented"},
	{"leads to", "prevents"}, {"prevented", "caused"}, {"prevents", "causes"},
	{"allowed", "forbade"}, {"allows", "forbids"}, {"allow", "forbid"}, {"helped", "hindered"}, {"helps", "hinders"},
	{"increased", "decreased"}, {"increases", "decreases"}, {"increasing", "decreasing"}, {"increase", "decrease"},
	{"decreased", "increased"}, {"decreases", "increases"}, {"decreasing", "increasing"}, {"decrease", "increase"},
	{"rose", "fell"}, {"fell", "rose"}, {"risen", "fallen"}, {"fallen", "risen"}, {"gained", "lost"}, {"lost", "won"},
	{"won", "lost"},
	{"more", "less"}, {"less", "more"}, {"most", "least"}, {"least", "most"}, {"higher", "lower"}, {"lower", "higher"},
	{"larger", "smaller"}, {"smaller", "larger"},
	{"better", "worse"}, {"worse", "better"}, {"best", "worst"}, {"worst", "best"}, {"first", "last"},
	{"last", "first"}, {"always", "never"}, {"never", "always"},
	{"all", "none of"}, {"many", "few"}, {"few", "many"}, {"accepted", "rejected"}, {"rejected", "accepted"},
	{"opened", "closed"}, {"closed", "opened"},
	{"started", "stopped"}, {"stopped", "started"}, {"began", "ended"}, {"ended", "began"}, {"approved", "rejected"},
	{"confirmed", "denied"}, {"denied", "confirmed"},
}
