package concordance

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"bitextmine/internal/badinput"
)

// Piece is a part of a query whose words stand next to each other in what is found: a word or a phrase.
type Piece struct {
	Text    string
	Without bool // pairs that have it are left out
}

// quotes open and close phrases.
const quotes = `"“”„«»`

// Pieces reads a query that is no regular expression: what stands between spaces, or quotation marks, is a piece. One
// after a minus is left out, unless it begins with a digit; a plus says nothing. In Phrase mode, quotation marks say
// nothing, and all that is not left out is one piece.
func (q Query) Pieces() (pieces []Piece, err error) {
	var phrase []string
	for rest := strings.TrimSpace(q.Text); rest != ""; rest = strings.TrimSpace(rest) {
		var p Piece
		var open bool
		p, rest, open = nextPiece(rest)
		switch {
		case open && q.Mode != Phrase:
			return nil, badinput.Errorf(
				"the query %q opens quotation marks that it does not close: close them behind the phrase, or leave them out", q.Text)
		case q.Mode == Phrase && !p.Without:
			phrase = append(phrase, p.Text)
		case p.Text != "":
			pieces = append(pieces, p)
		}
	}
	if text := strings.Join(phrase, " "); text != "" {
		pieces = append(pieces, Piece{Text: text})
	}
	if len(pieces) > 0 && !slices.ContainsFunc(pieces, func(p Piece) bool { return !p.Without }) {
		return nil, badinput.Errorf("the query %q only says what to leave out: give a word to look for, without a minus", q.Text)
	}
	return pieces, nil
}

// nextPiece takes the first piece off a query that begins with one. open: its quotation marks are not closed.
func nextPiece(text string) (p Piece, rest string, open bool) {
	if after, found := strings.CutPrefix(text, "-"); found && beginsWith(after, unicode.IsLetter) {
		p.Without, text = true, after
	} else if after, found := strings.CutPrefix(text, "+"); found && beginsWith(after, isLetterOrNumber) {
		text = after
	}
	end := len(text)
	r, size := utf8.DecodeRuneInString(text)
	if strings.ContainsRune(quotes, r) {
		if n := strings.IndexAny(text[size:], quotes); n >= 0 {
			end = size + n
			_, closing := utf8.DecodeRuneInString(text[end:])
			p.Text = strings.Join(strings.Fields(text[size:end]), " ")
			return p, text[end+closing:], false
		}
		open = true
	}
	if n := strings.IndexFunc(text, unicode.IsSpace); n >= 0 {
		end = n
	}
	p.Text = text[:end]
	return p, text[end:], open && end > size // a mark alone is to be looked for
}

// beginsWith reports whether a text begins with such a character or with a quotation mark.
func beginsWith(text string, is func(rune) bool) bool {
	r, _ := utf8.DecodeRuneInString(text)
	return is(r) || strings.ContainsRune(quotes, r)
}

func isLetterOrNumber(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }
