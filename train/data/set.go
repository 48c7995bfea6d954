package data

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"bitextmine/align/word"
	"bitextmine/corpus"
	"bitextmine/encode/model"
	"bitextmine/encode/tokenizer"
	"bitextmine/internal/badinput"
	"bitextmine/train/words"
)

// Tokenizer splits texts into ids. sentencepiece.Model and wordpiece.Model implement it. It is called from many
// goroutines.
type Tokenizer interface {
	// Encode calls yield once for every text, in order, with its ids truncated to the first maxIDs. yield must not
	// retain the slice.
	Encode(texts []string, maxIDs int, yield func(i int, ids []int32)) error
	// Unknown is the id for a text without any other id.
	Unknown() int32
}

// Options define how text becomes the ids that a model reads. They must agree with the exported manifest.
type Options struct {
	Tokenizer Tokenizer
	Lowercase bool              // the same as tokenizer.lowercase in the manifest
	Number    func(int32) int32 // maps a tokenizer's id to the model's; nil means no change
	BOS, EOS  []int32           // the model's ids before and after every sentence, at most one each
	// the text or tokens between BOS and a sentence's own ids, by language or for model.AnyLanguage. If there are
	// prefixes, every language must have one
	Prefixes map[string]model.Prefix
	Texts    bool // store the texts for Side.Texts
	// spelling of each token, with which the words of pairs are found for Batch.Words; needs Texts. nil: no words
	Pieces []string
	// Watched are keys of sentences whose pairs are counted, such as those of dev sets.
	Watched map[corpus.Key]struct{}
}

// number converts a tokenizer's id to the model's.
func (o Options) number(id int32) int32 {
	if o.Number == nil {
		return id
	}
	return o.Number(id)
}

// prefix returns a language's prefix, and whether it has one, as the exported manifest does.
func (o Options) prefix(language string) (model.Prefix, bool) {
	p, err := model.Manifest{Prefixes: o.Prefixes}.Prefix(language)
	return p, err == nil
}

// specials is the number of ids of a sentence that are not its text's own. A prefix that is text is a part of it.
func (o Options) specials(language string) int {
	prefix, _ := o.prefix(language)
	return len(o.BOS) + len(prefix.Tokens) + len(o.EOS)
}

// LanguagePair is a pair of languages in a Set.
type LanguagePair struct {
	Source, Target uint16 // indices in Set.Languages
	Pairs          int
}

// Set is bitext as ids. It does not change after it was read, so any number of goroutines may use it.
type Set struct {
	Languages []string       // ordered by their first occurrence
	Groups    []LanguagePair // ordered by their first occurrence
	Stats     Stats

	config         Config
	source, target side
	group          []uint16     // [pairs], indices in Groups
	words          []words.Pair // [pairs]; nil without Options.Pieces
}

// side is one side of all pairs in one slice.
type side struct {
	ids      []int32
	ends     []int64 // [pairs], in ids
	text     []byte
	textEnds []int64 // [pairs], in text; nil without texts
	blank    []int   // indices of texts without tokens
}

func (s *side) at(i int) []int32 { return s.ids[begin(s.ends, i):s.ends[i]] }

func (s *side) textAt(i int) string { return string(s.text[begin(s.textEnds, i):s.textEnds[i]]) }

func begin(ends []int64, i int) int64 {
	if i == 0 {
		return 0
	}
	return ends[i-1]
}

// Len is the number of pairs.
func (s *Set) Len() int { return len(s.group) }

// Source returns the ids of a pair's source, including special ids. They must not be changed.
func (s *Set) Source(i int) []int32 { return s.source.at(i) }

// Target returns the ids of a pair's target, like Source.
func (s *Set) Target(i int) []int32 { return s.target.at(i) }

// Group is the index in Groups of a pair's languages.
func (s *Set) Group(i int) int { return int(s.group[i]) }

// Texts returns a pair's texts in corpus.Normalise's form. Options.Texts must be set.
func (s *Set) Texts(i int) (source, target string) { return s.source.textAt(i), s.target.textAt(i) }

// window is the number of pairs that are tokenised at a time: enough for all cores.
const window = 1 << 14

// Read reads and tokenises the sources. Bad input is a badinput error that names the file.
func Read(ctx context.Context, c Config, o Options) (*Set, error) {
	set := &Set{config: c}
	b := builder{set: set, options: o, maxIDs: c.MaxTokens, languages: map[string]uint16{},
		groups: map[[2]uint16]uint16{}}
	for p, err := range Pairs(ctx, c, &set.Stats) {
		if err != nil {
			return nil, err
		}
		if len(o.Watched) > 0 && Among(o.Watched, p.keys) {
			set.Stats.Watched++
		}
		if b.pairs = append(b.pairs, p); len(b.pairs) == window {
			if err := b.flush(); err != nil {
				return nil, err
			}
		}
	}
	if err := b.flush(); err != nil {
		return nil, err
	}
	if set.Len() > math.MaxInt32 {
		return nil, badinput.Errorf("the bitext has %d pairs, more than %d: name fewer files", set.Len(), math.MaxInt32)
	}
	if o.Pieces == nil {
		return set, nil
	}
	return set, set.alignWords(ctx, o, b.links)
}

// builder appends pairs to a set.
type builder struct {
	set       *Set
	options   Options
	maxIDs    int
	languages map[string]uint16
	groups    map[[2]uint16]uint16
	pairs     []Pair        // the window
	window    []uint16      // its groups
	links     [][]word.Link // links of every pair so far; kept only with Options.Pieces
}

// flush tokenises the window on all cores and appends the pairs that have tokens.
func (b *builder) flush() error {
	if len(b.pairs) == 0 {
		return nil
	}
	if err := b.name(); err != nil {
		return err
	}
	n, workers := len(b.pairs), runtime.GOMAXPROCS(0)
	per := (n + workers - 1) / workers
	parts := make([]struct {
		source, target side
		cut            uint64
	}, workers)
	var group errgroup.Group
	for w := range workers {
		lo, hi := min(n, w*per), min(n, (w+1)*per)
		group.Go(func() error {
			p := &parts[w]
			return sides(&p.source, &p.target, b.options, b.maxIDs, b.pairs[lo:hi], &p.cut)
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	row := 0
	for _, p := range parts {
		b.set.Stats.Cut += p.cut
		for i := range p.source.ends {
			pair, g := b.pairs[row], b.window[row]
			if row++; slices.Contains(p.source.blank, i) || slices.Contains(p.target.blank, i) {
				b.set.Stats.Blank++
				continue
			}
			b.set.source.add(&p.source, i)
			b.set.target.add(&p.target, i)
			b.set.Groups[g].Pairs++
			b.set.group = append(b.set.group, g)
			if b.options.Pieces != nil {
				b.links = append(b.links, pair.Links)
			}
		}
	}
	b.pairs = b.pairs[:0]
	return nil
}

// name finds the groups of the window's pairs.
func (b *builder) name() error {
	b.window = b.window[:0]
	for _, p := range b.pairs {
		source, err := b.language(p.SourceLanguage)
		if err != nil {
			return err
		}
		target, err := b.language(p.TargetLanguage)
		if err != nil {
			return err
		}
		key := [2]uint16{source, target}
		g, ok := b.groups[key]
		if !ok {
			g = uint16(len(b.set.Groups))
			b.groups[key] = g
			b.set.Groups = append(b.set.Groups, LanguagePair{Source: source, Target: target})
		}
		b.window = append(b.window, g)
	}
	return nil
}

func (b *builder) language(name string) (uint16, error) {
	if at, ok := b.languages[name]; ok {
		return at, nil
	}
	if _, ok := b.options.prefix(name); !ok {
		return 0, badinput.Errorf("language %s of the bitext has no prefix: add it to prefixes, or %q for all that are not listed", name, model.AnyLanguage)
	}
	if special := b.options.specials(name); special >= b.maxIDs {
		return 0, badinput.Errorf("bitext.max_tokens is %d, which leaves no room for text beside %d special tokens of %s: raise it", b.maxIDs, special, name)
	}
	at := uint16(len(b.languages))
	b.languages[name] = at
	b.set.Languages = append(b.set.Languages, name)
	return at, nil
}

// sides tokenises both sides of pairs.
func sides(source, target *side, o Options, maxIDs int, pairs []Pair, cut *uint64) error {
	texts, languages := make([]string, len(pairs)), make([]string, len(pairs))
	for i, p := range pairs {
		texts[i], languages[i] = p.Source, p.SourceLanguage
	}
	if err := source.tokenize(o, maxIDs, texts, languages, cut); err != nil {
		return err
	}
	for i, p := range pairs {
		texts[i], languages[i] = p.Target, p.TargetLanguage
	}
	return target.tokenize(o, maxIDs, texts, languages, cut)
}

// tokenize appends texts in the form that encode gives to a graph: BOS, prefix, the text's own ids truncated to what
// maxIDs leaves, EOS. texts is overwritten.
func (s *side) tokenize(o Options, maxIDs int, texts, languages []string, cut *uint64) error {
	for i, text := range texts {
		if o.Texts {
			s.text = append(s.text, text...)
			s.textEnds = append(s.textEnds, int64(len(s.text)))
		}
		prefix, ok := o.prefix(languages[i])
		if !ok { // a set's languages were checked before; this is a test set's
			return badinput.Errorf("language %s has no prefix: add it to prefixes, or %q for all that are not listed",
				languages[i], model.AnyLanguage)
		}
		if texts[i] = prefix.Text + text; o.Lowercase {
			texts[i] = tokenizer.Lowercase(texts[i])
		}
	}
	// one more than can fit, so that truncation is noticed
	err := o.Tokenizer.Encode(texts, maxIDs+1, func(i int, ids []int32) {
		if room := maxIDs - o.specials(languages[i]); len(ids) > room {
			ids = ids[:room]
			*cut++
		}
		prefix, _ := o.prefix(languages[i])
		s.ids = append(append(s.ids, o.BOS...), prefix.Tokens...)
		for _, id := range ids {
			s.ids = append(s.ids, o.number(id))
		}
		if len(ids) == 0 {
			s.blank = append(s.blank, i)
			s.ids = append(s.ids, o.number(o.Tokenizer.Unknown()))
		}
		s.ids = append(s.ids, o.EOS...)
		s.ends = append(s.ends, int64(len(s.ids)))
	})
	if err != nil {
		return fmt.Errorf("tokenise the bitext: %w", err)
	}
	return nil
}

// add appends a sentence of another side.
func (s *side) add(o *side, i int) {
	s.ids = append(s.ids, o.at(i)...)
	s.ends = append(s.ends, int64(len(s.ids)))
	if o.textEnds != nil {
		s.text = append(s.text, o.textAt(i)...)
		s.textEnds = append(s.textEnds, int64(len(s.text)))
	}
}

// GroupName is the printed name of a language pair, such as de-en.
func (s *Set) GroupName(g int) string {
	return s.Languages[s.Groups[g].Source] + "-" + s.Languages[s.Groups[g].Target]
}

// Digest identifies everything that batches are made of: the ids of all sentences, their languages and words, in order.
func (s *Set) Digest() string {
	h := sha256.New()
	for _, part := range []any{s.source.ids, s.source.ends, s.target.ids, s.target.ends, s.group,
		[]byte(strings.Join(s.Languages, " "))} {
		_ = binary.Write(h, binary.LittleEndian, part) // writing to a hash cannot fail
	}
	if s.words != nil {
		_, _ = fmt.Fprint(h, s.words)
	}
	return hex.EncodeToString(h.Sum(nil))
}
