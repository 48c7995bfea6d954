package corpus

import (
	"io"
	"strings"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

// charset is the encoding of a name, as web pages have them; utf-16 looks at the byte order mark.
func charset(name string) (encoding.Encoding, error) {
	if strings.EqualFold(name, "utf-16") {
		return unicode.UTF16(unicode.LittleEndian, unicode.UseBOM), nil
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
// bytes.
var charsets = []string{
	"windows-1252", "windows-1250", "windows-1251", "koi8-r", "windows-1253", "windows-1254", "windows-1255",
	"windows-1256", "gb18030", "big5", "shift_jis", "euc-jp", "euc-kr",
}

// GuessCharset returns the encoding in which text that is not UTF-8 is most likely, by a function that says how much of
// a text is in its language; empty: in none.
func GuessCharset(text []byte, inLanguage func(text string) float64) (best string) {
	most := 0.0
	for _, name := range charsets {
		of, err := charset(name)
		if err != nil {
			continue
		}
		utf8, err := of.NewDecoder().Bytes(text)
		if err != nil {
			continue
		}
		wrong := 0
		for _, r := range string(utf8) {
			if r == '\ufffd' || r < ' ' && r != '\n' && r != '\r' && r != '\t' || r >= 0x80 && r < 0xa0 {
				wrong++
			}
		}
		if share := inLanguage(string(utf8)) - float64(wrong)/float64(len(utf8)+1); share > most {
			best, most = name, share
		}
	}
	return best
}
