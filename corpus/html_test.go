package corpus

import (
	"strings"
	"testing"
)

func TestRecord(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text string
		want bool
	}{
		"page":                  {"<!DOCTYPE html> <html lang=de>", true},
		"page without doctype":  {"<HTML> <body>", true},
		"page of XHTML":         {`<?xml version="1.0"?> <!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Strict//EN">`, true},
		"division":              {`<div class="news"><p>It rained.</p></div>`, true},
		"paragraphs":            {"<p>It rained. <p>Then it stopped.</p>", true},
		"heading":               {"<h1>Rain</h1> It rained.", true},
		"comment first":         {"<!-- begin of the text --> <section>It rained.</section>", true},
		"link alone":            {`<a href="/rain">Rain</a>`, true},
		"upper case":            {"<P ALIGN=left>It rained.</P>", true},
		"tags later":            {"Rain<br>It rained.<br/>Then it stopped.<ul><li>sun</li></ul>", true},
		"text":                  {"It rained. 3 < 4 and 5 > 4.", false},
		"empty":                 {"", false},
		"tags in a sentence":    {"<b>Note:</b> press <kbd>Enter</kbd> or <i>Save</i>.", false},
		"about a tag":           {"<p> is the element of a paragraph.", false},
		"about tags":            {"A paragraph begins with <p> and ends with </p>, a list with <ul>.", false},
		"few tags in long text": {strings.Repeat("It rained on all days of that week. ", 20) + "<br><br>", false},
		"placeholder":           {"<name of the file> is missing", false},
		"other markup":          {"<TEI><text>It rained.</text></TEI>", false},
		"end without element":   {"</> It rained </>", false},
		"open tag":              {"<div class=", false},
		"open comment":          {"<!-- It rained", false},
	} {
		if got := HTMLRecord(c.text); got != c.want {
			t.Errorf("%s: %q: %v", name, c.text, got)
		}
	}
}

// TestLines: messages of programs have tags in some lines.
func TestLines(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text string
		want bool
	}{
		"page":          {"\n <!doctype html>\nIt rained.\nIt did not.\nIt rained.\n", true},
		"page of XHTML": {"<?xml version='1.0'?>\n<!DOCTYPE html PUBLIC 'x'>\nIt rained.\nIt did not.\nIt rained.\n", true},
		"other XML":     {"<?xml version='1.0'?>\n<TEI>It rained.</TEI>\n", false},
		"division":      {"<div>\n<p>It rained.</p>\n</div>\n", true},
		"wrapped":       {"<p>It\nrained on\nMonday.</p>\n\n<p>It\nrained.</p>\n", true},
		"later":         {"Rain\n<ul>\n<li>Monday\n<li>Tuesday\n</ul>\n", true},
		"one line":      {`<div id="a">It rained.</div>`, true},
		"long line":     {"<div>" + strings.Repeat("<p>It rained.</p>", 10_000), true},
		"some messages": {"It rained.\n<p>It did not.</p>\nIt rained.\nThen it stopped.\n", false},
		"empty":         {"\n\n", false},
		"within":        {"<b>It</b> rained.\nIt <i>did</i> not.\n<em>It rained.</em>\n", false},
		"about a tag":   {"<p> is the element of a paragraph.\n", false},
	} {
		if got := HTMLLines(strings.Split(c.text, "\n")); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// TestTimeIsLinear: what looks like the beginning of many tags costs no more than its length.
func TestTimeIsLinear(t *testing.T) {
	t.Parallel()
	for _, part := range []string{"<", "<p", "<!--", "<p>", "< <"} {
		if text := strings.Repeat(part, 1<<20/len(part)); HTMLRecord("It rained. " + text) {
			t.Errorf("repeated %q is HTML", part)
		}
	}
}
