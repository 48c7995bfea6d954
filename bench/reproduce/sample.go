package main

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

// sample writes evenly spread lines of every file of the sources into dir, unless they exist, and replaces the files in
// the sources by these.
func sample(sources []data.Source, lines int, dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for i := range sources {
		var files []string
		for _, file := range sources[i].Files {
			name, _, _ := strings.Cut(filepath.Base(file), ".tsv")
			path := filepath.Join(dir, name+".tsv")
			if err := sampleFile(path, file, lines); err != nil {
				return err
			}
			files = append(files, path)
		}
		sources[i].Files = files
	}
	return nil
}

func sampleFile(path, file string, lines int) error {
	if _, err := os.Stat(path); err == nil {
		return nil
	}
	total := 0
	if err := eachLine(file, func(string) error { total++; return nil }); err != nil {
		return err
	}
	return atomicfile.Write(path, func(f *os.File) error {
		w, i := bufio.NewWriter(f), 0
		err := eachLine(file, func(line string) (err error) {
			if lines >= total || (i+1)*lines/total > i*lines/total {
				_, err = w.WriteString(line)
			}
			i++
			return err
		})
		return errors.Join(err, w.Flush())
	})
}

// eachLine calls take with the lines of a file, which may be compressed, including line ends.
func eachLine(file string, take func(line string) error) (err error) {
	f, err := input.OpenDecompressed(input.File{Path: file})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	r := bufio.NewReader(f)
	for {
		line, err := r.ReadString('\n')
		if line != "" {
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
