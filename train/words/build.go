package words

import (
	"context"
	"errors"
	"fmt"
	"io"

	"bitextmine/align/word"
	"bitextmine/corpus/input"
	"bitextmine/internal/badinput"
)

// Side is one side of a pair as it was tokenised.
type Side struct {
	Prefix, Text string  // the tokens spell both, one after the other
	Tokens       []int32 // special tokens are left out
	First        int     // number of special tokens before them
}

// Stats counts pairs.
type Stats struct {
	Pairs    int `json:"pairs"`    // all
	Links    int `json:"links"`    // links between words
	Unlinked int `json:"unlinked"` // pairs without a link
	Unspelt  int `json:"unspelt"`  // pairs whose tokens do not spell their text: they have no words
}

// String is a line for people.
func (s Stats) String() string {
	return fmt.Sprintf("%d links; %d of %d pairs have none, of which the tokens of %d do not spell the text", s.Links,
		s.Unlinked, s.Pairs, s.Unspelt)
}

// Builder makes the words of pairs. Pairs without given links are aligned by package align/word, those of each group
// together.
type Builder struct {
	Config  Config
	Speller *Speller

	all    []unlinked
	groups map[int]*word.Pairs
}

// unlinked is a pair before it has links.
type unlinked struct {
	sides [2]Sentence
	spelt bool
	given []word.Link // nil if none are given
	group int         // group of a pair that is to be aligned
	place int         // index in its group
}

// Add adds a pair of a group, such as its languages. Given links must be inside its words; nil means that the pair is
// to be aligned.
func (b *Builder) Add(group int, source, target Side, given []word.Link) {
	p := unlinked{spelt: true, given: given, group: group}
	for side, s := range []Side{source, target} {
		var ok bool
		p.sides[side], ok = b.Speller.Spell(s.Prefix, s.Text, s.Tokens, s.First)
		p.spelt = p.spelt && ok
	}
	if given == nil {
		if b.groups == nil {
			b.groups = map[int]*word.Pairs{}
		}
		if b.groups[group] == nil {
			b.groups[group] = &word.Pairs{}
		}
		p.place = b.groups[group].Len()
		b.groups[group].Add(b.Config.Split.Words(source.Text), b.Config.Split.Words(target.Text))
	}
	b.all = append(b.all, p)
}

// Finish returns all pairs, in order. Without a single link it is a badinput error.
func (b *Builder) Finish(ctx context.Context) ([]Pair, *Stats, error) {
	found := map[int]*word.Alignments{}
	for group, pairs := range b.groups {
		if pairs.Empty() {
			continue
		}
		var err error
		if found[group], err = word.Align(ctx, pairs, word.DefaultOptions(), func(word.Progress) {}); err != nil {
			return nil, nil, err
		}
	}
	out, stats := make([]Pair, len(b.all)), &Stats{Pairs: len(b.all)}
	for i, p := range b.all {
		links := p.given
		if links == nil && found[p.group] != nil {
			links = found[p.group].Of(p.place, b.Config.Symmetry)
		}
		if p.spelt {
			out[i] = Join(p.sides[0], p.sides[1], links, b.Config.MinScore)
		} else {
			stats.Unspelt++
		}
		if stats.Links += len(out[i].Links); len(out[i].Links) == 0 {
			stats.Unlinked++
		}
	}
	if stats.Links == 0 {
		return nil, stats, badinput.Errorf("none of the %d pairs of the bitext has words that are linked with a score of at least %v: lower bitext.words.min_score, or give other alignments",
			stats.Pairs, b.Config.MinScore)
	}
	return out, stats, nil
}

// File is the links beside a file of pairs: a line for each line, row or unit. A nil File has none.
type File struct {
	lines *word.LinkReader
	file  io.Closer
	name  string
}

// Open opens a file of links, which may be compressed. A file that cannot be opened is a badinput error, as is all that
// is wrong in it.
func Open(name string) (*File, error) {
	f, err := input.OpenDecompressed(input.File{Path: name})
	if err != nil {
		return nil, badinput.Errorf("open the word alignments: %w", err)
	}
	return &File{word.NewLinkReader(f, name, 0), f, name}, nil
}

// Next returns the links of the next line, which are not nil. A nil File returns nil.
func (f *File) Next() ([]word.Link, error) {
	if f == nil {
		return nil, nil
	}
	links, err := f.lines.Next()
	if errors.Is(err, io.EOF) {
		return nil, badinput.Errorf("%s has only %d lines, fewer than the bitext beside it: align it again", f.name,
			f.lines.Line())
	}
	if links == nil {
		links = []word.Link{}
	}
	return links, err
}

// Check returns the links of a pair that was read as raw and is now normal. Links outside its words are an error. Text
// that normalisation divides into other words, which is rare, has no links.
func (f *File) Check(split word.Splitter, links []word.Link, raw, normal [2]string) ([]word.Link, error) {
	if f == nil {
		return nil, nil
	}
	var counts [2]int
	for side := range counts {
		counts[side] = len(split.Split(nil, normal[side]))
		if split == word.Spaces && counts[side] != len(split.Split(nil, raw[side])) {
			return []word.Link{}, nil
		}
	}
	if err := word.CheckLinks(links, counts[0], counts[1], 0); err != nil {
		return nil, badinput.Errorf("%s:%d: %w: align the bitext again", f.name, f.lines.Line(), err)
	}
	return links, nil
}

// End closes the file after its bitext was read, with a result. If that is no error, the file must have no more lines.
func (f *File) End(result error) error {
	if f == nil {
		return result
	}
	if result == nil {
		if _, err := f.lines.Next(); err == nil {
			result = badinput.Errorf("%s has more than the %d lines of the bitext beside it: align it again", f.name,
				f.lines.Line()-1)
		} else if !errors.Is(err, io.EOF) {
			result = err
		}
	}
	return errors.Join(result, f.file.Close())
}
