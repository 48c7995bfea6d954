package annotate

import (
	"sync"
	"unicode"

	"golang.org/x/text/language"
)

// combined lists the scripts whose code stands for several.
var combined = map[string][]*unicode.RangeTable{
	"Hans": {unicode.Han, unicode.Bopomofo},
	"Hant": {unicode.Han, unicode.Bopomofo},
	"Jpan": {unicode.Han, unicode.Hiragana, unicode.Katakana, prolonged},
	"Kore": {unicode.Hangul, unicode.Han},
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
	var tables []*unicode.RangeTable
	if script, confidence := language.Make(code).Script(); confidence != language.No {
		if tables = combined[script.String()]; tables == nil && byCode[script.String()] != nil {
			tables = []*unicode.RangeTable{byCode[script.String()]}
		}
	}
	scriptCache.Store(code, tables)
	return tables
}
