package data

import (
	"context"

	"bitextmine/align/word"
	"bitextmine/train/words"
)

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
