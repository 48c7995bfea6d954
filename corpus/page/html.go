package page

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/markusmobius/go-trafilatura"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// maxTags is how many tags a page may have: finding its main text takes time that grows faster than their number.
const maxTags = 200_000

// fromHTML reads a page of HTML. contentType is the server's, address the page's; both may be empty.
func fromHTML(data []byte, contentType, address string) *Page {
	p := &Page{URL: address}
	text, name, ok := decode(data, contentType)
	if !ok {
		p.Skip, p.Detail = NotUTF8, "its characters are in no encoding that it names or that is known"
		return p
	}
	guard(p, func() error {
		var err error
		if strings.HasPrefix(strings.TrimSpace(text), "<?xml") {
			text = withEnds(text)
		}
		if p.Columns, err = marks(text, address); err != nil {
			return err
		}
		p.Columns["charset"] = name
		tree, err := html.Parse(strings.NewReader(text))
		if err != nil {
			return err
		}
		p.Text = mainText(tree, address)
		return nil
	})
	if p.Skip == "" && p.Text == "" {
		p.Skip, p.Detail = Empty, "a page without text of its own"
	}
	return p
}

var (
	emptyElement = regexp.MustCompile(`<([A-Za-z][\w:.-]*)(?:\s[^<>]*)?/>`)
	// void are elements that have no end in HTML either.
	void = []atom.Atom{atom.Area, atom.Base, atom.Br, atom.Col, atom.Embed, atom.Frame, atom.Hr, atom.Img, atom.Input, atom.Keygen, atom.Link,
		atom.Meta, atom.Param, atom.Source, atom.Track, atom.Wbr}
)

// withEnds is XHTML as a parser of HTML reads it: an empty element with an end of its own. <title/> is there a title
// that the rest of the page belongs to, and <script/> a program.
func withEnds(text string) string {
	return emptyElement.ReplaceAllStringFunc(text, func(tag string) string {
		name := tag[1:strings.IndexAny(tag, " \t\r\n/")]
		if slices.Contains(void, atom.Lookup([]byte(strings.ToLower(name)))) {
			return tag
		}
		return strings.TrimSuffix(tag, "/>") + "></" + name + ">"
	})
}

// mainText is the text of a page without what stands around it; empty if there is none.
func mainText(tree *html.Node, address string) string {
	o := trafilatura.Options{EnableFallback: true, ExcludeComments: true, HtmlDateMode: trafilatura.Disabled}
	if u, err := url.Parse(address); err == nil && address != "" {
		o.OriginalURL = u
	}
	found, err := trafilatura.ExtractDocument(tree, o)
	if err != nil || found == nil || found.ContentNode == nil {
		return "" // its error says that there is no text
	}
	onlyOnce(found.ContentNode, tree)
	text := paragraphs(found.ContentNode)
	if last := text[strings.LastIndex(text, "\n")+1:]; last == strings.Join(strings.Fields(found.ContentText), " ") {
		return divided(tree, last)
	}
	return text
}

// onlyOnce removes the blocks of a page's main text that stand in it more often than in the page: of an article of one
// block within another go-trafilatura takes both.
func onlyOnce(content, tree *html.Node) {
	have, whole := map[string]int{}, ""
	for block := content.FirstChild; block != nil; {
		next := block.NextSibling
		text := withoutSpaces(paragraphs(block))
		if have[text]++; text != "" && have[text] > 1 {
			if whole == "" {
				whole = withoutSpaces(paragraphs(tree))
			}
			if have[text] > strings.Count(whole, text) {
				content.RemoveChild(block)
			}
		}
		block = next
	}
}

// divided gives a text of one paragraph the paragraphs of its article or page: of a page of a few words go-trafilatura
// joins them, without so much as a space, and puts the title before them.
func divided(tree *html.Node, text string) string {
	for _, name := range []atom.Atom{atom.Article, atom.Body} {
		for n := range tree.Descendants() {
			if n.DataAtom != name {
				continue
			}
			whole := paragraphs(n)
			before, ok := strings.CutSuffix(withoutSpaces(text), withoutSpaces(whole))
			if ok && whole != "" && (before == "" || name == atom.Body) {
				return whole
			}
			break
		}
	}
	return text
}

func withoutSpaces(text string) string { return strings.Join(strings.Fields(text), "") }

// inline are elements within a sentence: all others begin and end a paragraph.
var inline = []atom.Atom{atom.A, atom.Abbr, atom.Acronym, atom.B, atom.Bdi, atom.Bdo, atom.Big, atom.Cite, atom.Code, atom.Data, atom.Del, atom.Dfn,
	atom.Em, atom.Font, atom.I, atom.Ins, atom.Kbd, atom.Label, atom.Mark, atom.Q, atom.Rp, atom.Rt, atom.Ruby, atom.S, atom.Samp, atom.Small,
	atom.Span, atom.Strike, atom.Strong, atom.Sub, atom.Sup, atom.Time, atom.Tt, atom.U, atom.Var, atom.Wbr}

// unread are elements whose content is no text of a page.
var unread = []atom.Atom{atom.Script, atom.Style, atom.Noscript, atom.Template, atom.Head, atom.Svg, atom.Math, atom.Iframe, atom.Object, atom.Nav}

// lines collects paragraphs.
type lines struct {
	out  strings.Builder
	line strings.Builder
}

func (l *lines) end() {
	text := strings.Join(strings.Fields(l.line.String()), " ")
	l.line.Reset()
	if text == "" {
		return
	}
	if l.out.Len() > 0 {
		l.out.WriteByte('\n')
	}
	l.out.WriteString(text)
}

// paragraphs is the text under a node, a line for each block. Lines of preformatted text stay lines.
func paragraphs(n *html.Node) string {
	l := &lines{}
	l.add(n, false)
	l.end()
	return l.out.String()
}

func (l *lines) add(n *html.Node, pre bool) {
	switch n.Type {
	case html.TextNode:
		if !pre {
			l.line.WriteString(n.Data)
			return
		}
		for line := range strings.Lines(n.Data) {
			l.line.WriteString(line)
			if strings.HasSuffix(line, "\n") {
				l.end()
			}
		}
		return
	case html.ElementNode:
		if slices.Contains(unread, n.DataAtom) {
			return
		}
	}
	block := n.Type == html.ElementNode && !slices.Contains(inline, n.DataAtom)
	if block {
		l.end()
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		l.add(c, pre || n.DataAtom == atom.Pre)
	}
	if block {
		l.end()
	}
}

// translators lists marks that translating programs leave in pages, with the programs' names. Order decides.
var translators = []struct{ mark, name string }{
	{"gtranslate", "gtranslate"}, {"translated-ltr", "google"}, {"translated-rtl", "google"}, {"google_translate_element", "google"},
	{"translate.google", "google"}, {"weglot", "weglot"}, {"wpml", "wpml"}, {"linguise", "linguise"}, {"conveythis", "conveythis"},
	{"translatepress", "translatepress"}, {"trp-language", "translatepress"}, {"bablic", "bablic"}, {"autoglot", "autoglot"},
}

// marks reads what a page says of itself from its tags.
func marks(text, address string) (map[string]string, error) {
	m := marker{columns: map[string]string{}, base: address}
	z := html.NewTokenizer(strings.NewReader(text))
	z.SetMaxBuf(MaxBytes)
	for n := 0; ; {
		switch z.Next() {
		case html.ErrorToken:
			m.alternates()
			return m.columns, nil
		case html.StartTagToken, html.SelfClosingTagToken:
			if n++; n > maxTags {
				return nil, fmt.Errorf("it has more than %d tags", maxTags)
			}
			m.tag(z)
		case html.TextToken:
			if m.title && m.columns["title"] == "" {
				m.columns["title"] = strings.Join(strings.Fields(string(z.Text())), " ")
			}
			m.title = false
		}
	}
}

// marker collects the columns of a page.
type marker struct {
	columns map[string]string
	base    string
	title   bool   // a title begins
	others  []link // translations of the page, maybe itself among them
	own     string // the address that it names as its own
}

// link is a page's address and its language, in small letters.
type link struct{ language, address string }

var errNoAddress = errors.New("no address")

func (m *marker) tag(z *html.Tokenizer) {
	name, more := z.TagName()
	tag := atom.Lookup(name)
	m.title = tag == atom.Title
	values := map[string]string{}
	for more && len(values) < 50 {
		var key, value []byte
		key, value, more = z.TagAttr()
		values[string(key)] = string(value)
	}
	switch tag {
	case atom.Html:
		m.set("lang", values["lang"])
		if m.columns["lang"] == "" {
			m.set("lang", values["xml:lang"])
		}
	case atom.Meta:
		m.meta(strings.ToLower(values["name"]), values["content"])
	case atom.Link:
		rel := strings.ToLower(values["rel"])
		if rel == "canonical" {
			m.own = values["href"]
		}
		if rel == "alternate" && values["hreflang"] != "" && values["href"] != "" {
			m.others = append(m.others, link{strings.ToLower(strings.TrimSpace(values["hreflang"])), values["href"]})
		}
	}
	if m.columns["machine"] == "" {
		m.machine(tag, values)
	}
}

// set sets a column at the first value.
func (m *marker) set(column, value string) {
	if value = strings.Join(strings.Fields(value), " "); m.columns[column] == "" && value != "" {
		m.columns[column] = Beginning(value, 1000)
	}
}

func (m *marker) meta(name, content string) {
	switch name {
	case "generator":
		m.set("generator", content)
		m.translator(content)
	case "robots", "googlebot", "bingbot":
		m.robots(content)
	case "tdm-reservation":
		m.reservation(content)
	}
}

// reservation reads whether a page or a server reserves the right to text and data mining.
func (m *marker) reservation(content string) {
	if strings.TrimSpace(content) == "1" {
		m.set("noai", "tdm-reservation")
	}
}

// robots reads what a page or a server tells programs.
func (m *marker) robots(content string) {
	for word := range strings.FieldsFuncSeq(strings.ToLower(content), func(r rune) bool { return r == ',' || r == ' ' || r == ':' }) {
		if word == "noai" || word == "noimageai" {
			m.set("noai", word)
		}
	}
}

// machine looks at the attributes that programs which translate pages put into them.
func (m *marker) machine(tag atom.Atom, values map[string]string) {
	switch tag {
	case atom.Html, atom.Body, atom.Div, atom.Script, atom.Link, atom.A, atom.Ul, atom.Li:
		for _, key := range []string{"class", "id", "src", "href"} {
			if key != "href" || tag == atom.Link {
				m.translator(values[key])
			}
		}
	}
}

func (m *marker) translator(value string) {
	value = strings.ToLower(value)
	for _, t := range translators {
		if value != "" && strings.Contains(value, t.mark) {
			m.set("machine", t.name)
		}
	}
}

// alternates names the group of pages that are translations of each other by its first address. A page that is not in
// its own list belongs to it; x-default is the same page for many groups.
func (m *marker) alternates() {
	if len(m.others) == 0 {
		return
	}
	own := strings.ToLower(m.columns["lang"])
	listed := func(l link) bool { return sameLanguage(l.language, own) }
	var group []string
	for _, l := range m.others {
		if l.language != "x-default" || len(m.others) == 1 {
			group = append(group, l.address)
		}
	}
	if !slices.ContainsFunc(m.others, listed) {
		group = append(group, cmp.Or(m.own, m.base))
	}
	first := ""
	for _, address := range group {
		full, err := resolve(m.base, address)
		if err == nil && (first == "" || full < first) {
			first = full
		}
	}
	m.set("alternates", first)
}

// sameLanguage reports whether two tags are of one language, and of one region if both name one.
func sameLanguage(a, b string) bool {
	language, ofA, _ := strings.Cut(a, "-")
	other, ofB, _ := strings.Cut(b, "-")
	return language == other && (ofA == ofB || ofA == "" || ofB == "")
}

// resolve returns an address without that in which addresses of a page differ: the scheme, www., capitals of the host
// and a slash at the end.
func resolve(base, address string) (string, error) {
	if address == "" {
		return "", errNoAddress
	}
	u, err := url.Parse(strings.TrimSpace(address))
	if err != nil {
		return "", err
	}
	if b, err := url.Parse(base); err == nil {
		u = b.ResolveReference(u)
	}
	u.Scheme, u.User, u.Fragment = "", nil, ""
	u.Host = strings.TrimPrefix(strings.ToLower(u.Host), "www.")
	if u.Path = strings.TrimRight(u.Path, "/"); u.RawPath != "" {
		u.RawPath = strings.TrimRight(u.RawPath, "/")
	}
	return strings.TrimPrefix(u.String(), "//"), nil
}

// fromText is a page of plain text.
func fromText(data []byte, contentType, address string) *Page {
	p := &Page{URL: address}
	text, name, ok := decode(data, contentType)
	if !ok {
		p.Skip, p.Detail = NotUTF8, "its characters are in no encoding that it names or that is known"
		return p
	}
	p.Columns = map[string]string{"charset": name}
	if p.Text = text; len(bytes.TrimSpace([]byte(text))) == 0 {
		p.Skip = Empty
	}
	return p
}
