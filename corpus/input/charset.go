package input

import (
	"bytes"
	"io"
	"slices"
	"strings"
	"unicode"

	"github.com/gogs/chardet"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/htmlindex"
	utf16 "golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

// Charset is the encoding of a name, as web pages have them; utf-16 looks at the byte order mark.
func Charset(name string) (encoding.Encoding, error) {
	if strings.EqualFold(name, "utf-16") {
		return utf16.UTF16(utf16.LittleEndian, utf16.UseBOM), nil
	}
	return htmlindex.Get(name)
}

// Decoded reads text in an encoding as UTF-8. In the place of what cannot be read in it is a byte that is not UTF-8, as
// in text of UTF-8 that is damaged.
func Decoded(from io.Reader, name string) (io.Reader, error) {
	of, err := Charset(name)
	if err != nil || of == utf16.UTF8 {
		return from, err
	}
	return transform.NewReader(from, transform.Chain(of.NewDecoder(), unread{})), nil
}

// unread puts a byte that is not UTF-8 in the place of decoders' replacement characters.
type unread struct{ transform.NopResetter }

// replaced is the replacement character, unreadByte what stands in its place.
var replaced = []byte("\ufffd")

const unreadByte = 0xc0

// Transform implements transform.Transformer.
func (unread) Transform(dst, src []byte, atEOF bool) (nDst, nSrc int, err error) {
	for nSrc < len(src) {
		if nDst == len(dst) {
			return nDst, nSrc, transform.ErrShortDst
		}
		rest := src[nSrc:]
		switch {
		case bytes.HasPrefix(rest, replaced):
			dst[nDst] = unreadByte
			nDst, nSrc = nDst+1, nSrc+len(replaced)
			continue
		case !atEOF && bytes.HasPrefix(replaced, rest):
			return nDst, nSrc, transform.ErrShortSrc
		}
		end := 1
		if next := bytes.IndexByte(rest[end:], replaced[0]); next >= 0 {
			end += next
		} else {
			end = len(rest)
		}
		n := copy(dst[nDst:], rest[:end])
		nDst, nSrc = nDst+n, nSrc+n
	}
	return nDst, nSrc, nil
}

// charsets are the encodings of one byte a character that text in UTF-8's place is in, those first that are not told
// from a later one by their bytes. Those of a language are taken before others that fit as well.
var charsets = []struct{ name, languages string }{
	{"windows-1252", "af ca da de en es eu fi fr ga gl is it nb nl nn no pt sv"},
	{"windows-1250", "bs cs hr hu pl ro sk sl sq"},
	{"iso-8859-2", "bs cs hr hu pl ro sk sl sq"},
	{"windows-1251", ""},
	{"koi8-r", ""},
	{"koi8-u", "uk"},
	{"ibm866", ""},
	{"windows-1253", ""},
	{"windows-1254", "az tr"},
	{"windows-1255", ""},
	{"windows-1256", ""},
	{"windows-1257", "et lt lv"},
	{"windows-1258", "vi"},
	{"windows-874", ""},
}

// wideCharsets have characters of several bytes, and read each other's text. The detector tells them apart by their
// frequent characters.
var wideCharsets = []string{"gb18030", "big5", "shift_jis", "euc-jp", "euc-kr"}

// ofLanguage is what an encoding of the language is ahead of others.
const ofLanguage = 0.05

// GuessCharset returns the encoding in which text of a language that is not UTF-8 is most likely, by a function that
// says how much of a text is in that language; empty: in none.
func GuessCharset(text []byte, code string, inLanguage func(text string) float64) (best string) {
	most := ofLanguage // a text of which nothing is in the language is in none
	for _, c := range charsets {
		utf8, ok := inUTF8(text, c.name)
		if !ok {
			continue
		}
		share := inLanguage(utf8) - odd(utf8)
		if slices.Contains(strings.Fields(c.languages), code) {
			share += ofLanguage
		}
		if share > most {
			best, most = c.name, share
		}
	}
	if found, err := chardet.NewTextDetector().DetectBest(text); err == nil {
		name := strings.ToLower(found.Charset)
		if utf8, ok := inUTF8(text, name); ok && slices.Contains(wideCharsets, name) && inLanguage(utf8) > most {
			return name
		}
	}
	return best
}

// inUTF8 returns text in an encoding as UTF-8, if it is known and can be read.
func inUTF8(text []byte, name string) (string, bool) {
	of, err := Charset(name)
	if err != nil {
		return "", false
	}
	utf8, err := of.NewDecoder().Bytes(text)
	return string(utf8), err == nil
}

// odd is the share of the characters outside ASCII that are no characters of text, or stand in a word without belonging
// to it: a letter of another script beside one of ASCII, or a sign between letters.
func odd(text string) float64 {
	n, all := 0, 1
	runes := []rune(text)
	for i, r := range runes {
		if r < 0x80 {
			continue
		}
		all++
		var before, after rune
		if i > 0 {
			before = runes[i-1]
		}
		if i+1 < len(runes) {
			after = runes[i+1]
		}
		switch {
		case r == '\ufffd' || r < 0xa0:
			n++
		case unicode.IsLetter(r):
			if !unicode.Is(unicode.Latin, r) && (isASCIILetter(before) || isASCIILetter(after)) {
				n++
			}
		case unicode.IsLetter(before) && unicode.IsLetter(after) && !unicode.In(r, unicode.M, unicode.Pd) && r != '’' && r != '·':
			n++
		}
	}
	return float64(n) / float64(all)
}

func isASCIILetter(r rune) bool { return r < 0x80 && unicode.IsLetter(r) }
