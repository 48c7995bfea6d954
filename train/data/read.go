package data

import (
	"context"
	"errors"
	"iter"
	"strings"
	"unicode/utf8"

	"bitextmine/align/word"
	"bitextmine/bitext/exchange"
	"bitextmine/corpus"
	"bitextmine/corpus/input"
	"bitextmine/internal/badinput"
	"bitextmine/train/words"
)

// Pair is a pair of sentences, both in corpus.Normalise's form and not empty.
type Pair struct {
	Source, Target                 string
	SourceLanguage, TargetLanguage string // corpus.ParseLanguage's names
	// links between words that Source.Alignments gives; nil if it gives none
	Links []word.Link

	keys [2]corpus.Key // keys of both sides, once the reader has taken the pair
}

// Among reports whether the key of a side of a pair is among the keys.
func Among(keys map[corpus.Key]struct{}, pair [2]corpus.Key) bool {
	_, source := keys[pair[0]]
	_, target := keys[pair[1]]
	return source || target
}

// Pairs yields every pair of the sources once, in their order, and counts in stats what it drops; an error ends it. A
// source that gives no pair is an error: it is one-sided, or its conditions are mistaken.
func Pairs(ctx context.Context, c Config, stats *Stats) iter.Seq2[Pair, error] {
	return func(yield func(Pair, error) bool) {
		if err := c.Validate(); err != nil {
			yield(Pair{}, err)
			return
		}
		heldOut, err := ReadHeldOut(ctx, c.Exclude)
		if err != nil {
			yield(Pair{}, err)
			return
		}
		stats.HeldOut = len(heldOut)
		r := reader{stats: stats, heldOut: heldOut, seen: map[corpus.Key]struct{}{}, languages: map[string]string{},
			split: c.words().Split, yield: yield}
		for _, s := range c.Sources {
			err := r.source(ctx, s)
			if errors.Is(err, errStopped) {
				return
			}
			if err != nil {
				yield(Pair{}, err)
				return
			}
		}
	}
}

// Sentences yields both sides of every pair, for training a vocabulary.
func Sentences(ctx context.Context, c Config) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		var stats Stats
		for p, err := range Pairs(ctx, c, &stats) {
			if err != nil {
				yield("", err)
				return
			}
			if !yield(p.Source, nil) || !yield(p.Target, nil) {
				return
			}
		}
	}
}

// errStopped ends the reading when the caller wants no more pairs.
var errStopped = errors.New("stopped")

// reader is one pass over all sources.
type reader struct {
	stats     *Stats
	file      *FileStats // the file being read
	heldOut   map[corpus.Key]struct{}
	seen      map[corpus.Key]struct{}
	languages map[string]string // names of codes that were parsed
	dropSame  bool              // Source.DropSame of the source being read
	labels    *Labels           // labels of the source being read; nil if it obeys none
	split     word.Splitter
	links     *words.File // links of the file being read; nil if there are none
	yield     func(Pair, error) bool
}

// expand lists a source's files by path, or as they are named where other files belong to them one by one.
func (s *Source) expand() (files []input.File, err error) {
	if len(s.Aligned)+len(s.Alignments) == 0 {
		return input.Expand(nil, s.Files)
	}
	for _, pattern := range s.Files {
		found, err := input.Expand(nil, []string{pattern})
		if err != nil {
			return nil, err
		}
		files = append(files, found...)
	}
	return files, nil
}

// source reads one source's files.
func (r *reader) source(ctx context.Context, s Source) error {
	files, err := s.expand()
	if err != nil {
		return err
	}
	if s.Src != "" { // Validate has seen that they are languages
		s.Src, _ = corpus.ParseLanguage(s.Src)
		s.Tgt, _ = corpus.ParseLanguage(s.Tgt)
	}
	r.dropSame = s.DropSame
	if r.labels, err = openLabels(s.Labels, s.Accepted); err != nil {
		return err
	}
	if len(s.Aligned) > 0 && len(s.Aligned) != len(files) {
		return badinput.Errorf("the bitext %s is %d files but aligned names %d: name one for each",
			strings.Join(s.Files, ", "), len(files), len(s.Aligned))
	}
	if len(s.Alignments) > 0 && len(s.Alignments) != len(files) {
		return badinput.Errorf("the bitext %s is %d files but alignments names %d: name one for each",
			strings.Join(s.Files, ", "), len(files), len(s.Alignments))
	}
	first := len(r.stats.Files)
	for i, in := range files {
		r.stats.Files = append(r.stats.Files, FileStats{Path: in.Path, Licence: s.Licence})
		r.file = &r.stats.Files[len(r.stats.Files)-1]
		r.links = nil
		if len(s.Alignments) > 0 {
			if r.links, err = words.Open(s.Alignments[i]); err != nil {
				return err
			}
		}
		target := input.File{}
		if len(s.Aligned) > 0 {
			target.Path = s.Aligned[i]
		}
		if err := r.links.End(r.read(ctx, s, in, target)); err != nil {
			return err
		}
	}
	of := Stats{Files: r.stats.Files[first:]}.Total()
	if of.Kept == 0 {
		return badinput.Errorf("the bitext %s gives no pair (%s): check its columns, languages and conditions",
			strings.Join(s.Files, ", "), of)
	}
	return nil
}

// read reads a file, or two that are line-aligned.
func (r *reader) read(ctx context.Context, s Source, in, target input.File) error {
	format := s.Format
	switch {
	case target.Path != "":
		format = moses
	case format == Auto:
		format = formatOf(in.Path)
	}
	if format != Parquet && s.Src == "" {
		return badinput.Errorf("%s: its languages are not known; write src and tgt of its source", in.Path)
	}
	if format == Parquet {
		return r.parquet(ctx, s, in.Path)
	}
	return r.exchanged(ctx, s, in, target, exchange.Format(format))
}

// moses is the format of two line-aligned files.
const moses Format = "line-aligned"

// formatOf goes by the name, a compression's suffix aside.
func formatOf(file string) Format {
	if exchange.IsParquet(file) {
		return Parquet
	}
	return Format(exchange.FormatOf(file))
}

// drop counts one line.
func (r *reader) drop(why Reason) {
	r.file.Lines++
	r.file.drop(why, 1)
}

// take normalises one line's pair and hands it on, or drops it. Language codes may be in any usual form.
func (r *reader) take(source, target, sourceCode, targetCode string, links []word.Link) error {
	if !utf8.ValidString(source) || !utf8.ValidString(target) {
		r.drop(NotUTF8)
		return nil
	}
	p := Pair{Source: corpus.Normalise(source), Target: corpus.Normalise(target)}
	var err error
	if p.SourceLanguage, err = r.language(sourceCode); err != nil {
		return err
	}
	if p.TargetLanguage, err = r.language(targetCode); err != nil {
		return err
	}
	mined := p
	if why := r.refuse(&p); why != "" {
		r.drop(why)
		return nil
	}
	if corrected := p.Source != mined.Source || p.Target != mined.Target; corrected && r.links != nil {
		p.Links = []word.Link{} // none are known: those given are of the mined words
	} else if p.Links, err = r.links.Check(r.split, links, [2]string{source, target},
		[2]string{p.Source, p.Target}); err != nil {
		return err
	}
	r.file.Lines++
	r.file.Kept++
	if !r.yield(p, nil) {
		return errStopped
	}
	return nil
}

// refuse returns the reason to drop a pair; without one it remembers the pair, in the texts that a person gave it.
func (r *reader) refuse(p *Pair) Reason {
	if p.Source == "" {
		return EmptySource
	}
	if p.Target == "" {
		return EmptyTarget
	}
	if r.dropSame && p.Source == p.Target {
		return SameText
	}
	if why := r.labels.Refuse(p); why != "" {
		return why
	}
	p.keys = [2]corpus.Key{corpus.KeyOf(p.Source), corpus.KeyOf(p.Target)}
	if Among(r.heldOut, p.keys) {
		return HeldOut
	}
	a, b := p.SourceLanguage+"\x00"+string(p.keys[0][:]), p.TargetLanguage+"\x00"+string(p.keys[1][:])
	key := corpus.KeyOf(min(a, b) + max(a, b)) // the same in both directions
	if _, dup := r.seen[key]; dup {
		return Duplicate
	}
	r.seen[key] = struct{}{}
	return ""
}

func (r *reader) language(code string) (string, error) {
	if name, ok := r.languages[code]; ok {
		return name, nil
	}
	name, err := corpus.ParseLanguage(code)
	if err != nil {
		return "", badinput.Errorf("%s: %w", r.file.Path, err)
	}
	r.languages[code] = name
	return name, nil
}

// words are the settings of words, or the defaults.
func (c Config) words() words.Config {
	if c.Words == nil {
		return words.Defaults()
	}
	return *c.Words
}

// alignWords finds the words of all pairs, and the links that are not given.
func (s *Set) alignWords(ctx context.Context, o Options, given [][]word.Link) (err error) {
	settings := s.config.words()
	speller := &words.Speller{Splitter: settings.Split, Pieces: o.Pieces, Unknown: o.number(o.Tokenizer.Unknown())}
	b := words.Builder{Config: settings, Speller: speller}
	for i := range s.Len() {
		source, target := s.Texts(i)
		group := s.Groups[s.group[i]]
		b.Add(int(s.group[i]), o.wordSide(s.Languages[group.Source], source, s.source.at(i)),
			o.wordSide(s.Languages[group.Target], target, s.target.at(i)), given[i])
	}
	s.words, s.Stats.Words, err = b.Finish(ctx)
	return err
}

// wordSide is a sentence without the special tokens around its own.
func (o Options) wordSide(language, text string, ids []int32) words.Side {
	prefix, _ := o.prefix(language)
	first := len(o.BOS) + len(prefix.Tokens)
	return words.Side{Prefix: prefix.Text, Text: text, Tokens: ids[first : len(ids)-len(o.EOS)], First: first}
}
