package annotate

import (
	"slices"
	"sync"
	"unicode"
	"unicode/utf8"

	bcp47 "golang.org/x/text/language"

	"bitextmine/filter/language"
)

// combined lists the scripts whose code stands for several.
var combined = map[string][]*unicode.RangeTable{
	"Hans": {unicode.Han, unicode.Bopomofo},
	"Hant": {unicode.Han, unicode.Bopomofo},
	"Jpan": {unicode.Han, unicode.Hiragana, unicode.Katakana, prolonged},
	"Kore": {unicode.Hangul, unicode.Han},
	"sr":   {unicode.Cyrillic, unicode.Latin}, "uz": {unicode.Latin, unicode.Cyrillic}, // languages with two usual scripts
}

// prolonged is the mark that lengthens a kana vowel, which Unicode counts to no script.
var prolonged = &unicode.RangeTable{R16: []unicode.Range16{{Lo: 0x30fc, Hi: 0x30fc, Stride: 1}}}

// byCode are the other scripts, by ISO 15924 code.
var byCode = map[string]*unicode.RangeTable{
	"Arab": unicode.Arabic, "Armn": unicode.Armenian, "Beng": unicode.Bengali, "Cyrl": unicode.Cyrillic, "Deva": unicode.Devanagari,
	"Ethi": unicode.Ethiopic, "Geor": unicode.Georgian, "Grek": unicode.Greek, "Gujr": unicode.Gujarati, "Guru": unicode.Gurmukhi,
	"Hebr": unicode.Hebrew, "Khmr": unicode.Khmer, "Knda": unicode.Kannada, "Laoo": unicode.Lao, "Latn": unicode.Latin,
	"Mlym": unicode.Malayalam, "Mong": unicode.Mongolian, "Mymr": unicode.Myanmar, "Orya": unicode.Oriya, "Sinh": unicode.Sinhala,
	"Taml": unicode.Tamil, "Telu": unicode.Telugu, "Tfng": unicode.Tifinagh, "Thaa": unicode.Thaana, "Thai": unicode.Thai, "Tibt": unicode.Tibetan,
}

var scriptCache sync.Map // language -> []*unicode.RangeTable

// scriptsOf returns the scripts that a language is usually written in, or nil if that is not known.
func scriptsOf(code string) []*unicode.RangeTable {
	if code == "" {
		return nil
	}
	if found, ok := scriptCache.Load(code); ok {
		return found.([]*unicode.RangeTable)
	}
	tables := combined[code]
	if script, confidence := bcp47.Make(code).Script(); confidence != bcp47.No && tables == nil {
		if tables = combined[script.String()]; tables == nil && byCode[script.String()] != nil {
			tables = []*unicode.RangeTable{byCode[script.String()]}
		}
	}
	scriptCache.Store(code, tables)
	return tables
}

// characters are shares of kinds of characters.
var characters = []Annotation{
	value("script_src", Float, 0, 1, "share of the width of the source's letters that is in the script of its language; words in another script that the "+
		"target has too, such as names, are left out unless there are no others; null if the language is unknown", func(p *Pair) float64 {
		return ownScript(&p.Source, &p.Target)
	}),
	value("script_tgt", Float, 0, 1, "the same of the target", func(p *Pair) float64 { return ownScript(&p.Target, &p.Source) }),
	value("letter_share", Float, 0, 1, "share of letters with their marks among the characters other than spaces, on the side with fewer", func(p *Pair) float64 {
		return min(p.Source.share(p.Source.letters+p.Source.marks), p.Target.share(p.Target.letters+p.Target.marks))
	}),
	value("digit_share", Float, 0, 1, "share of digits, on the side with more", higher(func(s *Sentence) float64 { return s.share(s.digits) })),
	value("punctuation_share", Float, 0, 1, "share of punctuation, on the side with more", higher(func(s *Sentence) float64 { return s.share(s.punctuation) })),
	value("symbol_share", Float, 0, 1, "share of what is no letter, digit or punctuation, on the side with more",
		higher(func(s *Sentence) float64 { return s.share(s.symbols) })),
	value("punctuation_differs", Float, 0, 1, "difference between both sides' shares of punctuation", func(p *Pair) float64 {
		a, b := p.Source.share(p.Source.punctuation), p.Target.share(p.Target.punctuation)
		return max(a-b, b-a)
	}),
	value("marks_differ", Count, 0, 16, "differences in the counts of eight kinds of punctuation marks, at most two each", func(p *Pair) float64 {
		sum := 0
		for i, n := range p.Source.surface.Marks {
			a, b := int(n), int(p.Target.surface.Marks[i])
			sum += min(2, max(a-b, b-a))
		}
		return float64(sum)
	}),
}

// ownScript is unknown, 0 / 0, if all letters are in links.
func ownScript(s, other *Sentence) float64 {
	switch {
	case s.scripts == nil:
		return unknown
	case s.letters == 0:
		return 1
	}
	width := s.letterWidth
	if s.own > 0 && s.own < width {
		width -= s.sharedForeign(other)
	}
	return float64(s.own) / float64(width)
}

// sharedForeign is the width of the words in scripts other than those of the language that the other side has, too.
func (s *Sentence) sharedForeign(other *Sentence) (width int) {
	for _, t := range s.tokens {
		first, _ := utf8.DecodeRuneInString(s.Text[t.begin:])
		if !t.word || unicode.In(first, s.scripts...) || inLink(s, t) || !slices.ContainsFunc(other.tokens, func(o token) bool { return o.hash == t.hash }) {
			continue
		}
		for _, r := range s.text(t) {
			if unicode.IsLetter(r) && !unicode.In(r, s.scripts...) {
				width += Width(r)
			}
		}
	}
	return width
}

// languages compare what language the sides are in with what they are said to be in.
var languages = []Annotation{
	name("lid_src", "language that the source is identified as; null if it is not identified, as most texts of one or two words are",
		func(p *Pair) string { return p.Source.guess.Code }),
	value("lid_src_p", Float, 0, 1, "share of the source's letters that are in that language", ofSource(identified)),
	name("lid_tgt", "the same of the target", func(p *Pair) string { return p.Target.guess.Code }),
	value("lid_tgt_p", Float, 0, 1, "the same of the target", ofTarget(identified)),
	value("foreign", Count, 0, 2, "sides that are surely in another language than they are said to be (languages.md)", either(func(s *Sentence) int {
		return int(truth(s.identifier != nil && s.identifier.Foreign(s.Text, s.guess)))
	})),
}

func identified(s *Sentence) float64 {
	if s.guess.Code == "" {
		return unknown
	}
	return float64(s.guess.Share)
}

var identifiers sync.Map // language -> *language.Identifier

// identify sets the language of the text.
func (s *Sentence) identify() {
	found, ok := identifiers.Load(s.Language)
	if !ok {
		found, _ = identifiers.LoadOrStore(s.Language, language.For(s.Language))
	}
	s.identifier = found.(*language.Identifier)
	s.guess = s.identifier.Identify(s.Text)
}
