package page

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"github.com/gogs/chardet"
	"golang.org/x/net/html/charset"
	"golang.org/x/text/encoding/htmlindex"
)

const (
	// maxWrong is the share of a page's characters beyond ASCII that may be wrong in the encoding it is read in.
	maxWrong = 0.05
	// maxForeign is the share of a page's bytes beyond ASCII from which no single-byte encoding of Latin letters is
	// believed.
	maxForeign = 0.3
)

// decode returns a page as UTF-8, with the name of its encoding: that of the byte order mark, the server, the page, or
// what its bytes look like. A page that is valid UTF-8 is in UTF-8 whatever it says, and an encoding in which many
// characters are wrong is not believed; then the name says so, as in "koi8-r, not windows-1252". ok is false if no
// encoding fits.
func decode(data []byte, contentType string) (text, name string, ok bool) {
	of, name, _ := charset.DetermineEncoding(data[:min(len(data), 1024)], contentType)
	wide := strings.HasPrefix(name, "utf-16") || strings.HasPrefix(name, "iso-2022")
	if !wide && utf8.Valid(data) {
		said := ""
		if name != "utf-8" && name != "windows-1252" { // which stands for no name, too
			said = lie("utf-8", name)
		}
		return string(bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))), strings.TrimSpace("utf-8" + said), true
	}
	if name == "utf-8" {
		text = string(bytes.ToValidUTF8(data, []byte("\ufffd")))
	} else if decoded, err := of.NewDecoder().Bytes(data); err == nil {
		text = string(decoded)
	}
	wrong := wrongShare(text)
	if wrong == 0 && (wide || !latin(name) || foreign(data) < maxForeign) {
		return text, name, true
	}
	found, err := chardet.NewHtmlDetector().DetectBest(data)
	if err == nil {
		if of, err := htmlindex.Get(strings.ToLower(found.Charset)); err == nil {
			other, _ := htmlindex.Name(of)
			if decoded, err := of.NewDecoder().Bytes(data); err == nil && other != name {
				if w := wrongShare(string(decoded)); w < wrong || w == 0 {
					return string(decoded), other + lie(other, name), w <= maxWrong
				}
			}
		}
	}
	return text, name, text != "" && wrong <= maxWrong
}

func lie(found, named string) string {
	if found == named {
		return ""
	}
	return ", not " + named
}

func latin(name string) bool {
	return strings.HasPrefix(name, "windows-125") || strings.HasPrefix(name, "iso-8859-")
}

// foreign is the share of letters beyond ASCII among a page's letters, tags apart.
func foreign(data []byte) float64 {
	beyond, all, tag := 0, 0, false
	for _, b := range data {
		switch {
		case b == '<':
			tag = true
		case b == '>':
			tag = false
		case tag:
		case b >= 0x80:
			beyond, all = beyond+1, all+1
		case b|0x20 >= 'a' && b|0x20 <= 'z':
			all++
		}
	}
	return float64(beyond) / float64(max(all, 1))
}

// wrongShare is the share of replacement and control characters among those beyond ASCII.
func wrongShare(text string) float64 {
	wrong, all := 0, 0
	for _, r := range text {
		if r >= 0x80 {
			all++
			if r == '\ufffd' || r < 0xa0 {
				wrong++
			}
		}
	}
	return float64(wrong) / float64(max(all, 1))
}
