package sample

import (
	"bufio"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"bitextmine/eval/testset"
	"bitextmine/internal/atomicfile"
	"bitextmine/train"
)

// Mining writes a part of the BUCC-style sets with English in dir into out, of the languages that the sets ask for,
// unless it exists: of the pairs of gold one in so many, with their sentences, and one in so many of the sentences of
// each side that are in no pair, all evenly spread.
func Mining(sets []train.DevSet, dir string, part int, out string) error {
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	for _, set := range sets {
		if set.Dir != dir {
			continue
		}
		for _, language := range set.Src {
			pair, err := testset.ParsePair(language, "en")
			if err != nil {
				return err
			}
			halves, err := testset.FindBUCC(dir, pair)
			if err != nil {
				return err
			}
			if err := mining(halves[0], part, out); err != nil {
				return err
			}
		}
	}
	return nil
}

// mining writes one set. Its gold is written last, so a set with gold is complete.
func mining(files testset.BUCCFiles, part int, out string) error {
	gold := filepath.Join(out, filepath.Base(files.Gold))
	if _, err := os.Stat(gold); err == nil {
		return nil
	}
	var pairs []string
	inGold, taken := [2]map[string]bool{{}, {}}, [2]map[string]bool{{}, {}}
	n := 0
	err := Lines(files.Gold, 0, func(line string) error {
		for side, id := range strings.Fields(line) {
			inGold[side][id], taken[side][id] = true, n%part == 0
		}
		if n%part == 0 {
			pairs = append(pairs, line)
		}
		n++
		return nil
	})
	if err != nil {
		return err
	}
	for side, file := range []string{files.Source, files.Target} {
		var lines []string
		others := 0
		err := Lines(file, 0, func(line string) error {
			id, _, _ := strings.Cut(line, "\t")
			take := taken[side][id]
			if !inGold[side][id] {
				take = others%part == 0
				others++
			}
			if take {
				lines = append(lines, line)
			}
			return nil
		})
		if err == nil {
			err = writeLines(filepath.Join(out, filepath.Base(file)), lines)
		}
		if err != nil {
			return err
		}
	}
	return writeLines(gold, pairs)
}

func writeLines(path string, lines []string) error {
	return atomicfile.Write(path, func(f *os.File) error {
		w := bufio.NewWriter(f)
		var err error
		for _, line := range lines {
			_, e := w.WriteString(line)
			err = errors.Join(err, e)
		}
		return errors.Join(err, w.Flush())
	})
}
