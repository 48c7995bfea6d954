package testset

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"bitextmine/corpus"
	"bitextmine/corpus/input"
	"bitextmine/internal/badinput"
)

// Names of halves. BUCC's own files say "training". The sample is a third, small half that is used only if there is no
// other.
const (
	Train  = "train"
	Test   = "test"
	Sample = "sample"
)

var halfNames = map[string]string{"train": Train, "training": Train, "test": Test, "sample": Sample}

// BUCCFiles names the files of one half. Gold is empty if there is no gold file (BUCC's own test half).
type BUCCFiles struct {
	Half, Source, Target, Gold string
}

// BUCCPairs finds the language pairs into target of the sets in dir or in its folders, in order of their names.
func BUCCPairs(dir, target string) (pairs []LanguagePair, err error) {
	target, err = corpus.ParseLanguage(target)
	if err != nil {
		return nil, err
	}
	for _, pattern := range []string{"*.gold*", "*/*.gold*"} {
		files, err := fs.Glob(os.DirFS(dir), pattern) // dir itself is no pattern
		if err != nil {
			return nil, err
		}
		for _, file := range files {
			name, _, _ := strings.Cut(path.Base(file), ".")
			if pair, ok := pairOf(name); ok && filepath.Ext(uncompressed(file)) == ".gold" && pair.Target == target && !slices.Contains(pairs, pair) {
				pairs = append(pairs, pair)
			}
		}
	}
	slices.SortFunc(pairs, func(a, b LanguagePair) int { return strings.Compare(a.Source, b.Source) })
	if len(pairs) == 0 {
		return nil, badinput.Errorf("%s has no BUCC set into %s: it needs files such as de-%s.train.de, de-%s.train.%s and de-%s.train.gold", dir, target, target, target, target, target)
	}
	return pairs, nil
}

// FindBUCC finds the halves of a pair in dir or dir/PAIR: files PAIR.HALF.LANGUAGE and PAIR.HALF.gold, with any of the
// usual language codes, compressed or not. The train half is first.
func FindBUCC(dir string, pair LanguagePair) ([]BUCCFiles, error) {
	halves := make(map[string]*BUCCFiles)
	dirs := []string{dir}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, badinput.Errorf("open the BUCC set: %w", err)
	}
	for _, e := range entries {
		if found, ok := pairOf(e.Name()); !ok || found != pair {
			continue
		}
		path := filepath.Join(dir, e.Name())
		if info, err := os.Stat(path); err == nil && info.IsDir() { // or a link to one
			dirs = append(dirs, path)
		}
	}
	for _, d := range dirs {
		if err := collectBUCC(d, pair, halves); err != nil {
			return nil, err
		}
	}
	var out []BUCCFiles
	for _, name := range []string{Train, Test, Sample} {
		if h := halves[name]; h != nil && h.Source != "" && h.Target != "" && (name != Sample || len(out) == 0) {
			out = append(out, *h)
		}
	}
	if len(out) == 0 {
		return nil, badinput.Errorf("%s has no BUCC set of %s: it needs %s.train.%s, %s.train.%s and %s.train.gold",
			dir, pair, pair, pair.Source, pair, pair.Target, pair)
	}
	return out, nil
}

func collectBUCC(dir string, pair LanguagePair, halves map[string]*BUCCFiles) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return badinput.Errorf("open the BUCC set: %w", err)
	}
	for _, e := range entries {
		parts := strings.Split(uncompressed(e.Name()), ".")
		if len(parts) != 3 {
			continue
		}
		found, ok := pairOf(parts[0])
		half := halfNames[parts[1]]
		if !ok || found != pair || half == "" {
			continue
		}
		if halves[half] == nil {
			halves[half] = &BUCCFiles{Half: half}
		}
		field := &halves[half].Gold
		switch {
		case sameLanguage(parts[2], pair.Source):
			field = &halves[half].Source
		case sameLanguage(parts[2], pair.Target):
			field = &halves[half].Target
		case parts[2] != "gold":
			continue
		}
		path := filepath.Join(dir, e.Name())
		if *field != "" {
			return badinput.Errorf("%s and %s are the same part of the BUCC set %s: remove one", *field, path, pair)
		}
		*field = path
	}
	return nil
}

var compressions = []string{".gz", ".zst", ".bz2", ".xz"}

// uncompressed returns a file name without the suffix of its compression.
func uncompressed(name string) string {
	if ext := filepath.Ext(name); slices.Contains(compressions, ext) {
		return strings.TrimSuffix(name, ext)
	}
	return name
}

// isPacked reports whether a file is the compressed copy of one beside it, so that it is no set of its own.
func isPacked(path string) bool {
	name := uncompressed(path)
	for _, ending := range append([]string{""}, compressions...) {
		if other := name + ending; other == path {
			break
		} else if _, err := os.Stat(other); err == nil {
			return true
		}
	}
	return false
}

// ReadBUCC reads the texts and the gold of a half: distinct pairs of sentences.
func ReadBUCC(files BUCCFiles, pair LanguagePair) (source, target Side, gold [][2]int32, err error) {
	if source, err = readSide(files.Source, pair.Source, true); err != nil {
		return source, target, nil, fmt.Errorf("read BUCC text: %w", err)
	}
	if target, err = readSide(files.Target, pair.Target, true); err != nil {
		return source, target, nil, fmt.Errorf("read BUCC text: %w", err)
	}
	gold, err = readGoldRows(files.Gold, source, target)
	return source, target, gold, err
}

// IDs names a pair by its sentences' ids.
type IDs struct{ Source, Target string }

// ReadGold reads known pairs, `source-id<TAB>target-id` a line. A file without pairs, an empty line before the last
// pair or a pair named twice is a badinput error; name is for messages.
func ReadGold(r io.Reader, name string) ([]IDs, error) {
	var gold []IDs
	seen := map[IDs]bool{}
	lines := bufio.NewScanner(r)
	blank := 0 // the first empty line
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSuffix(lines.Text(), "\r")
		if n == 1 {
			line = strings.TrimPrefix(line, "\ufeff")
		}
		if line == "" && blank == 0 {
			blank = n
		}
		if line == "" {
			continue
		}
		if blank > 0 {
			return nil, badinput.Errorf("%s:%d: the line is empty; remove it", name, blank)
		}
		source, target, ok := strings.Cut(line, "\t")
		if !ok || source == "" || target == "" || strings.Contains(target, "\t") {
			return nil, badinput.Errorf("%s:%d: not source-id<TAB>target-id; correct the line", name, n)
		}
		pair := IDs{source, target}
		if seen[pair] {
			return nil, badinput.Errorf("%s:%d: the pair %s %s occurs twice; remove one", name, n, source, target)
		}
		seen[pair] = true
		gold = append(gold, pair)
	}
	if err := lines.Err(); err != nil {
		return nil, badinput.Errorf("read %s: %w", name, err)
	}
	if len(gold) == 0 {
		return nil, badinput.Errorf("%s has no pairs; give lines of source-id<TAB>target-id", name)
	}
	return gold, nil
}

// Gold is known pairs of a corpus. Pairs of the same texts are one pair: mining names a text that occurs several times
// by its first id.
type Gold struct {
	pairs map[IDs]bool         // IDs as given, and the first ids in gold that have the same texts
	first [2]map[string]string // first id in gold of each text, by side
	n     int
}

// Len is the number of known pairs.
func (g *Gold) Len() int { return g.n }

// Has reports whether a pair of sentences, with their ids and normalised texts, is known: by these ids, or by those of
// sentences with the same texts.
func (g *Gold) Has(ids IDs, source, target string) bool {
	same := IDs{cmp.Or(g.first[0][source], ids.Source), cmp.Or(g.first[1][target], ids.Target)}
	return g.pairs[ids] || g.pairs[same]
}

// shortened names a few files.
func shortened(files []input.File) string {
	const most = 3
	var names []string
	for _, file := range files[:min(most, len(files))] {
		names = append(names, file.String())
	}
	named := strings.Join(names, ", ")
	if len(files) > most {
		named += fmt.Sprintf(" and %d more files", len(files)-most)
	}
	return named
}

// CheckGold looks every id of gold up in the texts of its side, which are read by its options. As many may be missing
// as records cannot be read (not UTF-8, too long, empty): their pairs are not found. More are a badinput error. name is
// the name of gold's file.
func CheckGold(gold []IDs, name string, source, target []input.File, opts [2]corpus.Options) (*Gold, error) {
	g := &Gold{pairs: map[IDs]bool{}, first: [2]map[string]string{{}, {}}}
	firstOf := [2]map[string]string{{}, {}} // every id, and the first one with its text, once a sentence with it is found
	for _, pair := range gold {
		firstOf[0][pair.Source], firstOf[1][pair.Target], g.pairs[pair] = "", "", true
	}
	var skipped [2]uint64
	for i, inputs := range [][]input.File{source, target} {
		for _, in := range inputs {
			n, err := g.read(i, in, opts[i], firstOf[i])
			if err != nil {
				return nil, err
			}
			skipped[i] += n
		}
	}
	var missing [2]uint64
	distinct := map[IDs]bool{}
	for _, pair := range gold {
		for i, id := range []string{pair.Source, pair.Target} {
			if firstOf[i][id] != "" {
				continue
			}
			firstOf[i][id] = id
			if missing[i]++; missing[i] > skipped[i] {
				return nil, badinput.Errorf(
					"gold file %s names %q, but no sentence of %v has that id; give texts with ids (id<TAB>sentence, or a document column) or another gold file",
					name, id, shortened([][]input.File{source, target}[i]))
			}
		}
		first := IDs{firstOf[0][pair.Source], firstOf[1][pair.Target]}
		distinct[first], g.pairs[first] = true, true
	}
	g.n = len(distinct)
	return g, nil
}

// read notes the first id of every sentence of a file whose id firstOf has, and returns how many records the file has
// that cannot be read.
func (g *Gold) read(side int, in input.File, opts corpus.Options, firstOf map[string]string) (skipped uint64, err error) {
	r, err := corpus.Open(in, opts)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	for sentence, err := range r.All() {
		if err != nil {
			return 0, err
		}
		id, text := sentence.Doc, sentence.Normal
		before, known := firstOf[id]
		if !known {
			continue
		}
		if g.first[side][text] == "" {
			g.first[side][text] = id
		}
		if firstOf[id] = g.first[side][text]; before != "" { // a document's
			firstOf[id] = id
		}
	}
	for _, n := range r.Counts().Skipped {
		skipped += n
	}
	return skipped, nil
}
