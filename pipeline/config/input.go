package config

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"bitextmine/corpus"
	"bitextmine/corpus/input"
	"bitextmine/fixtures"
	"bitextmine/internal/badinput"
	"bitextmine/pipeline/plan"
	"bitextmine/pipeline/record"
	"bitextmine/pipeline/store"
)

// FixturesPrefix begins the name of a text that the program carries.
const FixturesPrefix = "fixtures:"

// Texts finds the input files of both languages and takes their digests.
func (c *Config) Texts() ([]plan.Language, error) {
	languages := make([]plan.Language, 2)
	common, options := commonOptions(c.Text), c.CorpusOptions()
	for l, target := range []bool{false, true} {
		language, patterns, flag := c.side(target)
		inputs, err := expand(patterns, language, flag, c.OnBadFile == SkipBadFile)
		if err != nil {
			return nil, err
		}
		vectors, err := vectorsByText(c, target)
		if err != nil {
			return nil, err
		}
		languages[l].Code = language
		var documents sideDocuments
		for _, in := range inputs {
			if in.Broken != nil {
				languages[l].Inputs = append(languages[l].Inputs, plan.Input{Path: in.Path, Bad: in.Broken.Error()})
				continue
			}
			identity, err := input.Identity(in)
			if err != nil {
				return nil, err
			}
			input, err := plan.DigestListed(in)
			if err != nil {
				return nil, err
			}
			input.Vectors = vectors[identity]
			own := options[l]
			own.Documents, own.MetaColumns = c.Documents != "", c.metaColumns[l]
			own.Dedup = c.Dedup
			if c.excluded != "" {
				input.Exclude = &plan.Exclude{Path: c.Exclude, SHA256: c.excluded, Source: c.Source, Target: c.Target, Side: l}
				own.Exclude = input.Exclude.Sentences()
			}
			own.Salvage = c.OnBadFile == SkipBadFile && own.Format == corpus.FormatAuto && corpus.NamedArchive(in.Path)
			if err := divide(c, &input, language, &own); err != nil {
				return nil, err
			}
			if err := documents.look(in, &own); err != nil {
				return nil, err
			}
			if own != common {
				input.Corpus = &own
			}
			languages[l].Inputs = append(languages[l].Inputs, input)
		}
		if err := documents.check(language); err != nil {
			return nil, err
		}
	}
	return languages, nil
}

// Inputs lists the input files of both sides, without those that are known to be bad where such are set aside.
func (c *Config) Inputs() (source, target []input.File, err error) {
	both := [2][]input.File{}
	for l, target := range []bool{false, true} {
		language, patterns, flag := c.side(target)
		files, err := expand(patterns, language, flag, c.OnBadFile == SkipBadFile)
		if err != nil {
			return nil, nil, err
		}
		both[l] = slices.DeleteFunc(files, func(f input.File) bool { return f.Broken != nil })
	}
	return both[0], both[1], nil
}

// Companions lists the files that describe those of folders, and are left out.
func (c *Config) Companions() (left []string) {
	for _, target := range []bool{false, true} {
		_, patterns, _ := c.side(target)
		left = append(left, input.Companions(nil, patterns)...)
	}
	return left
}

// expand lists the input files of one side; flag is the one that names them. If broken links are skipped, they are
// among the files.
func expand(patterns []string, language, flag string, skip bool) ([]input.File, error) {
	if len(patterns) == 0 {
		return nil, badinput.Errorf("no text is named for language %s: name files with %s, or under `corpora` in the config", language, flag)
	}
	var builtin, host []string
	for _, pattern := range patterns {
		if name, ok := strings.CutPrefix(pattern, FixturesPrefix); ok {
			builtin = append(builtin, name)
		} else {
			host = append(host, pattern)
		}
	}
	inputs, err := input.Expand(fixtures.Text, builtin)
	if err != nil {
		return nil, err
	}
	files, err := input.Find(nil, host)
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		if f.Broken != nil && !skip {
			return nil, badinput.Errorf("%w; --on-bad-file skip sets such files aside", f.Broken)
		}
	}
	return slices.Concat(inputs, files), nil
}

// Outside refuses an output or work directory that lies in one which patterns name as text: the run would read its own
// files. Hidden directories are not read.
func (c *Config) Outside(patterns []string) error {
	for _, own := range []struct{ flag, path string }{{"--out", c.Out}, {"--work", c.Work}} {
		if own.path == "" || store.Remote(own.path) {
			continue
		}
		path, err := filepath.Abs(own.path)
		if err != nil {
			return err
		}
		real, err := record.Resolved(path)
		if err != nil {
			return err
		}
		for _, spelt := range []string{path, real} {
			if pattern := reading(spelt, patterns); pattern != "" {
				return badinput.Errorf("%s %s lies in %s, which is read as text, so the run would read its own files: name a directory elsewhere",
					own.flag, own.path, pattern)
			}
		}
	}
	return nil
}

// reading returns the pattern with which a directory at a path would be read; empty: none.
func reading(path string, patterns []string) string {
	for dir := path; ; dir = filepath.Dir(dir) {
		there, missing := os.Lstat(dir)
		for _, pattern := range patterns {
			absolute, err := filepath.Abs(pattern)
			if err != nil || strings.HasPrefix(pattern, FixturesPrefix) {
				continue
			}
			if matched, err := filepath.Match(absolute, dir); err == nil && matched {
				return pattern
			}
			if named, err := os.Stat(pattern); err == nil && missing == nil && os.SameFile(there, named) {
				return pattern
			}
		}
		link := missing == nil && there.Mode()&os.ModeSymlink != 0 // those above do not follow it
		if link || dir == filepath.Dir(dir) || strings.HasPrefix(filepath.Base(dir), ".") {
			return ""
		}
	}
}
