package page

import (
	"archive/zip"
	"bufio"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/andybalholm/brotli"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"

	"bitextmine/internal/badinput"
)

const article = `<p>The new tram line opened on Monday, and thousands of people rode it on the first day.</p>
<p>It runs from the harbour to the university, and takes <b>half</b> as long as the bus did before.</p>
<p>The city plans a second line, which will connect the hospital with the main station by next autumn.</p>`

func pageOf(head, body string) string {
	return "<!DOCTYPE html><html lang=\"en\"><head>" + head + "</head><body class=\"x\"><nav><a href=\"/\">Home</a></nav><main><article><h1>Tram line</h1>" +
		body + "</article></main><footer>Imprint</footer></body></html>"
}

// TestMainText: the text of a page is its paragraphs, a line each, without menus.
func TestMainText(t *testing.T) {
	p := fromHTML([]byte(pageOf("<title>A tram</title>", article)), "", "")
	lines := strings.Split(p.Text, "\n")
	if p.Skip != "" || len(lines) < 3 || !slices.Contains(lines, "It runs from the harbour to the university, and takes half as long as the bus did before.") ||
		strings.Contains(p.Text, "Home") || strings.Contains(p.Text, "Imprint") {
		t.Errorf("%q %q: %q", p.Skip, p.Detail, p.Text)
	}
}

// TestShortPages: the paragraphs of a page of two sentences stay apart.
func TestShortPages(t *testing.T) {
	const first, second = "The new tram line links the hospital with the university.", "The museum by the harbour is open again."
	for _, of := range []string{"<article>%s</article>", "%s", "<h1>The town</h1><article>%s<p>All rights reserved.</p></article>", "<div>%s</div>"} {
		body := fmt.Sprintf(of, "<p>"+first+"</p><p>"+second+"</p>")
		p := fromHTML([]byte("<html lang=en><head><title>A tram</title></head><body>"+body+"</body></html>"), "", "")
		if !strings.Contains("\n"+p.Text+"\n", "\n"+first+"\n"+second+"\n") || strings.Count(p.Text, first) > 1 {
			t.Errorf("%s: %q %q", of, p.Skip, p.Text)
		}
	}
}

// TestXHTML: what follows an empty element of XHTML does not belong to it.
func TestXHTML(t *testing.T) {
	page := `<?xml version="1.0"?>` + pageOf(`<title/><script
	src="a.js"/><link href="a.css"/>`, `<p id="a"/><iframe src="b"/>`+article)
	if got, want := fromHTML([]byte(page), "", ""), fromHTML([]byte(pageOf("", article)), "", ""); got.Text != want.Text || got.Text == "" {
		t.Errorf("%q: %q instead of %q", got.Skip, got.Text, want.Text)
	}
}

// TestBlocksOnce: an article of one block within another has its text once, and what a page repeats stays.
func TestBlocksOnce(t *testing.T) {
	list := "<ul><li>The new tram line links the hospital with the university and the harbour.</li><li>The museum by the harbour is open again since Monday.</li>" +
		"<li>Thousands of people came on the first day to see the old ships.</li></ul>"
	repeated := strings.Repeat("<p>The bell rings, and the children run out to the harbour.</p>", 3)
	for name, c := range map[string]struct {
		body string
		want int
	}{
		"one block":    {"<main><article>" + list + "</article></main>", 3},
		"three deep":   {`<div id="content"><main class="site-main"><article class="post"><div class="entry-content">` + list + "</div></article></main></div>", 3},
		"truly thrice": {"<main><article>" + repeated + list + "</article></main>", 6},
	} {
		p := fromHTML([]byte("<html lang=en><head><title>A tram</title></head><body>"+c.body+"</body></html>"), "", "")
		if n := len(strings.Split(p.Text, "\n")); n != c.want {
			t.Errorf("%s: %d lines, want %d: %q", name, n, c.want, p.Text)
		}
	}
}

// TestHostilePages: pages that are made to break parsers are passed over by name, quickly.
func TestHostilePages(t *testing.T) {
	for name, c := range map[string]struct {
		page string
		skip Skip
	}{
		"10 MB of nested tags": {strings.Repeat("<div>", 2<<20), Malformed},
		"10 MB of bold tags":   {strings.Repeat("<b><i>", 5<<18), Malformed},
		"1,000 nested tags":    {strings.Repeat("<div>", 1000) + "text", Malformed},
		"17 MB":                {strings.Repeat("x", MaxBytes+1), TooLong},
		"nothing":              {"<html></html>", Empty},
	} {
		p, err := NewHTML(strings.NewReader(c.page)).Next()
		if err != nil || p.Skip != c.skip {
			t.Errorf("%s: %q (%s), error %v", name, p.Skip, p.Detail, err)
		}
	}
}

func response(n int, head, body string) string {
	block := "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n" + head + "\r\n" + body
	return fmt.Sprintf("WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: https://example.org/%d\r\nContent-Type: application/http; msgtype=response\r\nContent-Length: %d\r\n\r\n%s\r\n\r\n",
		n, len(block), block)
}

func readAll(t *testing.T, r Reader) (pages []*Page, err error) {
	t.Helper()
	for {
		p, err := r.Next()
		if errors.Is(err, io.EOF) {
			return pages, nil
		}
		if err != nil {
			return pages, err
		}
		pages = append(pages, p)
	}
}

func plainWARC(text string, salvage bool) *WARC {
	return NewWARC(bufio.NewReaderSize(strings.NewReader(text), 256<<10), "a.warc", salvage)
}

// TestWARC: pages of an archive, with what is no page passed over and named.
func TestWARC(t *testing.T) {
	chunked := fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(pageOf("", article)), pageOf("", article))
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, _ = io.WriteString(z, pageOf("", article))
	_ = z.Close()
	text := "WARC/1.0\r\nWARC-Type: warcinfo\r\nContent-Length: 5\r\n\r\nhello\r\n\r\n" +
		response(2, "", pageOf("", article)) +
		response(3, "Transfer-Encoding: chunked\r\n", chunked) +
		response(4, "Content-Encoding: gzip\r\nX-Robots-Tag: noai\r\n", packed.String()) +
		strings.Replace(response(5, "", "GIF89a"), "text/html", "image/gif", 1) +
		strings.Replace(response(6, "", "<p>gone"), "200 OK", "404 No", 1) +
		"WARC/1.0\r\nWARC-Type: conversion\r\nWARC-Target-URI: https://example.org/7\r\nWARC-Identified-Content-Language: eng\r\n" +
		"Content-Type: text/plain\r\nContent-Length: 12\r\n\r\nOne.\nTwo.\n\n\n\r\n\r\n" +
		"WARC/1.0\r\nWARC-Type: resource\r\nContent-Type: text/html\r\nContent-Length: 1073741824\r\n\r\n"
	text += strings.Repeat("x", MaxBytes) // stands for a record of 1 GB, which is cut off
	pages, err := readAll(t, plainWARC(text, true))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, p := range pages {
		got = append(got, fmt.Sprintf("%d %s %s %v", p.Number, p.URL, p.Skip, len(p.Text) > 0))
	}
	want := []string{"2 https://example.org/2  true", "3 https://example.org/3  true", "4 https://example.org/4  true", "5 https://example.org/5 empty false",
		"6 https://example.org/6 empty false", "7 https://example.org/7  true", "8  damaged false"}
	if !slices.Equal(got, want) {
		t.Errorf("pages %q", got)
	}
	if pages[2].Columns["noai"] != "noai" || pages[5].Columns["lang"] != "eng" || pages[5].Text != "One.\nTwo.\n\n\n" {
		t.Errorf("columns %v, %v, text %q", pages[2].Columns, pages[5].Columns, pages[5].Text)
	}
}

// TestAnswers: a line of a server's header that is none costs the line, and media types are written in any case.
func TestAnswers(t *testing.T) {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, _ = io.WriteString(z, pageOf("", article))
	_ = z.Close()
	whole := response(1, "", pageOf("", article))
	for name, c := range map[string]struct {
		record string
		skip   Skip
		noai   string
	}{
		"a line without a colon": {response(1, "broken\r\nContent-Encoding: gzip\r\n", packed.String()), "", ""},
		"two lines of status":    {strings.Replace(response(1, "", pageOf("", article)+strings.Repeat(" ", 17)), "OK\r\n", "OK\r\nHTTP/1.1 200 OK\r\n", 1), "", ""},
		"no name":                {response(1, ": x\r\nX Powered By: y\r\n folded\r\n", pageOf("", article)), "", ""},
		"folded":                 {response(1, "Content-Encoding:\r\n\tgzip\r\n", packed.String()), "", ""},
		"capitals":               {strings.NewReplacer("application/http", "Application/HTTP", "text/html", "Text/HTML").Replace(whole), "", ""},
		"status 203":             {strings.Replace(whole, "200 OK", "203 No", 1), "", ""},
		"status 206":             {strings.Replace(whole, "200 OK", "206 No", 1), Empty, ""},
		"no end of the header":   {strings.NewReplacer("200 OK", "301 No", "html\r\n\r\n", "html \r\n ").Replace(response(1, "", "")), Empty, ""},
		"a reservation":          {response(1, "tdm-reservation: 1\r\n", pageOf("", article)), "", "tdm-reservation"},
		"no reservation":         {response(1, "tdm-reservation: 0\r\n", pageOf("", article)), "", ""},
	} {
		pages, err := readAll(t, plainWARC(c.record, false))
		if err != nil || len(pages) != 1 {
			t.Fatalf("%s: %d pages, error %v", name, len(pages), err)
		}
		if p := pages[0]; p.Skip != c.skip || p.Columns["noai"] != c.noai || (c.skip == "") != strings.Contains(p.Text, "as long as the bus did before.") {
			t.Errorf("%s: %q (%s, %s), noai %q", name, p.Text, p.Skip, p.Detail, p.Columns["noai"])
		}
	}
}

// TestCompressedAnswers: what a server compressed is undone, what the crawler undid stays, and what cannot be undone is
// passed over by name.
func TestCompressedAnswers(t *testing.T) {
	page := pageOf("", article)
	packed := func(open func(io.Writer) io.WriteCloser) string {
		var out bytes.Buffer
		w := open(&out)
		_, _ = io.WriteString(w, page)
		_ = w.Close()
		return out.String()
	}
	raw := packed(func(w io.Writer) io.WriteCloser { z, _ := flate.NewWriter(w, flate.BestSpeed); return z })
	brotlied := packed(func(w io.Writer) io.WriteCloser { return brotli.NewWriter(w) })
	for name, c := range map[string]struct {
		encoding, body string
		skip           Skip
		detail         string
	}{
		"zlib":              {"deflate", packed(func(w io.Writer) io.WriteCloser { return zlib.NewWriter(w) }), "", ""},
		"raw deflate":       {"deflate", raw, "", ""},
		"brotli":            {"br", brotlied, "", ""},
		"undone":            {"deflate", page, "", ""},
		"another, undone":   {"compress", page, "", ""},
		"no brotli":         {"br", "\x01\xff" + raw, Malformed, `("br") cannot be undone`},
		"another":           {"compress", raw, Malformed, "none of gzip, deflate"},
		"of no compression": {"identity", page, "", ""},
	} {
		pages, err := readAll(t, plainWARC(response(1, "Content-Encoding: "+c.encoding+"\r\n", c.body), false))
		if err != nil || len(pages) != 1 {
			t.Fatalf("%s: %d pages, error %v", name, len(pages), err)
		}
		if p := pages[0]; p.Skip != c.skip || !strings.Contains(p.Detail, c.detail) || (p.Text != "") != (c.skip == "") {
			t.Errorf("%s: %q (%s, %s)", name, p.Text, p.Skip, p.Detail)
		}
	}
}

// TestCutOffChunks: of an answer in chunks that is cut off there is what came, without the sizes of chunks; of one that
// is compressed, too, as much as of other answers.
func TestCutOffChunks(t *testing.T) {
	chunks := func(body string, size int) string {
		var out strings.Builder
		for ; body != ""; body = body[min(len(body), size):] {
			part := body[:min(len(body), size)]
			fmt.Fprintf(&out, "%x\r\n%s\r\n", len(part), part)
		}
		return out.String() + "0\r\n\r\n"
	}
	cut := func(body string) string { return body[:len(body)-30] }
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, _ = io.WriteString(z, pageOf("", article))
	_ = z.Close()
	for name, c := range map[string]struct{ header, body string }{
		"text":         {"", pageOf("", article)},
		"compressed":   {"Content-Encoding: gzip\r\n", packed.String()},
		"decompressed": {"Content-Encoding: gzip\r\n", pageOf("", article)},
	} {
		whole, err := readAll(t, plainWARC(response(1, c.header, cut(c.body)), false))
		if err != nil || whole[0].Text == "" {
			t.Fatalf("%s: %q (%s), error %v", name, whole[0].Text, whole[0].Detail, err)
		}
		pages, err := readAll(t, plainWARC(response(1, "Transfer-Encoding: chunked\r\n"+c.header, cut(chunks(c.body, 50))), false))
		if err != nil || pages[0].Skip != "" || !strings.Contains(pages[0].Text, "The new tram line opened on Monday, and thousands of people rode it on the first day.") ||
			strings.Contains(pages[0].Text, "32") {
			t.Errorf("%s: %q (%s), error %v", name, pages[0].Text, pages[0].Detail, err)
		}
	}
}

// TestWARCDamaged: an archive that is cut in the middle, or has a record without a header, is refused by name, or read
// around the damage.
func TestWARCDamaged(t *testing.T) {
	whole := response(1, "", pageOf("", article)) + response(2, "", pageOf("", article)) + response(3, "", pageOf("", article))
	middle := strings.Replace(whole, "WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: https://example.org/2", "WARC1\r\n", 1)
	for name, c := range map[string]struct {
		text string
		want string
	}{
		"cut off":   {whole[:len(whole)-100], "1: 2: 3:damaged"},
		"no header": {middle, "1: 1:damaged 2:"}, // the third is the second that begins
		"no length": {strings.Replace(whole, "Content-Length", "Length", 1), "1:damaged 2: 3:"},
	} {
		pages, err := readAll(t, plainWARC(c.text, true))
		var got []string
		for _, p := range pages {
			got = append(got, fmt.Sprintf("%d:%s", p.Number, p.Skip))
		}
		if err != nil || strings.Join(got, " ") != c.want {
			t.Errorf("%s: %q, error %v", name, got, err)
		}
		if _, err := readAll(t, plainWARC(c.text, false)); !badinput.Is(err) || !strings.Contains(err.Error(), "a.warc: record") {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

// TestMan: a manual page in man and in mdoc.
func TestMan(t *testing.T) {
	man := fromMan([]byte(".\\\" comment\n.TH LS 1 \"May 2026\"\n.SH NAME\nls \\- list files\n.SH DESCRIPTION\nList the\n\\fBfiles\\fR of a\n.I folder\nand more.\n.PP\nA second\nparagraph.\n.TP\n\\fB\\-a\\fR, \\fB\\-\\-all\\fR\nshow all of them\n"))
	want := "NAME\nls - list files\nDESCRIPTION\nList the files of a folder and more.\nA second paragraph.\n-a, --all show all of them"
	if man.Text != want || man.Columns["title"] != "LS" {
		t.Errorf("%q, title %q", man.Text, man.Columns["title"])
	}
	slashes := fromMan([]byte(".TH A 1\nThe sequence \\ed stands for a digit and \\eu\nfor \\(rsfB, C:\\eusers\\[rs]months.\n"))
	if want := `The sequence \d stands for a digit and \u for \fB, C:\users\months.`; slashes.Text != want {
		t.Errorf("backslashes: %q, want %q", slashes.Text, want)
	}
	if mdoc := fromMan([]byte(".Dd May 1, 2026\n.Dt CAT 1\n.Sh NAME\n.Nm cat\n.Nd join files\n.Sh DESCRIPTION\nThe\n.Nm cat\nprogram reads files.\n")); mdoc.Text != "NAME\ncat join files\nDESCRIPTION\nThe cat program reads files." {
		t.Errorf("%q", mdoc.Text)
	}
}

func FuzzHTML(f *testing.F) {
	f.Add([]byte(pageOf("<meta charset=koi8-r>", article)), "text/html")
	f.Add([]byte("<table><td><b><p></table><svg><title><pre>\n"), "")
	f.Fuzz(func(t *testing.T, data []byte, kind string) {
		if p := fromHTML(data, kind, "https://example.org/"); (p.Text == "") == (p.Skip == "") {
			t.Errorf("skip %q, text %q", p.Skip, p.Text)
		}
	})
}

func FuzzWARC(f *testing.F) {
	f.Add(response(1, "Transfer-Encoding: chunked\r\n", "5\r\n<p>ab\r\n0\r\n\r\n")+response(2, "", "<p>x"), true)
	f.Add("WARC/1.0\r\nContent-Length: 99999999999\r\nWARC-Type: response\r\n\r\n", false)
	f.Fuzz(func(t *testing.T, text string, salvage bool) {
		pages, err := readAll(t, plainWARC(text, salvage))
		if err != nil && (salvage || !badinput.Is(err)) || len(pages) > len(text) {
			t.Errorf("%d pages, error %v", len(pages), err)
		}
	})
}

func FuzzMan(f *testing.F) {
	f.Add([]byte(".TH A 1\n.SH \"a b\n.de x\n..\n.B a\\ b \"c\n"))
	f.Fuzz(func(_ *testing.T, data []byte) { fromMan(data) })
}

// book makes a book of two chapters, the first of which is damaged if so asked.
func book(t testing.TB, damaged bool) []byte {
	return bookIn(t, "iso-8859-1", charmap.ISO8859_1, damaged)
}

// bookIn makes a book whose description is in an encoding.
func bookIn(t testing.TB, label string, of encoding.Encoding, damaged bool) []byte {
	description, err := of.NewEncoder().String(`<?xml version="1.0" encoding="` + label + `"?><package xmlns:dc="http://purl.org/dc/elements/1.1/">` +
		`<metadata><dc:title>Trâms</dc:title><dc:title>A history</dc:title><dc:language>en</dc:language><dc:language>de</dc:language></metadata>` +
		`<manifest><item id="a" href="a.xhtml" media-type="application/xhtml+xml"/><item id="b" href="b%20%C3%A4%25.xhtml" media-type="application/xhtml+xml"/>` +
		`<item id="s" href="s.css" media-type="text/css"/></manifest><spine><itemref idref="b"/><itemref idref="a"/><itemref idref="s"/></spine></package>`)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	for _, f := range [][2]string{
		{"mimetype", "application/epub+zip"},
		{"META-INF/container.xml", `<container><rootfiles><rootfile full-path="OEBPS/b.opf"/></rootfiles></container>`},
		{"OEBPS/b.opf", description},
		{"OEBPS/a.xhtml", "<html><body><p>The last chapter.</p></body></html>"},
		{"OEBPS/b ä%.xhtml", "<html><head><title/><script src='a.js'/><style>p {}</style></head><body><object data='a.svg'/><h1>One</h1><p>The first chapter, which is<br/>short.</p></body></html>"},
	} {
		w, err := z.CreateHeader(&zip.FileHeader{Name: f[0], Method: zip.Store})
		if err == nil {
			_, err = io.WriteString(w, f[1])
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	data := out.Bytes()
	if damaged {
		data[bytes.Index(data, []byte("The last"))] ^= 1
	}
	return data
}

// TestEPUB: the chapters of a book come in its order; one that is damaged is passed over by name.
func TestEPUB(t *testing.T) {
	utf16 := unicode.UTF16(unicode.LittleEndian, unicode.UseBOM)
	for i, data := range [][]byte{book(t, false), book(t, true), bookIn(t, "UTF-16", utf16, false), bookIn(t, "utf-8", unicode.UTF8BOM, false)} {
		damaged := i == 1
		r, err := NewEPUB(bytes.NewReader(data), int64(len(data)), "b.epub")
		if err != nil || !LooksEPUB(data) {
			t.Fatal(err)
		}
		pages, err := readAll(t, r)
		if err != nil || len(pages) != 2 {
			t.Fatalf("%d chapters, error %v", len(pages), err)
		}
		if p := pages[0]; p.Text != "One\nThe first chapter, which is\nshort." || p.Columns["lang"] != "en" || p.Columns["title"] != "Trâms" {
			t.Errorf("%q, %v", p.Text, p.Columns)
		}
		if p := pages[1]; damaged && p.Skip != Damaged || !damaged && p.Text != "The last chapter." {
			t.Errorf("damaged %v: %q, %q", damaged, p.Skip, p.Text)
		}
	}
	if _, err := NewEPUB(strings.NewReader("PK"), 2, "b.epub"); !badinput.Is(err) || !strings.Contains(err.Error(), "b.epub") {
		t.Errorf("error %v", err)
	}
}

func FuzzEPUB(f *testing.F) {
	f.Add(book(f, false))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := NewEPUB(bytes.NewReader(data), int64(len(data)), "b.epub")
		if err != nil {
			if !badinput.Is(err) {
				t.Error(err)
			}
			return
		}
		if _, err := readAll(t, r); err != nil {
			t.Error(err)
		}
	})
}
