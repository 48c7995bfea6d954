package testset

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"bitextmine/corpus"
	"bitextmine/corpus/input"
	"bitextmine/encode/embedding"
	"bitextmine/internal/badinput"
)

// Side is the sentences of one language of a test set.
type Side struct {
	Language string
	IDs      []string // unique, [n]; nil if sentences are identified by line
	Texts    []string // stripped, [n]
	// At is the place of each text among the Lines of its file, where lines may be left out; nil: none are.
	At    []int32
	Lines int
	// Negatives is the number of the last texts that are not in the file but were made for xsim++.
	Negatives int
}

// strip is Python's str.strip. The reference programs compare stripped texts.
func strip(text string) string {
	return strings.TrimFunc(text, func(r rune) bool { return unicode.IsSpace(r) || r >= 0x1c && r <= 0x1f })
}

// readSide reads a file of one sentence per line or, with ids, of id<TAB>sentence, in any compression that corpus
// reads. A line without a sentence is an error: line numbers identify sentences, or vectors in files.
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
		next++
		switch {
		case s.Line != next && ids:
			return Side{}, badinput.Errorf("%s:%d: the line has no sentence: put it there, or remove the line, "+
				"and the pairs with its id from the gold", path, next)
		case s.Line != next:
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

// readGoldRows reads a gold file, in any compression that corpus reads, and looks up its ids on both sides.
func readGoldRows(path string, source, target Side) (_ [][2]int32, err error) {
	f, err := input.OpenDecompressed(input.File{Path: path})
	if err != nil {
		return nil, fmt.Errorf("open gold: %w", err)
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

// VectorFiles reads vectors from files: .npy (float16, float32 or float64) or LASER's values without a header. Row i
// belongs to line i of the text. In the file names, {src}, {tgt}, {pair} and {half} are replaced by the short codes of
// the current pair (de, zh-Hant), {file} by the name of the text's file and {dir} by that of its folder.
type VectorFiles struct {
	Source, Target string // patterns of file names
	Dim            int    // dim of headerless files; 0 if all files are .npy
	DType          embedding.DType
	Narrow         bool
	Encoder        string // encoder that made the vectors; empty if it is not known
	Width          int    // number of values of its vectors
	MaxMemory      int64  // the bytes that vectors may take; 0: any number
}

// Name returns the encoder's name, if it is known, and the names of the files.
func (p VectorFiles) Name() string {
	files := p.Source + " and " + p.Target
	if p.Encoder == "" {
		return files
	}
	return p.Encoder + " (" + files + ")"
}

// Vectors reads a side's file and L2-normalises its rows, as the reference programs do.
func (p VectorFiles) Vectors(_ context.Context, side Side, role Role) (_ EncodedSide, err error) {
	name := p.Source
	if role.Target {
		name = p.Target
	}
	path, err := role.expand(name)
	if err != nil {
		return EncodedSide{}, err
	}
	file, err := embedding.OpenVectors(path, p.Dim, p.DType, "--emb-dim")
	if errors.Is(err, fs.ErrNotExist) {
		err = badinput.Errorf("there is no file %s: make the vectors, or correct the name %s", path, name)
	}
	if err != nil {
		return EncodedSide{}, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	if p.Encoder != "" && file.Dim != p.Width {
		return EncodedSide{}, badinput.Errorf(
			"%s has rows of %d values, and the encoder %s of %d: name the encoder that made them, or none",
			path, file.Dim, p.Encoder, p.Width)
	}
	if err := side.checkRows(file.N, path); err != nil {
		return EncodedSide{}, err
	}
	if err := fits(2*int64(file.N)*int64(file.Dim), p.MaxMemory); err != nil { // the other side is there, too
		return EncodedSide{}, fmt.Errorf("read %s: %w", path, err)
	}
	rows := make([]float32, file.N*file.Dim)
	file.Float32(rows, 0, file.N)
	if err := normaliseRows(rows, file.Dim, path); err != nil {
		return EncodedSide{}, err
	}
	m := embedding.FromFloat32(rows, file.Dim)
	if file.N != len(side.Texts) {
		m = Gather(m, side.At)
	}
	if p.Narrow {
		m = embedding.Narrow(m)
	}
	return EncodedSide{Side: side, Rows: m}, nil
}

// checkRows refuses a file with another number of rows than the side has texts, or lines.
func (s Side) checkRows(rows int, path string) error {
	n := len(s.Texts)
	switch {
	case rows == n || s.At != nil && rows == s.Lines:
		return nil
	case s.Negatives > 0:
		return badinput.Errorf("%s has %d rows but xsim++ needs %d: one for each of the %d %s sentences, in order, and then one for each of the %d "+
			"negatives, in the order in which --negatives-out writes them", path, rows, n, n-s.Negatives, s.Language, s.Negatives)
	case s.At != nil && s.Lines != n:
		return badinput.Errorf("%s has %d rows but the %s text has %d sentences, of which %d have a gold score: encode the same file that is evaluated",
			path, rows, s.Language, s.Lines, n)
	}
	return badinput.Errorf("%s has %d rows but the %s text has %d sentences: encode the same file that is evaluated", path, rows, s.Language, n)
}

// placeholder is a name in braces that a file name may have.
var placeholder = regexp.MustCompile(`\{[A-Za-z_]+\}`)

// expand replaces the names in braces of a pattern of file names.
func (r Role) expand(pattern string) (string, error) {
	names := []string{"{src}", "{tgt}", "{pair}", "{half}", "{file}", "{dir}"}
	for _, found := range placeholder.FindAllString(pattern, -1) {
		if !slices.Contains(names, found) {
			return "", badinput.Errorf("%s has %s, which stands for nothing: name files by %s (--src-emb, --tgt-emb)", pattern, found,
				strings.Join(names, ", "))
		}
	}
	values := []string{r.Pair.Source, r.Pair.Target, r.Pair.String(), r.Half, filepath.Base(r.File), filepath.Base(filepath.Dir(r.File))}
	replaced := make([]string, 0, 2*len(names))
	for i, name := range names {
		replaced = append(replaced, name, values[i])
	}
	return strings.NewReplacer(replaced...).Replace(pattern), nil
}

// normaliseRows divides each row by its L2 norm.
func normaliseRows(rows []float32, dim int, path string) error {
	for i := 0; i*dim < len(rows); i++ {
		if err := embedding.Normalise(rows[i*dim:][:dim]); err != nil {
			return badinput.Errorf("%s: row %d %w: encode that sentence again", path, i, err)
		}
	}
	return nil
}

// LanguagePair is two languages by their names from corpus.ParseLanguage.
type LanguagePair struct{ Source, Target string }

func (p LanguagePair) String() string { return p.Source + "-" + p.Target }

// ParsePair reads two language codes.
func ParsePair(source, target string) (LanguagePair, error) {
	var p LanguagePair
	var err error
	if p.Source, err = corpus.ParseLanguage(source); err != nil {
		return p, err
	}
	if p.Target, err = corpus.ParseLanguage(target); err != nil {
		return p, err
	}
	if p.Source == p.Target {
		return p, badinput.Errorf("source and target are both %s: name two languages", p.Source)
	}
	return p, nil
}

// sameLanguage reports whether a code in a file name is the code of the language.
func sameLanguage(code, language string) bool {
	parsed, err := corpus.ParseLanguage(code)
	return err == nil && parsed == language
}

// pairOf reads a pair such as "de-en" from a file name. ok is false if the name is not a pair of two languages.
func pairOf(name string) (pair LanguagePair, ok bool) {
	for i := range name {
		if name[i] != '-' {
			continue
		}
		// A code may itself contain a hyphen: zh-Hant-en.
		if pair, err := ParsePair(name[:i], name[i+1:]); err == nil {
			return pair, true
		}
	}
	return pair, false
}
