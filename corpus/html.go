package corpus

import (
	"path"
	"strings"
)

// around are the elements of HTML that text stands in: true for those that stand around sentences, as <p>, false
// for those that stand within, as <b>, which translators' sentences may have.
var around = elements(`address article aside blockquote body br button caption center dd details div dl dt fieldset figcaption figure
	footer form h1 h2 h3 h4 h5 h6 head header hr html iframe input li link main meta nav noscript ol option p pre script section select
	style summary svg table tbody td template textarea tfoot th thead title tr ul video`,
	"a abbr b bdi big cite code del em font i img ins kbd label mark q s small span strong sub sup tt u var")

func elements(outer, inner string) map[string]bool {
	all := map[string]bool{}
	for name := range strings.FieldsSeq(outer) {
		all[name] = true
	}
	for name := range strings.FieldsSeq(inner) {
		all[name] = false
	}
	return all
}

// tag is a tag, or a comment.
type tag struct {
	size  int  // bytes; 0: not a tag
	block bool // the element encloses sentences
	named bool // it has attributes
	ends  bool // it ends an element, or the element has no content
}

// maxTag is the number of bytes that a tag may have.
const maxTag = 4 << 10

// tagAt is the tag that a text begins with, whose first character is "<".
func tagAt(text string) tag {
	text = text[:min(len(text), maxTag)]
	if strings.HasPrefix(text, "<!--") {
		if end := strings.Index(text, "-->"); end > 0 {
			return tag{size: end + len("-->"), block: true, ends: true}
		}
		return tag{}
	}
	end := strings.IndexAny(text[1:], "<>") + 1
	if end == 0 || text[end] == '<' {
		return tag{}
	}
	inner, closes := strings.CutPrefix(text[1:end], "/")
	inner, empty := strings.CutSuffix(inner, "/")
	fields := strings.Fields(inner)
	if len(fields) == 0 || len(fields) > 1 && !strings.Contains(inner, "=") { // text such as "<a word or two>"
		return tag{}
	}
	name := strings.ToLower(fields[0])
	block, known := around[name]
	if !known {
		return tag{}
	}
	return tag{size: end + 1, block: block, named: len(fields) > 1, ends: closes || empty || name == "br" ||
		name == "hr"}
}

// A text is HTML if at least minEnds of its tags end elements that enclose sentences, and at least one of minPart of
// its bytes belongs to tags.
const (
	minEnds = 2
	minPart = 20
)

// HTMLRecord reports whether a normalised text is HTML, a page or a part of one, and not its text: it begins as pages
// do, or with an element that stands around sentences or has attributes, or much of it is tags. Text that speaks of
// tags, or has some within its sentences, is none.
func HTMLRecord(normal string) bool {
	if beginsPage(normal) {
		return true
	}
	bytes, ends, endsAround := 0, 0, 0
	for at := 0; ; {
		next := strings.IndexByte(normal[at:], '<')
		if next < 0 {
			break
		}
		t := tagAt(normal[at+next:])
		at += next + max(t.size, 1)
		bytes += t.size
		if t.ends {
			ends++
			if t.block {
				endsAround++
			}
		}
	}
	if ends == 0 {
		return false
	}
	first := firstTag(normal)
	return first.block || first.named || endsAround >= minEnds && bytes*minPart >= len(normal)
}

func firstTag(text string) tag {
	if !strings.HasPrefix(text, "<") {
		return tag{}
	}
	return tagAt(text)
}

// lastTag is the tag that a text ends with.
func lastTag(text string) tag {
	at := strings.LastIndexByte(text, '<')
	if at < 0 {
		return tag{}
	}
	if t := tagAt(text[at:]); at+t.size == len(text) {
		return t
	}
	return tag{}
}

// beginsPage reports whether a text begins as whole pages do.
func beginsPage(text string) bool {
	if strings.HasPrefix(text, declaration) {
		_, text, _ = strings.Cut(text, "?>")
		text = strings.TrimSpace(text)
	}
	begin := strings.ToLower(text[:min(len(text), 20)])
	return strings.HasPrefix(begin, "<!doctype html") || strings.HasPrefix(begin, "<html")
}

// declaration begins some XHTML documents.
const declaration = "<?xml"

// minLines is the part of the lines of HTML, one of so many, that begin or end with a tag that stands around sentences.
// Paragraphs may go over several lines. Of messages of programs for translators (YaST among others) a quarter have such
// tags.
const minLines = 3

// HTMLLines reports whether lines of a file are HTML, a page or a part of one.
func HTMLLines(lines []string) bool { return htmlLines(lines, minLines) }

// htmlFile reports whether a file of text is HTML, by its name and its first lines. A page in Markdown may have as many
// tags as its author likes, and text about HTML a line in three.
func htmlFile(name string, lines []string) bool {
	switch path.Ext(formatName(name)) {
	case ".md", ".markdown", ".mdx", ".rst", ".adoc":
		return len(lines) > 0 && beginsPage(strings.TrimSpace(lines[0]))
	}
	return htmlLines(lines, 2)
}

// htmlLines is HTMLLines where more than one of so many lines must begin or end with a tag.
func htmlLines(lines []string, minLines int) bool {
	all, tagged, ends := 0, 0, false
	for _, line := range lines {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, declaration) && !beginsPage(line) {
			continue
		}
		all++
		if all == 1 && beginsPage(line) {
			return true
		}
		last := lastTag(line)
		if last.block || firstTag(line).block {
			tagged++
		}
		ends = ends || last.block && last.ends || HTMLRecord(line)
	}
	return ends && tagged*minLines > all
}
