package testset

import (
	"errors"
	"os"
	"strings"
	"unicode"

	"bitextmine/corpus"
	"bitextmine/corpus/input"
	"bitextmine/internal/badinput"
)

// Side is the sentences of one language of a test set.
type Side struct {
	Language string
	IDs      []string // unique, [n]; nil if sentences are identified by line
	Texts    []string // stripped, [n]
}

// strip is Python's str.strip. The reference programs compare stripped texts.
func strip(text string) string {
	return strings.TrimFunc(text, func(r rune) bool { return unicode.IsSpace(r) || r >= 0x1c && r <= 0x1f })
}

// readSide reads a file of one sentence per line or, with ids, of id<TAB>sentence, in any compression that corpus
// reads. Line numbers identify sentences here, so a line without a sentence is an error.
func readSide(path, language string, ids bool) (Side, error) {
	opts := corpus.DefaultOptions()
	opts.Format, opts.OnBadLine = corpus.FormatText, corpus.FailBadLine
	if ids {
		opts.Format = corpus.FormatBUCC
	}
	side := Side{Language: language}
	line := make(map[string]uint64)
	next := uint64(0)
	for s, err := range corpus.Sentences(input.File{Path: path}, opts) {
		if err != nil {
			return Side{}, err
		}
		if next++; s.Line != next {
			return Side{}, badinput.Errorf(
				"%s:%d: the line is empty, but sentences are paired by line number: put the sentence there", path, next)
		}
		side.Texts = append(side.Texts, strip(s.Text))
		if ids {
			if first, ok := line[s.Doc]; ok {
				return Side{}, badinput.Errorf("%s:%d: the id %s is already in line %d: ids must be unique", path,
					s.Line, s.Doc, first)
			}
			line[s.Doc] = s.Line
			side.IDs = append(side.IDs, s.Doc)
		}
	}
	return side, nil
}

// readGoldRows reads a gold file and looks up its ids on both sides.
func readGoldRows(path string, source, target Side) (_ [][2]int32, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, badinput.Errorf("open gold: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	pairs, err := ReadGold(f, path)
	if err != nil {
		return nil, err
	}
	rowOf := func(side Side) map[string]int32 {
		rows := make(map[string]int32, len(side.IDs))
		for i, id := range side.IDs {
			rows[id] = int32(i)
		}
		return rows
	}
	sources, targets := rowOf(source), rowOf(target)
	gold := make([][2]int32, len(pairs))
	for i, pair := range pairs {
		s, okS := sources[pair.Source]
		t, okT := targets[pair.Target]
		if !okS || !okT {
			id, language := pair.Source, source.Language
			if okS {
				id, language = pair.Target, target.Language
			}
			return nil, badinput.Errorf(
				"%s:%d: no %s sentence has the id %s: give gold and text of the same set, source ids first",
				path, i+1, language, id)
		}
		gold[i] = [2]int32{s, t}
	}
	return gold, nil
}
