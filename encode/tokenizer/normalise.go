package tokenizer

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode"

	"github.com/rivo/uniseg"
	"golang.org/x/text/cases"
	"golang.org/x/text/language"
	"golang.org/x/text/unicode/norm"

	"bitextmine/encode/sentencepiece"
)

// addNormaliser adds the steps of a normaliser.
func (t *HuggingFace) addNormaliser(p *part) error {
	if p == nil {
		return nil
	}
	add := func(step func(string) string) error {
		t.normalise = append(t.normalise, step)
		return nil
	}
	switch p.Type {
	case "Sequence":
		var all struct {
			Normalizers []*part `json:"normalizers"`
		}
		if err := json.Unmarshal(p.raw, &all); err != nil {
			return fmt.Errorf("its normalizer cannot be read: %w", err)
		}
		for _, inner := range all.Normalizers {
			if err := t.addNormaliser(inner); err != nil {
				return err
			}
		}
		return nil
	case "Precompiled":
		c, err := newCharsmap(p.raw)
		if err != nil {
			return err
		}
		return add(c.apply)
	case "Replace":
		replace, err := replacement(p.raw)
		if err != nil {
			return err
		}
		return add(replace)
	case "Strip":
		strip, err := stripping(p.raw)
		if err != nil {
			return err
		}
		return add(strip)
	case "Lowercase":
		return add(lower)
	case "NFC":
		return add(norm.NFC.String)
	case "NFD":
		return add(norm.NFD.String)
	case "NFKC":
		return add(norm.NFKC.String)
	case "NFKD":
		return add(norm.NFKD.String)
	}
	return fmt.Errorf("its normalizer has a step of type %q, which cannot be computed", p.Type)
}

// lower lower-cases letter by letter, as Rust's char::to_lowercase does.
func lower(s string) string {
	var b strings.Builder
	for _, r := range s {
		if r == 'İ' {
			b.WriteString("i̇")
		} else {
			b.WriteRune(unicode.ToLower(r))
		}
	}
	return b.String()
}

// stripping is the step Strip.
func stripping(raw json.RawMessage) (func(string) string, error) {
	var sides struct {
		Left  bool `json:"strip_left"`
		Right bool `json:"strip_right"`
	}
	if err := json.Unmarshal(raw, &sides); err != nil {
		return nil, fmt.Errorf("its normalizer cannot be read: %w", err)
	}
	return func(s string) string {
		if sides.Left {
			s = strings.TrimLeftFunc(s, unicode.IsSpace)
		}
		if sides.Right {
			s = strings.TrimRightFunc(s, unicode.IsSpace)
		}
		return s
	}, nil
}

// replacement is the step Replace.
func replacement(raw json.RawMessage) (func(string) string, error) {
	var r struct {
		Pattern struct {
			String *string `json:"String"`
			Regex  *string `json:"Regex"`
		} `json:"pattern"`
		Content string `json:"content"`
	}
	if err := json.Unmarshal(raw, &r); err != nil {
		return nil, fmt.Errorf("its normalizer cannot be read: %w", err)
	}
	switch {
	case r.Pattern.String != nil:
		return func(s string) string { return strings.ReplaceAll(s, *r.Pattern.String, r.Content) }, nil
	case r.Pattern.Regex != nil:
		expression, err := regexp.Compile(*r.Pattern.Regex)
		if err != nil {
			return nil, fmt.Errorf("its normalizer replaces %q, which is not computed: %w", *r.Pattern.Regex, err)
		}
		return func(s string) string { return expression.ReplaceAllLiteralString(s, r.Content) }, nil
	}
	return nil, errors.New("its normalizer replaces nothing")
}

// charsmap is SentencePiece's table of replacements.
type charsmap struct{ *sentencepiece.Charsmap }

func newCharsmap(raw json.RawMessage) (charsmap, error) {
	var p struct {
		Charsmap string `json:"precompiled_charsmap"`
	}
	if err := json.Unmarshal(raw, &p); err != nil {
		return charsmap{}, fmt.Errorf("its normalizer cannot be read: %w", err)
	}
	table, err := base64.StdEncoding.DecodeString(p.Charsmap)
	if err != nil {
		return charsmap{}, errors.New("its precompiled_charsmap is damaged")
	}
	c, err := sentencepiece.NewCharsmap(table)
	return charsmap{c}, err
}

// apply replaces graphemes of fewer than 6 bytes as a whole, and others letter by letter. (So does Hugging Face's
// library. SentencePiece takes the longest beginning of the text that the table has.)
func (c charsmap) apply(s string) string {
	const whole = 6
	var b strings.Builder
	b.Grow(len(s))
	state := -1
	for rest := s; rest != ""; {
		var grapheme string
		grapheme, rest, _, state = uniseg.FirstGraphemeClusterInString(rest, state)
		if len(grapheme) < whole {
			if replaced, ok := c.Shortest(grapheme); ok {
				b.WriteString(replaced)
				continue
			}
		}
		for _, r := range grapheme {
			letter := string(r)
			if replaced, ok := c.Shortest(letter); ok {
				letter = replaced
			}
			b.WriteString(letter)
		}
	}
	return b.String()
}

// Lowercase applies Unicode's full lower-casing, as Python's str.lower does, which the published models were trained
// with. strings.ToLower maps letter by letter and differs at İ (two letters in lower case) and at a final Σ.
func Lowercase(s string) string {
	if strings.ContainsAny(s, "İΣ") {
		return cases.Lower(language.Und).String(s)
	}
	return strings.ToLower(s)
}

// LowercaseLetters lower-cases letter by letter, as Hugging Face's library does for WordPiece: a final Σ becomes σ.
func LowercaseLetters(s string) string {
	if !strings.Contains(s, "İ") {
		return strings.ToLower(s)
	}
	return strings.ToLower(strings.ReplaceAll(s, "İ", "i\u0307"))
}

// Hugging Face's library has the properties of letters from Unicode 8, so its tokenizers, and with them the models,
// treat what later versions added as letters. The tables are these additions; the test TestReferences of package
// tokenizer compares with that library.

// later reports whether a table has r.
func later(table [][2]rune, r rune) bool {
	lo, hi := 0, len(table)
	for lo < hi {
		if middle := (lo + hi) / 2; table[middle][1] < r {
			lo = middle + 1
		} else {
			hi = middle
		}
	}
	return lo < len(table) && table[lo][0] <= r
}

// laterPunctuation is punctuation.
var laterPunctuation = [][2]rune{
	{0x61d, 0x61d}, {0x9fd, 0x9fd}, {0xa76, 0xa76}, {0xc77, 0xc77}, {0xc84, 0xc84}, {0x1b7d, 0x1b7e}, {0x2e43, 0x2e4f},
	{0x2e52, 0x2e5d}, {0x10ead, 0x10ead}, {0x10f55, 0x10f59}, {0x10f86, 0x10f89}, {0x1144b, 0x1144f},
	{0x1145a, 0x1145b}, {0x1145d, 0x1145d}, {0x11660, 0x1166c}, {0x116b9, 0x116b9}, {0x1183b, 0x1183b},
	{0x11944, 0x11946}, {0x119e2, 0x119e2}, {0x11a3f, 0x11a46}, {0x11a9a, 0x11a9c}, {0x11a9e, 0x11aa2},
	{0x11b00, 0x11b09}, {0x11c41, 0x11c45}, {0x11c70, 0x11c71}, {0x11ef7, 0x11ef8}, {0x11f43, 0x11f4f},
	{0x11fff, 0x11fff}, {0x12ff1, 0x12ff2}, {0x16e97, 0x16e9a}, {0x16fe2, 0x16fe2}, {0x1e95e, 0x1e95f},
}

// laterMarks are marks without a width of their own.
var laterMarks = [][2]rune{
	{0x7fd, 0x7fd}, {0x898, 0x89f}, {0x8ca, 0x8e1}, {0x9fe, 0x9fe}, {0xafa, 0xaff}, {0xb55, 0xb55}, {0xc04, 0xc04},
	{0xc3c, 0xc3c}, {0xd00, 0xd00}, {0xd3b, 0xd3c}, {0xd81, 0xd81}, {0xeba, 0xeba}, {0xece, 0xece}, {0x180f, 0x180f},
	{0x1885, 0x1886}, {0x1abf, 0x1ace}, {0x1df6, 0x1dfb}, {0xa82c, 0xa82c}, {0xa8c5, 0xa8c5}, {0xa8ff, 0xa8ff},
	{0xa9bd, 0xa9bd}, {0x10d24, 0x10d27}, {0x10eab, 0x10eac}, {0x10efd, 0x10eff}, {0x10f46, 0x10f50},
	{0x10f82, 0x10f85}, {0x11070, 0x11070}, {0x11073, 0x11074}, {0x110c2, 0x110c2}, {0x111c9, 0x111c9},
	{0x111cf, 0x111cf}, {0x1123e, 0x1123e}, {0x11241, 0x11241}, {0x1133b, 0x1133b}, {0x11438, 0x1143f},
	{0x11442, 0x11444}, {0x11446, 0x11446}, {0x1145e, 0x1145e}, {0x1182f, 0x11837}, {0x11839, 0x1183a},
	{0x1193b, 0x1193c}, {0x1193e, 0x1193e}, {0x11943, 0x11943}, {0x119d4, 0x119d7}, {0x119da, 0x119db},
	{0x119e0, 0x119e0}, {0x11a01, 0x11a0a}, {0x11a33, 0x11a38}, {0x11a3b, 0x11a3e}, {0x11a47, 0x11a47},
	{0x11a51, 0x11a56}, {0x11a59, 0x11a5b}, {0x11a8a, 0x11a96}, {0x11a98, 0x11a99}, {0x11c30, 0x11c36},
	{0x11c38, 0x11c3d}, {0x11c3f, 0x11c3f}, {0x11c92, 0x11ca7}, {0x11caa, 0x11cb0}, {0x11cb2, 0x11cb3},
	{0x11cb5, 0x11cb6}, {0x11d31, 0x11d36}, {0x11d3a, 0x11d3a}, {0x11d3c, 0x11d3d}, {0x11d3f, 0x11d45},
	{0x11d47, 0x11d47}, {0x11d90, 0x11d91}, {0x11d95, 0x11d95}, {0x11d97, 0x11d97}, {0x11ef3, 0x11ef4},
	{0x11f00, 0x11f01}, {0x11f36, 0x11f3a}, {0x11f40, 0x11f40}, {0x11f42, 0x11f42}, {0x13440, 0x13440},
	{0x13447, 0x13455}, {0x16f4f, 0x16f4f}, {0x16fe4, 0x16fe4}, {0x1cf00, 0x1cf2d}, {0x1cf30, 0x1cf46},
	{0x1e000, 0x1e006}, {0x1e008, 0x1e018}, {0x1e01b, 0x1e021}, {0x1e023, 0x1e024}, {0x1e026, 0x1e02a},
	{0x1e08f, 0x1e08f}, {0x1e130, 0x1e136}, {0x1e2ae, 0x1e2ae}, {0x1e2ec, 0x1e2ef}, {0x1e4ec, 0x1e4ef},
	{0x1e944, 0x1e94a},
}

// laterControls are format characters.
var laterControls = [][2]rune{{0x890, 0x891}, {0x8e2, 0x8e2}, {0x110cd, 0x110cd}, {0x13430, 0x1343f}}
