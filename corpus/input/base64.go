package input

import (
	"bytes"
	"encoding/base64"
	"regexp"
	"unicode/utf8"
)

var base64Line = regexp.MustCompile(`^[A-Za-z0-9+/]{40,}=*$`)

// Base64Lines reports whether nearly all lines at the beginning of a file are text in base64, as Bitextor keeps a
// document a line. Each must decode to UTF-8, which no hash or name of 40 letters does.
func Base64Lines(head []byte) bool {
	lines := bytes.Split(head, []byte("\n"))
	all, encoded := 0, 0
	for i, line := range lines {
		if line = bytes.TrimSuffix(line, []byte("\r")); len(line) == 0 {
			continue
		}
		all++
		if base64Line.Match(line) && decodes(line, i == len(lines)-1) {
			encoded++
		}
	}
	return encoded > 0 && encoded*10 >= all*9
}

// decodes reports whether a line is UTF-8 in base64. One that may be cut is decoded as far as it goes.
func decodes(line []byte, cut bool) bool {
	if cut {
		line = line[:len(line)/4*4]
	}
	text := make([]byte, base64.StdEncoding.DecodedLen(len(line)))
	n, err := base64.StdEncoding.Decode(text, line)
	text = text[:n]
	for i := 0; cut && i < utf8.UTFMax && !utf8.Valid(text) && len(text) > 0; i++ {
		text = text[:len(text)-1]
	}
	return err == nil && utf8.Valid(text) && bytes.IndexByte(text, 0) < 0
}
