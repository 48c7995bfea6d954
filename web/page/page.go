// Package page makes the pages of mine serve and the file of mine report from the same templates. It computes nothing
// about pairs: it sets numbers and sentences, each sentence with its language and direction, and draws charts as SVG.
//
// A chart has no size of its own: places are percentages of the width it is given, so that its letters are as large on
// a telephone as on a wide screen.
package page

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"html/template"
	"path"
	"slices"
	"sync"

	"golang.org/x/text/language"
	"golang.org/x/text/language/display"

	"bitextmine/bitext/concordance"
)

//go:embed templates/*.html assets/*
var files embed.FS

// Names of the pages, each a template of its own.
const (
	Overview = "overview"
	Changes  = "changes"
	Search   = "search"
	Pairs    = "pairs"
	Pair     = "pair"
	Review   = "review"
	Problem  = "problem"
)

// Names of the parts of pages that the script asks for.
const (
	CardPart        = "card"
	ExplanationPart = "explanation"
)

// Page is the data of the layout around a page's own content.
type Page struct {
	Title  string
	Here   string // the page's name, for the navigation
	Site   Site
	Static bool         // a file of its own: no links to other pages, no script
	Style  template.CSS // style of a static page
	Policy string       // content security policy of a static page
	Body   any
}

// Site is the data about the run on every page.
type Site struct {
	Languages [2]string
	Night     string
	Version   string
}

// pages are parsed when the first is made: other commands need not wait for it.
var pages = sync.OnceValue(func() map[string]*template.Template {
	layout := template.Must(template.New("layout.html").Funcs(functions).ParseFS(files, "templates/layout.html",
		"templates/parts.html", "templates/charts.html"))
	all := map[string]*template.Template{}
	for _, name := range []string{Overview, Changes, Search, Pairs, Pair, Review, Problem} {
		all[name] = template.Must(template.Must(layout.Clone()).ParseFS(files, "templates/"+name+".html"))
	}
	return all
})

// Render makes a page.
func Render(p Page) ([]byte, error) {
	var out bytes.Buffer
	if err := pages()[p.Here].Execute(&out, p); err != nil {
		return nil, fmt.Errorf("make the page %s: %w", p.Here, err)
	}
	return out.Bytes(), nil
}

// RenderPart makes a part of a page.
func RenderPart(name string, body any) ([]byte, error) {
	var out bytes.Buffer
	if err := pages()[Problem].ExecuteTemplate(&out, name, body); err != nil {
		return nil, fmt.Errorf("make the part %s of a page: %w", name, err)
	}
	return out.Bytes(), nil
}

// Asset is a style sheet, a script or an image.
type Asset struct {
	Type string // media type
	Tag  string // digest, in quotes
	Data []byte
}

const (
	styleName  = "page.css"
	scriptName = "page.js"
	iconName   = "icon.svg"
)

// Assets are the files that pages refer to, by name.
var Assets = map[string]Asset{
	styleName:  asset(styleName, "text/css; charset=utf-8"),
	scriptName: asset(scriptName, "text/javascript; charset=utf-8"),
	iconName:   asset(iconName, "image/svg+xml"),
}

func asset(name, media string) Asset {
	data, err := files.ReadFile(path.Join("assets", name))
	if err != nil {
		panic(err) // the program was built without a file that it embeds
	}
	sum := sha256.Sum256(data)
	return Asset{media, `"` + hex.EncodeToString(sum[:8]) + `"`, data}
}

// RenderReport makes a page as one file that refers to no other.
func RenderReport(p Page) ([]byte, error) {
	style := Assets[styleName].Data
	sum := sha256.Sum256(style)
	p.Static, p.Style = true, template.CSS(style) //nolint:gosec // our own style sheet
	p.Policy = "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
	return Render(p)
}

// Sentence is a text with what a browser must know of it, in parts of which some are marked.
type Sentence struct {
	Language, Direction string
	Parts               []Part
	Differs             bool // the marked parts are missing on the other side
}

// Part of a sentence.
type Part struct {
	Text   string
	Marked bool
}

// NewSentence marks spans of a text in a language. Spans are in order and do not overlap.
func NewSentence(code, text string, marks []concordance.Span) Sentence {
	s := Sentence{Language: code, Direction: direction(code)}
	at := 0
	for _, m := range marks {
		if m.Start > at {
			s.Parts = append(s.Parts, Part{Text: text[at:m.Start]})
		}
		s.Parts = append(s.Parts, Part{Text: text[m.Start:m.End], Marked: true})
		at = m.End
	}
	if at < len(text) {
		s.Parts = append(s.Parts, Part{Text: text[at:]})
	}
	return s
}

// leftward are the scripts that are written from right to left.
var leftward = []string{"Arab", "Aran", "Hebr", "Syrc", "Thaa", "Nkoo", "Adlm", "Mand", "Samr", "Rohg", "Mend"}

// direction is rtl or ltr, by the script that a language is written in.
func direction(code string) string {
	script, _ := language.Make(code).Script()
	if slices.Contains(leftward, script.String()) {
		return "rtl"
	}
	return "ltr"
}

// LanguageName is a language's English name, or its code if it has none.
func LanguageName(code string) string {
	if name := display.English.Tags().Name(language.Make(code)); name != "" {
		return name
	}
	return code
}
