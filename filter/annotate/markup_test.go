package annotate

import (
	"regexp"
	"testing"
)

// searched is the result of searching for markupForms.
var searched = regexp.MustCompile(markupForms)

// FuzzMarkup: trying the pattern where mark-up may begin finds as much as searching for it everywhere.
func FuzzMarkup(f *testing.F) {
	for _, text := range []string{
		"", "plain text, don't touch it - or this/that", "<b>bold</b> <br/> 1 < 2 > 0", "<!-- hidden -->", "fish &amp; chips &#8212; R&D;", "[[link]] {{template}}",
		"'''bold''' ''italic''", "[url=x]y[/url]", "%s of %d, 100%, %1$s", "${name} {0} {x}", `class="x" =\"`, "+++ *** === == ||", "](x) a || b", "<a href='x'", "/>", "}", "-->",
		"ünïcode <ü> %sé", "&\xff;", "{{{1}}}", "====", "''''",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if got, want := countMarkup(text), len(searched.FindAllStringIndex(text, -1)); got != want {
			t.Errorf("%q has %d pieces of mark-up, searching finds %d", text, got, want)
		}
	})
}
