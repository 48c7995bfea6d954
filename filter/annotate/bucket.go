package annotate

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf8"

	"bitextmine/corpus"
	"bitextmine/corpus/surface"
)

// buckets spread records of a fixed size over files. What fits in memory is not written.
type buckets struct {
	dir, name string
	size      int // bytes of a record
	limit     int // bytes of a bucket that are kept in memory
	buffers   [][]byte
	written   map[int]bool
}

func newBuckets(dir, name string, size, limit int) *buckets {
	return &buckets{dir: dir, name: name, size: size, limit: limit, written: map[int]bool{}}
}

// add appends a record of values to a bucket.
func (b *buckets) add(bucket int, values ...uint64) error {
	for bucket >= len(b.buffers) {
		b.buffers = append(b.buffers, nil)
	}
	buffer := b.buffers[bucket]
	if len(buffer)+b.size > b.limit {
		if err := b.flush(bucket, buffer); err != nil {
			return err
		}
		buffer = buffer[:0]
	}
	for _, v := range values {
		buffer = binary.LittleEndian.AppendUint64(buffer, v)
	}
	b.buffers[bucket] = buffer
	return nil
}

func (b *buckets) path(bucket int) string {
	return filepath.Join(b.dir, fmt.Sprintf("%s-%d", b.name, bucket))
}

// flush opens the file for each write, so that the number of buckets is not limited by that of open files.
func (b *buckets) flush(bucket int, data []byte) error {
	f, err := os.OpenFile(b.path(bucket), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err == nil {
		b.written[bucket] = true
		_, err = f.Write(data)
		err = cmp.Or(err, f.Close())
	}
	if err != nil {
		return fmt.Errorf("write a temporary file: %w; name another folder with --temp-dir", err)
	}
	return nil
}

// take returns the records of a bucket one after the other, and removes them.
func (b *buckets) take(bucket int) ([]uint64, error) {
	var data []byte
	if b.written[bucket] {
		var err error
		data, err = os.ReadFile(b.path(bucket))
		if err = cmp.Or(err, os.Remove(b.path(bucket))); err != nil {
			return nil, fmt.Errorf("read a temporary file: %w", err)
		}
		delete(b.written, bucket)
	}
	if bucket < len(b.buffers) {
		data = append(data, b.buffers[bucket]...)
		b.buffers[bucket] = nil
	}
	values := make([]uint64, len(data)/8)
	for i := range values {
		values[i] = binary.LittleEndian.Uint64(data[8*i:])
	}
	return values, nil
}

const (
	bands    = 8
	bandRows = 5 // values of a signature in a band
	shingle  = 4 // letters in a sequence
)

// Keys are a pair's hashes and widths for the survey. KeysOf computes them; several goroutines may do so.
type Keys struct {
	source, target           uint64 // hashes of the normalised sides
	pair                     uint64 // hash of the pair's letters, digits and symbols
	near                     [bands]uint64
	sourceWidth, targetWidth int
}

// Scratch is the memory that KeysOf works in. One goroutine may use it.
type Scratch struct{ letters []rune }

// KeysOf computes the keys of a pair. Empty sides have none.
func (s *Scratch) KeysOf(source, target string) Keys {
	source, target = corpus.Normalise(source), corpus.Normalise(target)
	k := Keys{source: hash(source), target: hash(target), sourceWidth: WidthOf(source), targetWidth: WidthOf(target)}
	var signature [bands * bandRows]uint64
	for i := range signature {
		signature[i] = math.MaxUint64
	}
	k.pair = 1
	s.side(source, &signature, &k.pair)
	k.pair = mix(k.pair)
	s.side(target, &signature, &k.pair)
	if len(source)+len(target) > 0 {
		fill(&signature)
	}
	for b := range bands {
		key := uint64(b)
		for _, v := range signature[b*bandRows : (b+1)*bandRows] {
			key = mix(key ^ v)
		}
		k.near[b] = key
	}
	return k
}

// side adds a side's letters, digits and symbols to the pair's hash, and its sequences of letters to the signature.
func (s *Scratch) side(text string, signature *[bands * bandRows]uint64, pair *uint64) {
	s.letters = s.letters[:0]
	before := ' '
	for i := 0; i < len(text); {
		r, width := utf8.DecodeRuneInString(text[i:])
		last := before
		before = r
		switch {
		case r < utf8.RuneSelf && (r|0x20 >= 'a' && r|0x20 <= 'z') || r >= utf8.RuneSelf && unicode.IsLetter(r):
			r = surface.Fold(text[i : i+width])
		case !surface.IsDigit(r):
			i += width
			if next, _ := utf8.DecodeRuneInString(text[i:]); isSign(last, r, next) {
				*pair = mix(*pair ^ uint64('−'))
			} else if isIdentity(r) || isVowelSign(r) {
				*pair = mix(*pair ^ uint64(r))
			}
			continue
		default:
			r = '0' + surface.Digit(r)
		}
		*pair = mix(*pair ^ uint64(r))
		if '0' <= r && r <= '9' {
			r = '0' // numbers count as equal in a signature
		}
		s.letters = append(s.letters, r)
		i += width
	}
	for i := range s.letters {
		if i > 0 && i+shingle > len(s.letters) {
			break
		}
		base := uint64(0)
		for _, r := range s.letters[i:min(len(s.letters), i+shingle)] {
			base = base<<21 ^ base>>43 ^ uint64(r)
		}
		base = mix(base)
		// One permutation divided into bins, each of which gives a value of the signature (Li et al., "One permutation
		// hashing", 2012).
		bin := base % uint64(len(signature))
		signature[bin] = min(signature[bin], base)
	}
}

// isIdentity reports whether texts that differ in a symbol say different things: C++ and C#, x < y and x > y, emoji.
// Accents that stand alone, bars and bullets are as punctuation.
func isIdentity(r rune) bool {
	switch {
	case r == '#' || r == '%' || 0x1f3fb <= r && r <= 0x1f3ff: // modifiers of emoji
		return true
	case r == '|' || r == '¦' || 0x2500 <= r && r <= 0x25ff || unicode.Is(unicode.Sk, r):
		return false
	}
	return unicode.IsSymbol(r)
}

// isVowelSign reports whether a mark is part of a word's spelling, as in the scripts of India and Thailand: जाता and
// जाती. Vowel points of Hebrew, Arabic and Syriac, and dots below letters, are often left out, as accents are.
func isVowelSign(r rune) bool {
	return unicode.Is(unicode.M, r) && !strings.ContainsRune(dotsBelow, r) &&
		!unicode.In(r, unicode.Inherited, unicode.Cyrillic, unicode.Hebrew, unicode.Arabic, unicode.Syriac)
}

// dotsBelow are those of Devanagari, Bengali, Gurmukhi, Gujarati, Oriya and Kannada.
const dotsBelow = "\u093c\u09bc\u0a3c\u0abc\u0b3c\u0cbc"

// isSign reports whether a character between two others is the sign of a number.
func isSign(before, r, next rune) bool {
	return (r == '-' || r == '–' || r == '−') && surface.IsDigit(next) && !unicode.IsLetter(before) && !surface.IsDigit(before) && (before == '(' || !unicode.IsPunct(before))
}

// fill gives every bin without a sequence the value of another, which the bin's number chooses (Shrivastava, "Optimal
// densification for fast and accurate minwise hashing", 2017).
func fill(signature *[bands * bandRows]uint64) {
	filled := *signature
	for i := range signature {
		for try := uint64(i); signature[i] == math.MaxUint64 && try < 1<<20; try += uint64(len(signature)) {
			signature[i] = filled[mix(try)%uint64(len(signature))]
		}
	}
}

// mix is the finaliser of splitmix64.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// hash is FNV-1a of 64 bits, finalised.
func hash(text string) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(text) {
		h = (h ^ uint64(text[i])) * 1099511628211
	}
	return mix(h)
}
