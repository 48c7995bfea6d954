// This file repairs what bifixer repairs: wrongly decoded characters, entities of HTML, spaces and invisible
// characters, and characters that only look like the right ones.

package annotate

import (
	"html"
	"strings"
	"unicode"

	"bitextmine/corpus"
)

// FixText repairs a text. One that needs no repair is returned as it is.
func FixText(text string) string {
	fixed := RepairMojibake(text)
	for range maxEscaped {
		if !strings.Contains(fixed, "&") {
			break
		}
		fixed = unescape(fixed)
	}
	return corpus.Normalise(lookalikes(fixed))
}

// maxEscaped is how often a text is decoded whose entities were escaped several times (&amp;amp;).
const maxEscaped = 3

// unescape decodes the entities of HTML. An entity of a control character becomes a space.
func unescape(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, html.UnescapeString(text))
}

// latin are Cyrillic and Greek letters that look like Latin ones.
var latin = map[rune]rune{
	'а': 'a', 'е': 'e', 'о': 'o', 'р': 'p', 'с': 'c', 'х': 'x', 'у': 'y', 'і': 'i', 'ј': 'j', 'ѕ': 's',
	'А': 'A', 'В': 'B', 'Е': 'E', 'К': 'K', 'М': 'M', 'Н': 'H', 'О': 'O', 'Р': 'P', 'С': 'C', 'Т': 'T', 'Х': 'X', 'І': 'I', 'Ј': 'J', 'Ѕ': 'S',
	'ο': 'o', 'ν': 'v', 'Α': 'A', 'Β': 'B', 'Ε': 'E', 'Ζ': 'Z', 'Η': 'H', 'Ι': 'I', 'Κ': 'K', 'Μ': 'M', 'Ν': 'N', 'Ο': 'O', 'Ρ': 'P', 'Τ': 'T', 'Χ': 'X',
}

// cyrillic are Latin letters that look like Cyrillic ones.
var cyrillic = func() map[rune]rune {
	m := map[rune]rune{}
	for from, to := range latin {
		if unicode.Is(unicode.Cyrillic, from) {
			m[to] = from
		}
	}
	return m
}()

// lookalikes writes every word in one script: letters of another that only look right become those of the script that
// most of the word's letters are in. Ligatures of Latin letters become two.
func lookalikes(text string) string {
	ascii := true
	for i := range len(text) {
		ascii = ascii && text[i] < 0x80
	}
	if ascii {
		return text
	}
	text = strings.NewReplacer("ﬁ", "fi", "ﬂ", "fl", "ﬀ", "ff", "ﬃ", "ffi", "ﬄ", "ffl").Replace(text)
	var out strings.Builder
	word := func(w string) string {
		inLatin, inOther := 0, 0
		for _, r := range w {
			switch {
			case unicode.Is(unicode.Latin, r):
				inLatin++
			case unicode.In(r, unicode.Cyrillic, unicode.Greek):
				inOther++
			}
		}
		if inLatin == 0 || inOther == 0 || inLatin == inOther {
			return w
		}
		table := latin
		if inOther > inLatin {
			table = cyrillic
		}
		return strings.Map(func(r rune) rune {
			if to, ok := table[r]; ok {
				return to
			}
			return r
		}, w)
	}
	from := -1
	for i, r := range text {
		switch {
		case unicode.IsLetter(r) && from < 0:
			from = i
		case !unicode.IsLetter(r):
			if from >= 0 {
				out.WriteString(word(text[from:i]))
				from = -1
			}
			out.WriteRune(r)
		}
	}
	if from >= 0 {
		out.WriteString(word(text[from:]))
	}
	return out.String()
}
