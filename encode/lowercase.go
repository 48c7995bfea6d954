package encode

import (
	"strings"

	"golang.org/x/text/cases"
	"golang.org/x/text/language"
)

// Lowercase is Unicode's full lower-casing, the one that Python's str.lower applies where the published models were
// trained. strings.ToLower maps letter by letter and so differs at İ (two letters in lower case) and at a final Σ.
func Lowercase(s string) string {
	if strings.ContainsAny(s, "İΣ") {
		return cases.Lower(language.Und).String(s)
	}
	return strings.ToLower(s)
}
