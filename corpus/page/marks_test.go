package page

import (
	"fmt"
	"strings"
	"testing"
)

// TestMarks: what pages say of themselves.
func TestMarks(t *testing.T) {
	group := `<link rel="alternate" hreflang="de" href="https://example.org/de/tram"><link rel="alternate" hreflang="en" href="/en/tram">`
	for name, c := range map[string]struct{ head, column, want string }{
		"the language":        {"", "lang", "en"},
		"a title":             {"<title> A\n tram</title>", "title", "A tram"},
		"GTranslate":          {`<script src="https://cdn.gtranslate.net/widgets/latest/float.js"></script>`, "machine", "gtranslate"},
		"Weglot":              {`<link rel="stylesheet" href="https://cdn.weglot.com/weglot.css">`, "machine", "weglot"},
		"WPML's generator":    {`<meta name="generator" content="WPML ver:4.5.14 stt:1,4">`, "machine", "wpml"},
		"no machine":          {`<meta name="description" content="weglot and gtranslate compared">`, "machine", ""},
		"a link is no mark":   {`<a href="https://weglot.com">Weglot</a>`, "machine", ""},
		"noai":                {`<meta name="robots" content="index, noai">`, "noai", "noai"},
		"a reservation":       {`<meta name="tdm-reservation" content="1">`, "noai", "tdm-reservation"},
		"indexing is allowed": {`<meta name="robots" content="noindex">`, "noai", ""},
		"a generator":         {`<meta name="generator" content="Hugo 0.1">`, "generator", "Hugo 0.1"},
		"translations":        {group, "alternates", "example.org/de/tram"},
	} {
		if p := fromHTML([]byte(pageOf(c.head, article)), "", "https://example.org/en/tram"); p.Columns[c.column] != c.want {
			t.Errorf("%s: %s is %q, want %q", name, c.column, p.Columns[c.column], c.want)
		}
	}
}

// TestAlternates: pages that name each other are of one group, however they write their addresses, and others are not.
func TestAlternates(t *testing.T) {
	links := func(of ...string) (head string) {
		for _, l := range of {
			language, address, _ := strings.Cut(l, " ")
			head += fmt.Sprintf(`<link rel="alternate" hreflang="%s" href="%s">`, language, address)
		}
		return head
	}
	both := links("de https://www.example.org/de/tram", "en https://www.example.org/en/tram")
	const want = "example.org/de/tram"
	for name, c := range map[string]struct{ lang, address, head, want string }{
		"both":                {"en", "https://www.example.org/en/tram", both, want},
		"http":                {"en", "http://www.example.org/en/tram", both, want},
		"no www":              {"de-AT", "https://example.org/de/tram", both, want},
		"a query":             {"de", "https://www.example.org/de/tram?utm=x", both, want},
		"capitals, a slash":   {"de", "https://example.org/de/tram", links("de https://WWW.Example.org/de/tram/", "en /en/tram/"), want},
		"x-default":           {"en", "https://example.org/en/tram", both + links("x-default https://a.example.org/"), want},
		"x-default alone":     {"en", "https://example.org/en/tram", links("x-default https://example.org/"), "example.org"},
		"the other one":       {"de", "https://example.org/de/tram", links("en https://example.org/en/tram"), want},
		"the other, a query":  {"de", "https://example.org/de/tram?x", `<link rel="canonical" href="/de/tram">` + links("en https://example.org/en/tram"), want},
		"another region":      {"en-GB", "https://example.org/a", links("en-US https://example.org/en/tram"), "example.org/a"},
		"no language":         {"", "https://example.org/de/tram", links("en https://example.org/en/tram"), want},
		"no links to another": {"de", "https://example.org/de/tram", "", ""},
	} {
		page := strings.Replace(pageOf(c.head, article), `lang="en"`, `lang="`+c.lang+`"`, 1)
		if p := fromHTML([]byte(page), "", c.address); p.Columns["alternates"] != c.want {
			t.Errorf("%s: %q, want %q", name, p.Columns["alternates"], c.want)
		}
	}
}
