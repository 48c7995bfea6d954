package config

import (
	"errors"
	"fmt"
	"io"

	"bitextmine/corpus"

	"bitextmine/corpus/input"
	"bitextmine/corpus/split"
	"bitextmine/encode/boundary"
	"bitextmine/internal/badinput"
	"bitextmine/pipeline/plan"
	"bitextmine/pipeline/setting"
)

// validateSplit reads the learned splitter for its digest.
func validateSplit(c *Config, fail func(format string, args ...any)) {
	switch {
	case c.Splitter == "":
		c.SplitterThreshold = 0
	case c.Split == setting.SplitOff:
		fail("splitter = %s divides records, which split = off leaves whole; leave one of them out", c.Splitter)
	default:
		var err error
		if c.learned, err = boundary.Load(c.Splitter, c.SplitterThreshold); err != nil {
			fail("%v", err)
		}
	}
	switch c.Dedup {
	case "", setting.DedupPages:
	case setting.DedupOff:
		c.Dedup = ""
	default:
		fail("dedup is %q, choose %s or %s", c.Dedup, setting.DedupPages, setting.DedupOff)
	}
	switch c.Split {
	case "", setting.SplitAuto, setting.SplitOff:
	case setting.SplitOn:
		if c.HasVectors() {
			fail("split = on divides records, of which src_emb and tgt_emb have one vector each; leave one of them out")
		}
	default:
		fail("split is %q, choose %s, %s or %s", c.Split, setting.SplitAuto, setting.SplitOn, setting.SplitOff)
	}
}

// divide decides whether the records of an input are divided into sentences, and says so in how it is cut. By itself
// only a format with columns is divided: a line of plain text that is long may be a sentence that nobody cut.
func divide(c *Config, in *plan.Input, language string, o *corpus.Options) error {
	choice := c.Split
	if choice == "" || choice == setting.SplitOff || in.Vectors != nil {
		return nil
	}
	on := choice == setting.SplitOn
	if !on {
		file := in.Source()
		file.MaxPage = c.MemoryBound() / o.PageCopies()
		format, seen, err := look(file, *o, language)
		if err != nil || !format.Pages() && !seen.Documents() {
			return unlessBad(err)
		}
		if !format.Pages() {
			in.Seen = &seen
		}
		on = format != corpus.FormatText && format != corpus.FormatBUCC
	}
	if on {
		digest := split.ShippedDigest()
		if c.learned != nil {
			digest, in.Splitter = c.learned.Digest, &plan.Splitter{Path: c.Splitter, Threshold: c.SplitterThreshold}
		}
		o.Split = corpus.SplitBy(language, digest)
	}
	return nil
}

// validateDocuments reads the known pairs of documents for their digest. Without documents its settings are of no
// meaning, and in no key.
func validateDocuments(c *Config, fail func(format string, args ...any)) {
	switch c.Documents {
	case setting.DocumentsOn:
	case "", setting.DocumentsOff:
		if c.DocPairs != "" {
			fail("doc_pairs = %s names pairs of documents, which are not looked at; say so with --documents on", c.DocPairs)
		}
		if c.DocMeta != "" {
			fail("doc_meta = %s names metadata of documents, which are not looked at; say so with --documents on", c.DocMeta)
		}
		c.Aligning = setting.Aligning{}
		return
	default:
		fail("documents is %q, choose %s or %s", c.Documents, setting.DocumentsOn, setting.DocumentsOff)
		return
	}
	if UnnamedEncoder(c) {
		fail("documents = on aligns spans of sentences, of which src_emb and tgt_emb have no vectors; name the encoder that made them with --encoder, " +
			"or find the pairs of documents alone with mine docs --src-emb")
	}
	if c.DocPairs != "" {
		in, err := plan.DigestInput(input.File{Path: c.DocPairs})
		if err != nil {
			fail("doc_pairs: %v", err)
		}
		c.docPairs = in.SHA256
		if c.DocMeta != "" {
			fail("doc_meta = %s helps to find pairs of documents, which doc_pairs lists; leave one of them out", c.DocMeta)
		}
	}
	var err error
	if c.metaColumns, err = corpus.MetadataColumns(c.DocMeta); err != nil {
		fail("doc_meta: %v", err)
	}
}

// sideDocuments says whether the files of a side have documents, where these are paired.
type sideDocuments struct {
	some  bool   // a file may have documents of several sentences
	other string // a file that has none, and its format
}

// look decides whether a file is one document, as subtitles are, and plain text that is divided, and notes whether it
// has documents.
func (d *sideDocuments) look(in input.File, o *corpus.Options) error {
	if !o.Documents {
		d.some = true
		return nil
	}
	format := o.Format
	if format == corpus.FormatAuto {
		var err error
		if format, err = corpus.Detect(in, *o); err != nil {
			d.some = true // it may have documents once it can be read
			return unlessBad(err)
		}
	}
	o.Whole = format.Subtitles() || format == corpus.FormatText && o.Split != ""
	if o.Whole || o.Split != "" || format == corpus.FormatBUCC || format != corpus.FormatText && o.DocColumn != "" {
		d.some = true
	} else if d.other == "" {
		d.other = fmt.Sprintf("%s (%s)", in, format)
	}
	return nil
}

// check refuses a side whose files have sentences alone, before anything is computed of them.
func (d *sideDocuments) check(language string) error {
	if d.some || d.other == "" {
		return nil
	}
	return badinput.Errorf("documents = on, but the %s text has no document of two sentences: %s has records that are sentences; divide them with --split on, "+
		"by which a file of plain text is a document, name their column with --doc-column, or leave out --documents", language, d.other)
}

// unlessBad leaves a file that cannot be read to the task that cuts it, which fails or sets it aside.
func unlessBad(err error) error {
	if badinput.Is(err) {
		return nil
	}
	return err
}

// How many records are looked at, and how many bytes of text.
const (
	seenRecords = 1000
	seenBytes   = 4 << 20
)

// look divides the first records of an input, whose format it returns.
func look(in input.File, o corpus.Options, language string) (format corpus.Format, seen plan.Seen, err error) {
	splitter, err := split.For(language)
	if err != nil {
		return "", seen, err
	}
	o.MaxLineBytes, o.OnBadLine = max(o.MaxLineBytes, corpus.MaxRecordBytes), corpus.SkipBadLine
	r, err := corpus.Open(in, o)
	if err != nil {
		return "", seen, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	var found []split.Sentence
	for bytes := 0; seen.Records < seenRecords && bytes < seenBytes && !r.Format().Pages(); {
		s, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return "", seen, err
		}
		bytes += len(s.Text)
		seen.Records++
		if corpus.HTMLRecord(s.Normal) {
			seen.HTML++
			continue
		}
		found = splitter.Append(found[:0], s.Text, split.Options{})
		seen.Sentences += len(found)
		if len(found) > 1 {
			seen.Several++
		}
	}
	return r.Format(), seen, nil
}
