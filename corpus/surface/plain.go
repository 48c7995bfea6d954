package surface

import "unicode/utf8"

// firstPlain is the first byte of the first character that Plain changes, U+060C.
const firstPlain = 0xd8

// Plain returns the text with the digits of every script, the letters and marks of full width, and the separators and
// percent signs of Arabic as ASCII has them: 10：15, １６，７００ and ٣٫٧٥٪ are numbers as others write them. It has as
// many characters. A comma of Chinese or Arabic is one only between digits where it groups thousands, as it mostly ends
// a clause.
func Plain(text string) string {
	at := 0
	for at < len(text) && text[at] < firstPlain {
		at++
	}
	if at == len(text) {
		return text
	}
	var plain []byte
	for i, r := range text {
		p := r
		switch {
		case r < 0x600, 0x3000 <= r && r < 0xa000, 0xac00 <= r && r < 0xff00: // most text: no digit among these
		case IsDigit(r):
			p = '0' + Digit(r)
		case r == '٪':
			p = '%'
		case r == '٫':
			p = '.'
		case r == '٬':
			p = ','
		case r == '，' || r == '،':
			if groups(text[:i], text[i+utf8.RuneLen(r):]) {
				p = ','
			}
		case '！' <= r && r <= '～':
			p = r - '！' + '!'
		}
		if p != r && plain == nil {
			plain = append(make([]byte, 0, len(text)), text[:i]...)
		}
		if plain != nil {
			plain = utf8.AppendRune(plain, p)
		}
	}
	if plain == nil {
		return text
	}
	return string(plain)
}

// groups reports whether a comma stands between one to three digits and three.
func groups(before, after string) bool {
	n := digitsBefore(before)
	if n == 0 || n > 3 {
		return false
	}
	n = 0
	for _, r := range after {
		if !IsDigit(r) {
			break
		}
		n++
	}
	return n == 3
}

// digitsBefore counts the digits at the end of a text, up to four.
func digitsBefore(text string) (n int) {
	for n < 4 {
		r, width := utf8.DecodeLastRuneInString(text)
		if !IsDigit(r) {
			break
		}
		text = text[:len(text)-width]
		n++
	}
	return n
}
