// Package sample makes the parts that trainings read: of bitext and test sets evenly spread lines, of published weights
// the rows that the text needs.
package sample

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"bitextmine/corpus/input"
	"bitextmine/internal/atomicfile"
	"bitextmine/train/data"
)

// Files writes evenly spread lines of every file of the sources, of both halves or of one, into dir, unless they exist,
// and replaces the files in the sources by these.
func Files(sources []data.Source, lines, half int, dir string) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	for i := range sources {
		var files []string
		for _, file := range sources[i].Files {
			name, _, _ := strings.Cut(filepath.Base(file), ".tsv")
			path := filepath.Join(dir, name+".tsv")
			if err := write(path, file, lines, half); err != nil {
				return err
			}
			files = append(files, path)
		}
		sources[i].Files = files
	}
	return nil
}

func write(path, file string, lines, half int) error {
	if _, err := os.Stat(path); err == nil {
		return nil
	}
	total := 0
	if err := Lines(file, half, func(string) error { total++; return nil }); err != nil {
		return err
	}
	return atomicfile.Write(path, func(f *os.File) error {
		w, i := bufio.NewWriter(f), 0
		err := Lines(file, half, func(line string) (err error) {
			if lines >= total || (i+1)*lines/total > i*lines/total {
				_, err = w.WriteString(line)
			}
			i++
			return err
		})
		return errors.Join(err, w.Flush())
	})
}

// Lines calls take with the lines of a file, which may be compressed, including line ends. half is 1 for odd lines, 2
// for even ones, 0 for all.
func Lines(file string, half int, take func(line string) error) (err error) {
	f, err := input.OpenDecompressed(input.File{Path: file})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	r := bufio.NewReader(f)
	for n := 1; ; n++ {
		line, err := r.ReadString('\n')
		if line != "" && (half == 0 || n%2 == half%2) {
			if err := take(strings.TrimSuffix(line, "\n") + "\n"); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
	}
}
