package corpus

import "strings"

// Place is where a sentence stands in a record that was divided.
type Place struct {
	Paragraph, Position uint32 // numbers of the paragraph and of the sentence in the record, from 0
	Start, End          uint32 // the sentence in bytes of the record's text
}

// LooksHTML reports whether a normalised text is a page of HTML, not its text.
func LooksHTML(normal string) bool {
	begin := strings.ToLower(normal[:min(len(normal), 20)])
	return strings.HasPrefix(begin, "<!doctype html") || strings.HasPrefix(begin, "<html")
}
