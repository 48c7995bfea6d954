package corpus

import (
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/language"

	"bitextmine/internal/badinput"
)

// ParseLanguage returns the program's name for a language, given any of its usual codes: ISO 639-1 (de), ISO 639-2 and
// 639-3 (ger, deu), FLORES (deu_Latn), BCP 47 (de-AT). The name is the shortest BCP 47 tag:
//
//   - the language, in two letters if it has a two-letter code. A code for the usual member of a macrolanguage becomes
//     the macrolanguage (cmn is zh, arb is ar, pes is fa, lvs is lv). A retired code becomes its successor (iw is he).
//   - the script, unless it is the one that the language is usually written in (de, zh, zh-Hant, ar-Latn, sr-Latn). If
//     no usual script is known, the given script stays.
//   - no region. A region only decides the script if it implies one (zh-TW is zh-Hant).
//
// A code that names no language is a badinput error.
func ParseLanguage(code string) (string, error) {
	unknown := badinput.Errorf(
		"language %q: not a known code; use ISO 639-1, ISO 639-3 or FLORES, such as de, deu or deu_Latn", code)
	// BCP 47 reads a second part of three letters as an extended language, so that deu_Lat, misspelt, would be Latin.
	parts := strings.FieldsFunc(code, func(r rune) bool { return r == '-' || r == '_' })
	if len(parts) > 1 && len(parts[1]) == 3 && !unicode.IsDigit(rune(parts[1][0])) {
		return "", unknown
	}
	tag, err := language.All.Parse(code)
	if err != nil {
		return "", unknown
	}
	base, confidence := tag.Base()
	if confidence != language.Exact {
		return "", unknown // undetermined: x/text would guess a language
	}
	switch base.ISO3() {
	case "mul", "mis", "zxx", "und", "":
		return "", badinput.Errorf(
			"language %q: the code does not stand for a single language; use the code of the corpus's language", code)
	}
	script, confidence := tag.Script()
	usual, _ := language.Make(base.String()).Script()
	if confidence == language.No || script == usual || script == language.MustParseScript("Zzzz") {
		return base.String(), nil
	}
	return base.String() + "-" + script.String(), nil
}

// Lists says whether a language is among those of a list of codes, scripts aside. A list that is empty says nothing of
// any language, so that each is taken to be there.
func Lists(codes []string, language string) bool {
	base := func(code string) string {
		if canonical, err := ParseLanguage(code); err == nil {
			code = canonical
		}
		code, _, _ = strings.Cut(code, "-")
		return code
	}
	language = base(language)
	return len(codes) == 0 || slices.ContainsFunc(codes, func(code string) bool { return base(code) == language })
}
