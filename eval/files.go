package eval

import (
	"cmp"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"bitextmine/align/word"
	"bitextmine/corpus"
	"bitextmine/corpus/input"
	"bitextmine/encode/embedding"
	"bitextmine/eval/testset"
	"bitextmine/internal/badinput"
)

// ReadLinks reads a Pharaoh file. base is the number of the first word.
func ReadLinks(path string, base int) (lines [][]word.Link, err error) {
	f, err := input.OpenDecompressed(input.File{Path: path})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	r := word.NewLinkReader(f, path, base)
	for {
		links, err := r.Next()
		if errors.Is(err, io.EOF) {
			return lines, nil
		}
		if err != nil {
			return nil, err
		}
		lines = append(lines, links)
	}
}

// CompareLinks measures the alignments of one file against the gold standard of another. The bases are the numbers of
// the first word in them.
func CompareLinks(links string, linksBase int, gold string, goldBase int, tokens string) (LinkCounts, error) {
	var c LinkCounts
	a, err := ReadLinks(links, linksBase)
	if err != nil {
		return c, err
	}
	b, err := ReadLinks(gold, goldBase)
	if err != nil {
		return c, err
	}
	if len(a) != len(b) {
		return c, badinput.Errorf("%s has %d lines but the gold standard %s has %d: each needs a line for every sentence pair",
			links, len(a), gold, len(b))
	}
	if tokens != "" {
		texts, err := readTokens(tokens)
		if err == nil {
			err = errors.Join(checkLinks(tokens, texts, links, a, linksBase), checkLinks(tokens, texts, gold, b, goldBase))
		}
		if err != nil {
			return c, err
		}
	}
	for i := range a {
		c.Add(a[i], b[i])
	}
	return c, c.check(gold)
}

func (c LinkCounts) check(gold string) error {
	if c.Sure == 0 {
		return badinput.Errorf("%s has no sure link among its %d lines: it is no gold standard", gold, c.Pairs)
	}
	return nil
}

// AlignmentSet is a test set: sentence pairs that are divided into words, and their gold standard.
type AlignmentSet struct {
	Name string
	Text [][2][]string
	Gold [][]word.Link
	path string // path of the gold standard
}

const textSuffix, goldSuffix = ".src-tgt", ".gold"

// ReadAlignmentSets reads the test sets of a directory: NAME.src-tgt has a line "source ||| target" for each pair, with
// words separated by spaces, and NAME.gold the gold standard, whose first word has the number goldBase.
func ReadAlignmentSets(dir string, goldBase int) ([]AlignmentSet, error) {
	names, err := fs.Glob(os.DirFS(dir), "*"+textSuffix) // dir itself is no pattern
	if err != nil || len(names) == 0 {
		return nil, badinput.Errorf("%s has no test set of word alignment: name a directory with NAME%s and NAME%s",
			dir, textSuffix, goldSuffix)
	}
	sets := make([]AlignmentSet, len(names))
	for i, name := range names {
		if sets[i], err = readSet(filepath.Join(dir, name), goldBase); err != nil {
			return nil, err
		}
	}
	return sets, nil
}

func readSet(path string, goldBase int) (s AlignmentSet, err error) {
	base := strings.TrimSuffix(path, textSuffix)
	s = AlignmentSet{Name: filepath.Base(base), path: base + goldSuffix}
	if s.Text, err = readTokens(path); err != nil {
		return s, err
	}
	if s.Gold, err = ReadLinks(s.path, goldBase); err != nil {
		return s, err
	}
	return s, checkLinks(path, s.Text, s.path, s.Gold, goldBase)
}

// readTokens reads lines "source ||| target" of words separated by spaces.
func readTokens(path string) (texts [][2][]string, err error) {
	f, err := input.OpenDecompressed(input.File{Path: path})
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(f)
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(data)) {
		source, target, found := strings.Cut(line, "|||")
		if !found {
			return nil, badinput.Errorf("%s:%d: the line has no ||| between source and target: correct it", path,
				len(texts)+1)
		}
		texts = append(texts, [2][]string{word.Spaces.Words(source), word.Spaces.Words(target)})
	}
	return texts, nil
}

// checkLinks refuses links of a file that are not of the words of another.
func checkLinks(tokens string, texts [][2][]string, path string, lines [][]word.Link, base int) error {
	if len(lines) != len(texts) {
		return badinput.Errorf("%s has %d lines but %s has %d: each needs a line for every sentence pair", tokens,
			len(texts), path, len(lines))
	}
	for i, links := range lines {
		if err := word.CheckLinks(links, len(texts[i][0]), len(texts[i][1]), base); err != nil {
			return badinput.Errorf("%s:%d: %w in %s: align the words that the gold standard counts, or correct the line",
				path, i+1, err, tokens)
		}
	}
	return nil
}

// Measure counts an alignment of the set: links returns those of pair i.
func (s AlignmentSet) Measure(links func(i int) []word.Link) (c LinkCounts, err error) {
	for i, gold := range s.Gold {
		c.Add(links(i), gold)
	}
	return c, c.check(s.path)
}

// arranged is a side in key order. Package mine needs this order because it breaks ties by row.
type arranged struct {
	rows     embedding.Matrix // [m, dim]
	sentence []int32          // [m] the sentence in each row; the first one if several share a row
	row      []int32          // [n] the row of each sentence
	repeated []bool           // [m] true if several sentences share the row (unify only)
}

// arrange sorts a side by the key of its text, then id, then line. With unify, sentences with the same text share a
// row.
func arrange(v testset.EncodedSide, unify bool) arranged {
	n := len(v.Texts)
	keys := make([]corpus.Key, n)
	order := make([]int32, n)
	for i, text := range v.Texts {
		keys[i], order[i] = corpus.KeyOf(text), int32(i)
	}
	slices.SortFunc(order, func(a, b int32) int {
		if c := keys[a].Compare(keys[b]); c != 0 {
			return c
		}
		if v.IDs != nil {
			if c := strings.Compare(v.IDs[a], v.IDs[b]); c != 0 {
				return c
			}
		}
		return cmp.Compare(a, b)
	})
	out := arranged{row: make([]int32, n)}
	for i, s := range order {
		if unify && i > 0 && v.Texts[s] == v.Texts[order[i-1]] {
			out.repeated[len(out.repeated)-1] = true
		} else {
			out.sentence = append(out.sentence, s)
			out.repeated = append(out.repeated, false)
		}
		out.row[s] = int32(len(out.sentence) - 1)
	}
	out.rows = testset.Gather(v.Rows, out.sentence)
	return out
}
