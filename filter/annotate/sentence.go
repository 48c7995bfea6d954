package annotate

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"bitextmine/corpus"
	"bitextmine/corpus/surface"
	"bitextmine/filter/language"
)

// Sentence is one side of a pair with what all annotations need of it.
type Sentence struct {
	Text     string // normalised
	Language string
	raw      string // text before normalisation
	lower    string // Text in lower case

	runes, spaces        int
	letters, digits      int
	marks                int // vowel signs, accents and other parts of the letters before them
	punctuation, symbols int
	upper, cased         int // capitals; letters of a script that has them
	own, letterWidth     int // width of the letters in the scripts of the language, of all letters
	width                int // comparable between scripts
	tokens               []token
	numbers              []surface.Number
	numerals             int // numbers written in Han characters, and Roman ones
	urls, emails         []string
	linked               int // bytes of URLs and addresses
	surface              surface.Features
	separators           int                   // marks between spaces, as in menus
	markup               int                   // tags, entities, placeholders
	scripts              []*unicode.RangeTable // scripts of the language; nil if unknown
	firstLetter          rune
	identifier           *language.Identifier
	guess                language.Guess
}

// token is a word, or a character of a script that is written without spaces.
type token struct {
	hash       uint32
	begin, end int // bytes in Text
	runes      int
	word       bool // a word of a script with spaces
	capital    bool
}

func (s *Sentence) text(t token) string { return s.Text[t.begin:t.end] }

// read sets every field.
func (s *Sentence) read(text, language string) {
	*s = Sentence{
		Text: corpus.Normalise(text), raw: text, Language: language, tokens: s.tokens[:0], numbers: s.numbers[:0], urls: s.urls[:0], emails: s.emails[:0],
		scripts: scriptsOf(language),
	}
	s.lower = strings.ToLower(s.Text)
	s.count()
	s.markup = countMarkup(s.Text)
	s.findLinks()
	if s.linked > 0 {
		countScripts(s)
	}
	s.findTokens()
	s.findNumbers()
	s.identify()
	s.surface = surface.Of(language, s.Text)
}

// count counts characters by class.
func (s *Sentence) count() {
	before, pending := ' ', false // pending: before is a separator after a space
	var quoted quotation
	letter := false // the last character is a letter with its marks
	for _, r := range s.Text {
		s.runes++
		if pending && r == ' ' {
			s.separators++
		}
		pending, before = !quoted.closes(r) && before == ' ' && isSeparator(r), r
		mark := letter && unicode.Is(unicode.M, r)
		letter = mark
		switch {
		case mark:
			s.marks++
		case r == ' ':
			s.spaces++
			continue
		case r < utf8.RuneSelf && (r|0x20 >= 'a' && r|0x20 <= 'z') || r >= utf8.RuneSelf && unicode.IsLetter(r):
			s.letter(r)
			letter = true
		case surface.IsDigit(r):
			s.digits++
		case unicode.IsPunct(r):
			s.punctuation++
		case unicode.Is(unicode.M, r): // part of a letter
		default:
			s.symbols++
		}
		s.width += Width(r)
	}
	if pending {
		s.separators++
	}
}

func (s *Sentence) letter(r rune) {
	s.letters++
	if s.firstLetter == 0 {
		s.firstLetter = r
	}
	switch {
	case r >= 'Ⴀ' && unicode.In(r, unicode.Georgian, unicode.Cherokee): // text has one case, whatever Unicode calls it
	case unicode.IsUpper(r):
		s.upper++
		s.cased++
	case unicode.IsLower(r):
		s.cased++
	}
	addScript(s, r)
}

// addScript counts a letter by its script.
func addScript(s *Sentence, r rune) {
	width := Width(r)
	s.letterWidth += width
	if s.scripts != nil && unicode.In(r, s.scripts...) {
		s.own += width
	}
}

// countScripts counts the letters of scripts again, those outside of links alone.
func countScripts(s *Sentence) {
	s.own, s.letterWidth = 0, 0
	for _, r := range s.lower {
		if unicode.IsLetter(r) {
			addScript(s, r)
		}
	}
}

// share is a part of the characters other than spaces.
func (s *Sentence) share(part int) float64 { return float64(part) / float64(max(1, s.runes-s.spaces)) }

// findTokens divides the text into words, and scripts without spaces into characters. Numbers are no tokens.
func (s *Sentence) findTokens() {
	for i := 0; i < len(s.Text); {
		r, width := utf8.DecodeRuneInString(s.Text[i:])
		switch {
		case surface.IsWordLetter(r):
			w := surface.WordAt(s.Text[i:])
			s.tokens = append(s.tokens, token{hash: w.Hash, begin: i, end: i + w.Bytes, runes: w.Runes, word: true, capital: w.Capital})
			width = w.Bytes
		case r >= utf8.RuneSelf && unicode.IsLetter(r):
			t := token{hash: uint32(r), begin: i, end: i + width, runes: 1}
			for t.end < len(s.Text) { // vowel signs tell letters apart
				mark, size := utf8.DecodeRuneInString(s.Text[t.end:])
				if mark < utf8.RuneSelf || !unicode.Is(unicode.M, mark) {
					break
				}
				t.hash, t.end = t.hash*31+uint32(mark), t.end+size
			}
			s.tokens, width = append(s.tokens, t), t.end-i
		}
		i += width
	}
}

// endings compare how sentences begin and end, and whether they negate.
var endings = []Annotation{
	value("end_differs", Count, 0, 2, "2 if the sides end in marks of different kinds (a statement, a question, an exclamation, an open end), 1 if only one of "+
		"them ends in a mark, 0 otherwise", endDiffers),
	value("case_differs", Count, 0, 2, "2 if one side is all capitals and the other is not, 1 if one begins with a small letter and the other with a capital; "+
		"null where a script has no case", caseDiffers),
	value("negation_differs", Count, 0, 1, "1 if just one side has a word that negates; null where a language's words are not listed", func(p *Pair) float64 {
		a, b := p.Source.surface.Negation, p.Target.surface.Negation
		if a == surface.Unknown || b == surface.Unknown {
			return unknown
		}
		return truth(a != b)
	}),
}

// endKind is the kind of mark that a sentence ends in.
type endKind uint8

const (
	endNone endKind = iota
	endStatement
	endQuestion
	endExclamation
	endOpen // a colon, a semicolon, a comma, a dash, dots
)

// closing are the marks that may stand after the mark at the end.
const closing = "\"'”“„»«’‘)]}）」』】》 "

func (s *Sentence) end() endKind {
	text := strings.TrimRight(s.Text, closing)
	if strings.HasSuffix(text, "...") || strings.HasSuffix(text, "…") {
		return endOpen
	}
	if s.Language == "ja" && strings.HasSuffix(strings.TrimRight(text, "。"), "か") {
		return endQuestion
	}
	for _, kind := range []struct {
		marks string
		kind  endKind
	}{{".。．।॥۔။።។։།", endStatement}, {"?？؟፧", endQuestion}, {"!！", endExclamation}, {":：;；,，、،؛—–-", endOpen}} {
		if last, _ := utf8.DecodeLastRuneInString(text); strings.ContainsRune(kind.marks, last) {
			switch {
			case s.Language == "el" && last == ';':
				return endQuestion // the Greek question mark
			case s.Language == "hy" && last == ':':
				return endStatement // the Armenian full stop, typed
			}
			return kind.kind
		}
	}
	return endNone
}

// unmarked are the languages whose sentences usually end without a mark.
var unmarked = map[string]bool{"th": true, "lo": true}

func endDiffers(p *Pair) float64 {
	a, b := p.Source.end(), p.Target.end()
	switch {
	case a == b, unmarked[p.Source.Language], unmarked[p.Target.Language]:
		return 0
	case a == endNone || b == endNone:
		return 1
	}
	return 2
}

// minCapitals is how many letters a side must have to be said to be all capitals: fewer are an abbreviation.
const minCapitals = 8

func caseDiffers(p *Pair) float64 {
	a, b := &p.Source, &p.Target
	if a.cased == 0 || b.cased == 0 {
		return unknown
	}
	allA, allB := a.upper == a.cased, b.upper == b.cased
	if allA != allB && min(a.cased, b.cased) >= minCapitals {
		return 2
	}
	return truth(unicode.IsUpper(a.firstLetter) && unicode.IsLower(b.firstLetter) || unicode.IsLower(a.firstLetter) && unicode.IsUpper(b.firstLetter))
}
