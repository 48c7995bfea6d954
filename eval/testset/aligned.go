package testset

import (
	"cmp"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"bitextmine/corpus"
	"bitextmine/internal/badinput"
)

// AlignedFiles names two line-aligned files. Label is the source language's code in the file name.
type AlignedFiles struct {
	Label          string
	Pair           LanguagePair
	Source, Target string
}

// HasSplit reports whether any of the files are of a part of a set: their names end in it, or their directory's is it.
func HasSplit(files []AlignedFiles, split string) bool {
	return slices.ContainsFunc(files, func(f AlignedFiles) bool {
		return strings.HasSuffix(uncompressed(filepath.Base(f.Source)), "."+split) ||
			filepath.Base(filepath.Dir(f.Source)) == filepath.Base(split)
	})
}

// alignedFile is a file of a line-aligned set with its language code.
type alignedFile struct{ code, path string }

func (f alignedFile) language() string {
	if l, err := corpus.ParseLanguage(f.code); err == nil {
		return l
	}
	return f.code // the test set's own code; encoders that ignore the language accept it
}

// FindAligned finds line-aligned test sets in dir or dir/SPLIT. It knows the three published layouts:
//
//	NAME.deu-eng.deu, NAME.deu-eng.eng        LASER's Tatoeba
//	deu_Latn.SPLIT, eng_Latn.SPLIT            FLORES
//	NAME-ref.deu.txt, NAME-src.eng.txt        NTREX
//
// sources and target are names from corpus.ParseLanguage. If sources is empty, all languages in the directory are
// sources.
func FindAligned(dir, split string, sources []string, target string) ([]AlignedFiles, error) {
	var sets []AlignedFiles
	dir = filepath.Clean(dir)
	for i, d := range slices.Compact([]string{dir, filepath.Join(dir, split)}) { // one, if no split is named
		entries, err := os.ReadDir(d)
		if err != nil {
			if i == 0 {
				return nil, badinput.Errorf("open the test set: %w", err)
			}
			continue
		}
		entries = slices.DeleteFunc(entries, func(e os.DirEntry) bool { return isPacked(filepath.Join(d, e.Name())) })
		sets = append(sets, pairwise(d, entries, target)...)
		sets = append(sets, multiway(d, entries, split, target)...)
	}
	if len(sources) > 0 {
		found := make(map[string]bool)
		sets = slices.DeleteFunc(sets, func(s AlignedFiles) bool {
			found[s.Pair.Source] = true
			return !slices.Contains(sources, s.Pair.Source)
		})
		for _, s := range sources {
			if !found[s] {
				if err := otherParts(dir, split); err != nil {
					return nil, err
				}
				return nil, badinput.Errorf(
					"%s has no line-aligned test set of %s and %s: name a directory that has one", dir, s, target)
			}
		}
	}
	if len(sets) == 0 {
		if err := otherParts(dir, split); err != nil {
			return nil, err
		}
		return nil, badinput.Errorf(
			"%s has no line-aligned test set with %s: name a directory with NAME.xxx-eng.xxx, xxx_Xxxx.%s or NAME-ref.xxx.txt files",
			dir, target, split)
	}
	slices.SortFunc(sets, func(a, b AlignedFiles) int {
		return cmp.Or(strings.Compare(a.Label, b.Label), strings.Compare(a.Source, b.Source))
	})
	return sets, nil
}

// otherParts is the error for a part that a set with parts does not have; nil: it has the part, or none at all.
func otherParts(dir, split string) error {
	var parts []string
	for _, pattern := range []string{"*.*", "*/*.*"} {
		files, err := fs.Glob(os.DirFS(dir), pattern)
		if err != nil {
			return err // never: the patterns are right
		}
		for _, file := range files {
			code, part, _ := strings.Cut(uncompressed(path.Base(file)), ".")
			if _, err := corpus.ParseLanguage(code); err == nil && part != "txt" && !strings.Contains(part, ".") {
				parts = append(parts, part)
			}
		}
	}
	slices.Sort(parts)
	parts = slices.Compact(parts)
	if len(parts) == 0 || slices.Contains(parts, split) {
		return nil
	}
	return badinput.Errorf("%s has no part %q: name one of %s (--split, or split in a preset)", dir, split, strings.Join(parts, ", "))
}

// pairwise finds sets of two files NAME.PAIR.LANGUAGE.
func pairwise(dir string, entries []os.DirEntry, target string) []AlignedFiles {
	type set struct{ source, target alignedFile }
	sets := make(map[string]*set)
	for _, e := range entries {
		parts := strings.Split(uncompressed(e.Name()), ".")
		if len(parts) != 3 {
			continue
		}
		if !strings.HasPrefix(parts[1], parts[2]+"-") && !strings.HasSuffix(parts[1], "-"+parts[2]) {
			continue
		}
		name := parts[0] + "." + parts[1]
		if sets[name] == nil {
			sets[name] = &set{}
		}
		file := alignedFile{parts[2], filepath.Join(dir, e.Name())}
		if file.language() == target {
			sets[name].target = file
		} else {
			sets[name].source = file
		}
	}
	var out []AlignedFiles
	for _, s := range sets {
		if s.source.path != "" && s.target.path != "" {
			out = append(out, s.source.with(s.target))
		}
	}
	return out
}

func (f alignedFile) with(target alignedFile) AlignedFiles {
	return AlignedFiles{Label: f.code, Pair: LanguagePair{f.language(), target.language()}, Source: f.path,
		Target: target.path}
}

// multiway finds one file per language and pairs each with the target's file. If the target has several files, it takes
// an original before a translation, and then the shortest code.
func multiway(dir string, entries []os.DirEntry, split, target string) []AlignedFiles {
	var sources, targets []alignedFile
	for _, e := range entries {
		parts := strings.Split(uncompressed(e.Name()), ".")
		file := alignedFile{path: filepath.Join(dir, e.Name())}
		switch {
		case len(parts) == 2 && parts[1] == split:
			file.code = parts[0]
		case len(parts) == 3 && parts[2] == "txt":
			file.code = parts[1]
		default:
			continue
		}
		language, err := corpus.ParseLanguage(file.code)
		switch {
		case err != nil:
		case language == target:
			targets = append(targets, file)
		default:
			sources = append(sources, file)
		}
	}
	if len(targets) == 0 {
		return nil
	}
	original := func(f alignedFile) int {
		if strings.Contains(filepath.Base(f.path), "-src.") {
			return 0
		}
		return 1
	}
	chosen := slices.MinFunc(targets, func(a, b alignedFile) int {
		return cmp.Or(cmp.Compare(original(a), original(b)), cmp.Compare(len(a.code), len(b.code)),
			strings.Compare(a.path, b.path))
	})
	var out []AlignedFiles
	for _, s := range sources {
		out = append(out, s.with(chosen))
	}
	return out
}

// ReadAligned reads the two sides of a set. If wider is set, the target may have more lines than the source; the extra
// lines are distractors. Otherwise both must have the same number of lines.
func ReadAligned(files AlignedFiles, wider bool) (source, target Side, err error) {
	if source, err = readSide(files.Source, files.Pair.Source, false); err != nil {
		return source, target, err
	}
	if target, err = readSide(files.Target, files.Pair.Target, false); err != nil {
		return source, target, err
	}
	n, m := len(source.Texts), len(target.Texts)
	switch {
	case wider && n > m:
		err = badinput.Errorf("%s has %d lines but %s has only %d: every query needs its translation on the same line",
			files.Source, n, files.Target, m)
	case !wider && n != m:
		err = badinput.Errorf("%s has %d lines but %s has %d: line-aligned files must have the same number of lines",
			files.Source, n, files.Target, m)
	}
	return source, target, err
}
