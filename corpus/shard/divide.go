package shard

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"bitextmine/corpus"

	"bitextmine/corpus/input"
	"bitextmine/corpus/split"
	"bitextmine/internal/badinput"
)

// sentences yields the sentences of an input: its records, or what the rules of a language divide them into.
type sentences struct {
	in       *corpus.Reader
	name     string
	opts     corpus.Options
	splitter split.Divider   // nil: a record is a sentence
	record   corpus.Sentence // record that is being divided
	found    []split.Sentence
	at       int
	counts   corpus.Counts // counts of divided records; Lines counts their sentences
	site     *Site         // pages that were read before; nil: none are remembered
}

// sentence is a sentence with its place in a record that was divided; nil: the record is the sentence.
type sentence struct {
	corpus.Sentence
	Place *corpus.Place
}

// openSentences opens an input as opts says. A learned splitter, if there is one, takes the place of the rules.
func openSentences(in input.File, opts corpus.Options, learned Learned) (*sentences, error) {
	s := &sentences{name: in.String(), opts: opts}
	read := opts
	if opts.Split != "" {
		digest := split.ShippedDigest()
		if learned != nil {
			digest, s.splitter = learned.Digest(), learned
		}
		if opts.Split != corpus.SplitBy(opts.SplitLanguage(), digest) {
			return nil, fmt.Errorf(
				"%s was to be divided by rules of another version of the program, or another splitter; plan again", in)
		}
		if learned == nil {
			rules, err := split.For(opts.SplitLanguage())
			if err != nil {
				return nil, err
			}
			s.splitter = rules
		}
		read.MaxLineBytes = max(read.MaxLineBytes, corpus.MaxRecordBytes)
	}
	var err error
	s.in, err = corpus.Open(in, read)
	return s, err
}

// next returns the next usable sentence, or io.EOF after the last.
func (s *sentences) next(ctx context.Context) (sentence, error) {
	for {
		if s.splitter == nil {
			one, err := s.in.NextContext(ctx)
			return sentence{one, nil}, err
		}
		if s.at == len(s.found) {
			if err := s.divide(ctx); err != nil {
				return sentence{}, err
			}
			continue
		}
		x := s.found[s.at]
		s.at++
		s.counts.Lines++
		one := s.record
		one.Text = s.record.Text[x.Start:x.End]
		one.Normal = corpus.Normalise(one.Text)
		switch {
		case one.Normal == "": // invisible characters alone
			s.counts.Skip(one.Line, corpus.ReasonEmpty, "")
		case len(one.Text) > s.opts.MaxLineBytes:
			if err := s.skip(corpus.ReasonTooLong, fmt.Sprintf("a sentence of %d bytes, at most %d are read",
				len(one.Text), s.opts.MaxLineBytes)); err != nil {
				return sentence{}, err
			}
		default:
			place := &corpus.Place{Paragraph: uint32(x.Paragraph), Position: uint32(x.Position), Start: uint32(x.Start),
				End: uint32(x.End)}
			return sentence{one, place}, nil
		}
	}
}

// divide reads the next record that is no HTML.
func (s *sentences) divide(ctx context.Context) (err error) {
	s.found, s.at = s.found[:0], 0
	if s.record, err = s.in.NextContext(ctx); err != nil {
		if errors.Is(err, io.EOF) && s.counts.Lines == s.counts.SkippedTotal() &&
			s.counts.Skipped[corpus.ReasonNearCopy] == 0 && s.counts.LeftOut == nil {
			html, tooLong := s.counts.Skipped[corpus.ReasonHTML], s.counts.Skipped[corpus.ReasonTooLong]
			if html == 0 && tooLong > 0 {
				return badinput.Errorf("%s: each of its %d sentences has more than %d bytes: raise --max-line-bytes, or divide it with --splitter",
					s.name, tooLong, s.opts.MaxLineBytes)
			}
			err = badinput.Errorf(
				"%s: none of its %d records has a sentence (%d are HTML); extract their text, or leave the file out",
				s.name, s.in.Counts().Lines, html)
		}
		return err
	}
	pages := s.in.Format().Pages()
	if !pages && corpus.HTMLRecord(s.record.Normal) {
		s.counts.Lines++
		return s.skip(corpus.ReasonHTML, "HTML: extract its text")
	}
	if s.site != nil && s.opts.Dedup == corpus.DedupPages && s.site.pages.add(s.record.Text) {
		s.counts.Lines++
		s.counts.Skip(s.record.Line, corpus.ReasonNearCopy, "")
		return nil
	}
	if s.site != nil && pages {
		var left int
		s.record.Text, left = s.site.Strip(s.record.URL, s.record.Text)
		s.counts.Leave(corpus.LeftBoilerplate, left)
	}
	s.found, err = s.splitter.Divide(ctx, s.found, s.record.Text, split.Options{})
	return err
}

// skip counts what cannot be used of the record.
func (s *sentences) skip(reason corpus.Reason, detail string) error {
	s.counts.Skip(s.record.Line, reason, detail)
	if s.opts.OnBadLine == corpus.FailBadLine {
		return badinput.Errorf("%s:%d: %s (%s); correct the record or remove it", s.name, s.record.Line, reason, detail)
	}
	return nil
}

// total returns the counts of the lines, or of the sentences of divided records, so far.
func (s *sentences) total() corpus.Counts {
	read := s.in.Counts()
	if s.splitter == nil {
		return read
	}
	all := corpus.Counts{Lines: read.SkippedTotal(), Records: read.Lines, Tabbed: read.Tabbed, Skipped: read.Skipped, LeftOut: read.LeftOut,
		Examples: slices.Concat(read.Examples, s.counts.Examples)}
	all.Add(s.counts)
	return all
}
