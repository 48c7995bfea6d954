package input

import (
	"encoding/base64"
	"encoding/hex"
	"strings"
	"testing"
)

func TestBase64Lines(t *testing.T) {
	t.Parallel()
	encode := func(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }
	document := encode("Es regnet über dem Land, seit gestern schon.\nUnd morgen auch.\n")
	for name, c := range map[string]struct {
		text string
		want bool
	}{
		"documents":            {strings.Repeat(document+"\n", 20), true},
		"one":                  {document, true},
		"lines of Windows":     {document + "\r\n" + document + "\r\n", true},
		"empty ones":           {document + "\n\n\n" + document + "\n", true},
		"a short one of many":  {strings.Repeat(document+"\n", 20) + encode("Ja.") + "\n", true},
		"one longer than head": {encode(strings.Repeat("Es regnet über dem Land. ", 4000))[:PeekBytes-1], true},
		"cut in a letter":      {document + "\n" + encode(strings.Repeat("ü", 40))[:54], true},
		"text":                 {strings.Repeat("Donaudampfschifffahrtselektrizitätenhauptbetriebswerk\n", 20), false},
		"a long word":          {strings.Repeat("Rindfleischetikettierungsueberwachungsaufgaben\n", 20), false},
		"hashes":               {strings.Repeat(hex.EncodeToString([]byte("0123456789abcdef0123456789abcdef"))+"\n", 20), false},
		"text about it":        {"It rained.\n" + document + "\nThen it stopped.\n", false},
		"Chinese":              {strings.Repeat("今天下雨了，明天也会下雨。", 20), false},
		"empty":                {"\n", false},
	} {
		if got := Base64Lines([]byte(c.text)); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
