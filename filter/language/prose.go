package language

import (
	"regexp"
	"strings"

	"bitextmine/corpus/surface"
)

// code is text between grave accents, with the role that reStructuredText gives it.
var code = regexp.MustCompile("(?::[a-zA-Z-]+:)?`+[^`]+`+")

// prose is a text without what is in no language: addresses, names with @ or #, code and HTML's tags.
func prose(text string) string {
	if !strings.ContainsAny(text, "@#`<&/") && !strings.Contains(text, "www.") {
		return text
	}
	text = surface.WithoutMarkup(text)
	if strings.Contains(text, "`") {
		text = code.ReplaceAllString(text, " ")
	}
	var rest strings.Builder
	for word := range strings.FieldsSeq(text) {
		if strings.ContainsAny(word, "@#") || strings.Contains(word, "://") || strings.Contains(word, "www.") {
			continue
		}
		if rest.Len() > 0 {
			rest.WriteByte(' ')
		}
		rest.WriteString(word)
	}
	return rest.String()
}
