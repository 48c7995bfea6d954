package score

import (
	"strings"
	"unicode"
)

const (
	// minVariant is the share of a text that its variant has of it, at least.
	minVariant = 0.5
	// minLooked is the probability from which a free sentence may be a near miss.
	minLooked = 0.01
	// variantChunk is how many sentences are read at once: some 20 MB of ordinary ones.
	variantChunk = 64 << 10
)

// TextsOf returns sentences of a side (0 is the source, 1 the target), given by their numbers.
type TextsOf func(side int, numbers []int32) ([]string, error)

// dropVariants forgets free sentences that are variants of the sentence that won: both are translations, where a near
// miss is none. Where numbers say nothing, sentences with other ones are variants.
func (t TextsOf) dropVariants(free [2][]freeSentence, numberless bool) error {
	for side := range free {
		var numbers, winners []int32
		compare := func() error {
			texts, err := t(side, append(numbers, winners...))
			if err != nil {
				return err
			}
			if numberless {
				for i := range texts {
					texts[i] = strings.Map(withoutDigits, texts[i])
				}
			}
			for i, number := range numbers {
				if IsVariant(texts[i], texts[len(numbers)+i]) {
					free[side][number] = freeSentence{}
				}
			}
			numbers, winners = numbers[:0], winners[:0]
			return nil
		}
		for number, of := range free[side] {
			if of.p < minLooked {
				continue
			}
			numbers, winners = append(numbers, int32(number)), append(winners, of.winner)
			if len(numbers) == variantChunk {
				if err := compare(); err != nil {
					return err
				}
			}
		}
		if err := compare(); err != nil {
			return err
		}
	}
	return nil
}

// IsVariant reports whether one of two texts of a language is the other one with something before or after it, as a
// number, "Update:" or dots, or with other punctuation or case.
func IsVariant(a, b string) bool {
	a, b = wordsOf(a), wordsOf(b)
	if len(a) < len(b) {
		a, b = b, a
	}
	return float64(len(b)) >= minVariant*float64(len(a)) && strings.Contains(a, b)
}

// wordsOf returns a text's words in lower case, with a blank before and after each.
func wordsOf(text string) string {
	var words strings.Builder
	words.WriteByte(' ')
	for word := range strings.FieldsFuncSeq(strings.ToLower(text), func(r rune) bool {
		return !unicode.In(r, unicode.Letter, unicode.Mark, unicode.Digit)
	}) {
		words.WriteString(word)
		words.WriteByte(' ')
	}
	return words.String()
}

// withoutDigits is for strings.Map.
func withoutDigits(r rune) rune {
	if unicode.IsDigit(r) {
		return -1
	}
	return r
}
