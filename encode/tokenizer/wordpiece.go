// WordPiece splits text as BERT does: it removes control characters, separates Chinese characters and punctuation,
// optionally strips accents, and then repeatedly takes the longest known piece from each word. The caller lower-cases
// the text first if the model needs it.

package tokenizer

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"unicode/utf8"
)

// WordPieceOptions are the switches of BERT's tokenizer.
type WordPieceOptions struct {
	StripAccents bool // true for BERT's uncased models, false for the cased ones
}

// continuation is the prefix of every piece that does not begin a word.
const continuation = "##"

// unknownPiece replaces a word that cannot be split into known pieces.
const unknownPiece = "[UNK]"

// maxWord is the maximum number of letters in a word; a longer word is unknown, as in BERT.
const maxWord = 100

// WordPiece is a loaded vocab.txt. It is only read, so any number of goroutines may use it.
type WordPiece struct {
	options WordPieceOptions
	starts  map[string]int32 // pieces that begin a word
	inner   map[string]int32 // pieces inside a word, without the ##
	longest int              // length in bytes of the longest piece
	unknown int32
	size    int
}

// NewWordPiece reads a vocabulary: one piece on each line. A piece's id is the number of lines before it.
func NewWordPiece(vocab []byte, options WordPieceOptions) (*WordPiece, error) {
	lines := bytes.Split(bytes.TrimSuffix(vocab, []byte("\n")), []byte("\n"))
	v := &WordPiece{options: options, starts: map[string]int32{}, inner: map[string]int32{}, unknown: -1,
		size: len(lines)}
	if len(lines) > math.MaxInt32 {
		return nil, errors.New("the vocabulary has more lines than ids")
	}
	for id, line := range lines {
		line = bytes.TrimSuffix(line, []byte("\r"))
		if !utf8.Valid(line) {
			return nil, fmt.Errorf("line %d of the vocabulary is not UTF-8", id+1)
		}
		v.longest = max(v.longest, len(line))
		piece := string(line)
		if piece == unknownPiece {
			v.unknown = int32(id)
		}
		if rest, ok := bytes.CutPrefix(line, []byte(continuation)); ok && len(rest) > 0 {
			v.inner[string(rest)] = int32(id)
		}
		v.starts[piece] = int32(id)
	}
	if v.unknown < 0 {
		return nil, fmt.Errorf("the vocabulary has no line %s, so it is not a WordPiece vocabulary", unknownPiece)
	}
	return v, nil
}

// Size is the number of pieces.
func (v *WordPiece) Size() int { return v.size }

// ID returns the id of a piece, spelled as in the file with its ##.
func (v *WordPiece) ID(piece string) (int32, bool) {
	id, ok := v.starts[piece]
	return id, ok
}

// Unknown is the id of [UNK].
func (v *WordPiece) Unknown() int32 { return v.unknown }

// Close does nothing: a vocabulary holds only Go memory.
func (v *WordPiece) Close() {}

// Encode calls yield with the ids of each text, in order, truncated to the first maxIDs. yield must not retain the
// slice. A text of only white space and control characters has no ids.
func (v *WordPiece) Encode(texts []string, maxIDs int, yield func(i int, ids []int32)) error {
	if maxIDs <= 0 {
		return fmt.Errorf("split into at most %d pieces: the number must be positive", maxIDs)
	}
	var ids []int32
	var letters []byte
	for i, text := range texts {
		ids = ids[:0]
		letters = v.words(letters[:0], text, func(word []byte) bool {
			ids = v.pieces(ids, word)
			return len(ids) < maxIDs
		})
		yield(i, ids[:min(len(ids), maxIDs)])
	}
	return nil
}

// pieces appends the ids of one word: again and again the longest piece that the rest of the word begins with, or [UNK]
// alone if there is none.
func (v *WordPiece) pieces(ids []int32, word []byte) []int32 {
	if utf8.RuneCount(word) > maxWord {
		return append(ids, v.unknown)
	}
	before := len(ids)
	known := v.starts
	for len(word) > 0 {
		end := min(len(word), v.longest)
		for end > 0 {
			if end == len(word) || utf8.RuneStart(word[end]) {
				if id, ok := known[string(word[:end])]; ok {
					ids = append(ids, id)
					break
				}
			}
			end--
		}
		if end == 0 {
			return append(ids[:before], v.unknown)
		}
		word, known = word[end:], v.inner
	}
	return ids
}
