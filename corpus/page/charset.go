package page

import (
	"bytes"
	"regexp"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html/charset"
	"golang.org/x/text/encoding"
)

const (
	// maxWrong is the share of a page's characters beyond ASCII that may be wrong in the encoding it is read in.
	maxWrong = 0.05
	// maxBroken is the share of a page's characters beyond ASCII that may be broken in UTF-8. Of text in other encodings
	// much more is.
	maxBroken = 0.25
	// maxForeign is the share of a page's bytes beyond ASCII from which no single-byte encoding of Latin letters is
	// believed.
	maxForeign = 0.3
)

// decode returns a page as UTF-8, with the name of its encoding: that of the byte order mark, the server, the page, or
// what its bytes look like. A page that is UTF-8, but for a few broken characters, is in UTF-8 whatever it says, and an
// encoding in which many characters are wrong is not believed; then the name says so, as in "koi8-r, not windows-1252".
// ok is false if no encoding fits.
func decode(data []byte, contentType string) (text, name string, ok bool) {
	of, name, named := declared(data, contentType)
	wide := strings.HasPrefix(name, "utf-16") || strings.HasPrefix(name, "iso-2022")
	if text, broken := repaired(data); !wide && broken <= maxBroken {
		if named {
			return text, "utf-8" + lie("utf-8", name), true
		}
		return text, "utf-8", true
	}
	if decoded, err := of.NewDecoder().Bytes(data); err == nil {
		text = string(decoded)
	}
	wrong := wrongShare(text)
	if named && wrong == 0 && (wide || !latin(name) || foreign(data) < maxForeign) {
		return text, name, true
	}
	if other, found, ok := guess(data); ok && found != name {
		if w := wrongShare(other); w < wrong || w == 0 {
			if named {
				found += lie(found, name)
			}
			return other, found, w <= maxWrong
		}
	}
	return text, name, text != "" && wrong <= maxWrong
}

// lateDeclarations are where a page names its encoding that browsers follow behind its first 1,024 bytes, and XHTML's.
var lateDeclarations = regexp.MustCompile(`(?i)(?:<meta\s[^>]*?\bcharset|^\s*<\?xml\s[^>]*?\bencoding)\s*=\s*["']?\s*([-\w:.]+)`)

// maxDeclared is how many bytes of a page are searched for them.
const maxDeclared = 64 << 10

// declared is the encoding that a page or its server names; named is false if neither does, and the encoding that of
// most such pages.
func declared(data []byte, contentType string) (of encoding.Encoding, name string, named bool) {
	of, name, sure := charset.DetermineEncoding(data, contentType)
	if sure || name != "windows-1252" && name != "utf-8" {
		return of, name, true
	}
	said := lateDeclarations.FindSubmatch(data[:min(len(data), maxDeclared)])
	if said == nil {
		return of, name, false
	}
	late, label := charset.Lookup(string(said[1]))
	switch {
	case late == nil:
		return of, name, false
	case strings.HasPrefix(label, "utf-16"): // these bytes could not be read in it
		return encoding.Nop, "utf-8", true
	}
	return late, label, true
}

// repaired is text in UTF-8 with the replacement character in the place of what is broken, and the share of broken
// bytes among the characters beyond ASCII.
func repaired(data []byte) (text string, broken float64) {
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	wrong, all := 0, 0
	for at := 0; at < len(data); {
		if data[at] < utf8.RuneSelf {
			at++
			continue
		}
		r, size := utf8.DecodeRune(data[at:])
		if r == utf8.RuneError && size == 1 {
			wrong++
		}
		all, at = all+1, at+size
	}
	if wrong == 0 {
		return string(data), 0
	}
	text = strings.TrimRight(string(bytes.ToValidUTF8(data, []byte("\ufffd"))), "\ufffd") // the end may be cut off
	return text, float64(wrong) / float64(all)
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
