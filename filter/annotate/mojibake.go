package annotate

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"bitextmine/corpus"
	"bitextmine/corpus/surface"
)

// cp1252 are the characters that Windows-1252 has for the bytes 0x80 to 0x9F; 0 where it has none, for which programs
// leave the control character of that number.
var cp1252 = [32]rune{
	'€', 0, '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', 0, 'Ž', 0,
	0, '‘', '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', 0, 'ž', 'Ÿ',
}

var bytesOf = func() map[rune]byte {
	m := map[rune]byte{}
	for i, r := range cp1252 {
		if r != 0 {
			m[r] = byte(0x80 + i)
		}
	}
	return m
}()

// byteOf is the byte that was read as a character, if it is above ASCII.
func byteOf(r rune) (byte, bool) {
	if 0x80 <= r && r <= 0xff {
		return byte(r), true
	}
	b, ok := bytesOf[r]
	return b, ok
}

// sequence decodes the character at the start of text from the bytes that its characters were read from. It returns its
// length in text, 0 if what stands there is not such a sequence, and the sequence's characters.
func sequence(text string) (r rune, length int, characters [utf8.UTFMax]rune, n int) {
	var encoded [utf8.UTFMax]byte
	for i, c := range text {
		b, ok := byteOf(c)
		if !ok || n == 0 && (b < 0xc2 || b > 0xf4) || n == utf8.UTFMax {
			return 0, 0, characters, 0
		}
		encoded[n], characters[n] = b, c
		n++
		if utf8.FullRune(encoded[:n]) {
			r, width := utf8.DecodeRune(encoded[:n])
			if r == utf8.RuneError || width != n {
				return 0, 0, characters, 0
			}
			return r, i + utf8.RuneLen(c), characters, n
		}
	}
	return 0, 0, characters, 0
}

const (
	// leads are the characters that begin the sequences of letters of Latin, Greek, Cyrillic, Hebrew and Arabic. Others
	// (É, ß, Ü) are more often right.
	leads = "ÂÃÄÅÆÎÏÐÑÒ×ØÙÚÛ"
	// typographic are marks that stand rightly after a letter.
	typographic = "‘’“”„‚…–—«»›‹™†‡•"
)

// wrong is sequence for what was wrongly decoded, and not for what may stand in text rightly (CAFÉ”, Spaß…, passé…»).
// before says that a wrong sequence ends where text begins; such ones stand together.
func wrong(text string, capital, before bool) (r rune, length int) {
	r, length, characters, n := sequence(text)
	if n == 0 {
		return 0, 0
	}
	var sure bool
	switch lead, second := characters[0], characters[1]; n {
	case 2:
		if !strings.ContainsRune(leads, lead) {
			return 0, 0
		}
		sure = !strings.ContainsRune(typographic, second) || (lead == 'Ã' || lead == 'Â') && !capital
	case 3:
		sure = lead == 'â' && (second == '€' || second == '‚' || second == '„')
	default:
		sure = lead == 'ð' && second == 'Ÿ'
	}
	if sure || before {
		return r, length
	}
	if _, _, _, next := sequence(text[length:]); next > 0 {
		return r, length
	}
	return 0, 0
}

// each calls found for every character that was wrongly decoded, with its place in text and what it should be.
func each(text string, found func(begin, end int, r rune)) {
	capital, before := false, false
	for i := 0; i < len(text); {
		if text[i] < utf8.RuneSelf {
			capital, before = 'A' <= text[i] && text[i] <= 'Z', false
			i++
			continue
		}
		if r, length := wrong(text[i:], capital, before); length > 0 {
			found(i, i+length, r)
			capital, before = false, true
			i += length
			continue
		}
		r, width := utf8.DecodeRuneInString(text[i:])
		capital, before = unicode.IsUpper(r), false
		i += width
	}
}

// CountMojibake returns the number of characters that were wrongly decoded, and of replacement characters.
func CountMojibake(text string) int {
	count := strings.Count(text, "\uFFFD")
	each(text, func(int, int, rune) { count++ })
	return count
}

// maxTimes is how often a text is repaired that was wrongly decoded several times.
const maxTimes = 3

// RepairMojibake decodes UTF-8 that was read as Windows-1252 or Latin-1 on its way ("Ã¼" for "ü", "â€™" for "’"), also
// twice. A replacement character stays, since what it replaced is lost.
func RepairMojibake(text string) string {
	for range maxTimes {
		var out strings.Builder
		from := 0
		each(text, func(begin, end int, r rune) {
			out.WriteString(text[from:begin])
			out.WriteRune(r)
			from = end
		})
		if from == 0 {
			break
		}
		out.WriteString(text[from:])
		text = out.String()
	}
	return text
}

// FixText repairs what bifixer repairs: wrongly decoded characters, entities of HTML, spaces and invisible characters,
// and characters that only look like the right ones. A text that needs no repair is returned as it is.
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
	}, surface.DecodeEntities(text))
}

// latin are Cyrillic and Greek letters that look like Latin ones.
var latin = map[rune]rune{
	'а': 'a', 'е': 'e', 'о': 'o', 'р': 'p', 'с': 'c', 'х': 'x', 'у': 'y', 'і': 'i', 'ј': 'j', 'ѕ': 's',
	'А': 'A', 'В': 'B', 'Е': 'E', 'К': 'K', 'М': 'M', 'Н': 'H', 'О': 'O', 'Р': 'P', 'С': 'C', 'Т': 'T', 'Х': 'X', 'І': 'I', 'Ј': 'J', 'Ѕ': 'S',
	'ο': 'o', 'ν': 'v', 'Α': 'A', 'Β': 'B', 'Ε': 'E', 'Ζ': 'Z', 'Η': 'H', 'Ι': 'I', 'Κ': 'K', 'Μ': 'M', 'Ν': 'N', 'Ο': 'O', 'Ρ': 'P', 'Τ': 'T', 'Χ': 'X',
}

// cyrillic and greek are Latin letters that look like Cyrillic and Greek ones.
var cyrillic, greek = likeLatin(unicode.Cyrillic), likeLatin(unicode.Greek)

func likeLatin(script *unicode.RangeTable) map[rune]rune {
	m := map[rune]rune{}
	for from, to := range latin {
		if unicode.Is(script, from) {
			m[to] = from
		}
	}
	return m
}

// lookalikes writes every word in one script: letters of another that only look right become those of the script that
// most of the word's letters are in. A word in all three scripts stays, and one whose other letters do not all look so:
// it is of two words (webсайт, SMSом). Ligatures of Latin letters become two.
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
	from := -1
	for i, r := range text {
		switch {
		case unicode.IsLetter(r) && from < 0:
			from = i
		case !unicode.IsLetter(r):
			if from >= 0 {
				out.WriteString(inOneScript(text[from:i]))
				from = -1
			}
			out.WriteRune(r)
		}
	}
	if from >= 0 {
		out.WriteString(inOneScript(text[from:]))
	}
	return out.String()
}

// inOneScript is a word as lookalikes writes it.
func inOneScript(w string) string {
	inLatin, inCyrillic, inGreek := 0, 0, 0
	for _, r := range w {
		switch {
		case unicode.Is(unicode.Latin, r):
			inLatin++
		case unicode.Is(unicode.Cyrillic, r):
			inCyrillic++
		case unicode.Is(unicode.Greek, r):
			inGreek++
		}
	}
	inOther, table := inCyrillic+inGreek, latin
	if inLatin == 0 || inOther == 0 || inLatin == inOther || inCyrillic > 0 && inGreek > 0 {
		return w
	}
	switch {
	case inCyrillic > inLatin:
		table = cyrillic
	case inGreek > inLatin:
		table = greek
	}
	other := 0
	fixed := strings.Map(func(r rune) rune {
		if to, ok := table[r]; ok {
			other++
			return to
		}
		return r
	}, w)
	if other < min(inLatin, inOther) {
		return w
	}
	return fixed
}
