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
