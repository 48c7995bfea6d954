package corpus

import (
	"io"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/htmlindex"
	utf16 "golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

// charset is the encoding of a name, as web pages have them; utf-16 looks at the byte order mark.
func charset(name string) (encoding.Encoding, error) {
	if strings.EqualFold(name, "utf-16") {
		return utf16.UTF16(utf16.LittleEndian, utf16.UseBOM), nil
	}
	return htmlindex.Get(name)
}

// decoded reads text in an encoding as UTF-8.
func decoded(from io.Reader, name string) (io.Reader, error) {
	of, err := charset(name)
	if err != nil {
		return nil, err
	}
	return transform.NewReader(from, of.NewDecoder()), nil
}

// charsets are the encodings that text in UTF-8's place is in, those first that are not told from a later one by their
// bytes. Those of a language are taken before others that fit as well. Where a character has two bytes, usual says
// whether two are one of those that nearly all text consists of: these encodings read each other's text as other
// characters, many of them rare.
var charsets = []struct {
	name, languages string
	usual           func(lead, trail byte) bool
}{
	{"windows-1252", "af ca da de en es eu fi fr ga gl is it nb nl nn no pt sv", nil},
	{"windows-1250", "bs cs hr hu pl ro sk sl sq", nil},
	{"iso-8859-2", "bs cs hr hu pl ro sk sl sq", nil},
	{"windows-1251", "", nil},
	{"koi8-r", "", nil},
	{"koi8-u", "uk", nil},
	{"ibm866", "", nil},
	{"windows-1253", "", nil},
	{"windows-1254", "az tr", nil},
	{"windows-1255", "", nil},
	{"windows-1256", "", nil},
	{"windows-1257", "et lt lv", nil},
	{"windows-1258", "vi", nil},
	{"windows-874", "", nil},
	{"euc-jp", "", func(lead, _ byte) bool { return lead >= 0xa1 && lead < 0xd0 }},
	{"gb18030", "", func(lead, trail byte) bool {
		return lead >= 0xa1 && lead < 0xd8 && trail >= 0xa1 && lead != 0xa4 && lead != 0xa5 // these are kana
	}},
	{"big5", "", func(lead, _ byte) bool { return lead >= 0xa1 && lead < 0xc7 }},
	{"shift_jis", "", func(lead, _ byte) bool { return lead < 0x99 }},
	{"euc-kr", "", func(lead, trail byte) bool { return lead >= 0xa1 && lead < 0xc9 && trail >= 0xa1 }},
}

// ofLanguage is what an encoding of the language is ahead of others.
const ofLanguage = 0.05

// GuessCharset returns the encoding in which text of a language that is not UTF-8 is most likely, by a function that
// says how much of a text is in that language; empty: in none.
func GuessCharset(text []byte, code string, inLanguage func(text string) float64) (best string) {
	most := ofLanguage // a text of which nothing is in the language is in none
	for _, c := range charsets {
		of, err := charset(c.name)
		if err != nil {
			continue
		}
		utf8, err := of.NewDecoder().Bytes(text)
		if err != nil {
			continue
		}
		share := inLanguage(string(utf8))
		if c.usual != nil {
			share -= unusual(text, c.usual)
		} else {
			share -= odd(string(utf8))
		}
		if slices.Contains(strings.Fields(c.languages), code) {
			share += ofLanguage
		}
		if share > most {
			best, most = c.name, share
		}
	}
	return best
}

// unusual is the share of the characters of two bytes that are not usual.
func unusual(text []byte, usual func(lead, trail byte) bool) float64 {
	n, all := 0, 1
	for i := 0; i+1 < len(text); i++ {
		if text[i] >= 0x80 {
			all++
			if !usual(text[i], text[i+1]) {
				n++
			}
			i++
		}
	}
	return float64(n) / float64(all)
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
