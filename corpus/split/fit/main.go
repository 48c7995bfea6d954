// Command fit finds the weights of Thai spaces: fit FOLDER OUT. FOLDER has the files of the ThaiGov V2 corpus, of which
// every fourth is read. scripts/thai-spaces runs it.
package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf8"

	"bitextmine/corpus/split"
)

const (
	// every selects one file of this many.
	every = 4
	// shortest is how many characters a paragraph must have, and thai what share of them must be Thai: what is left out
	// are headings, dates and addresses.
	shortest, thai = 40, 0.6
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 2 {
		return fmt.Errorf("usage: fit FOLDER OUT")
	}
	var documents [][]string
	files, seen := 0, map[string]bool{}
	err := filepath.WalkDir(args[0], func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || filepath.Ext(path) != ".txt" {
			return err
		}
		if files++; files%every != 0 {
			return nil
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if paragraphs := read(string(data), seen); len(paragraphs) > 1 {
			documents = append(documents, paragraphs)
		}
		return nil
	})
	if err != nil {
		return err
	}
	fmt.Printf("%d of %d files\n", len(documents), files)
	model := split.FitSpaces(documents, func(round, spaces, ends int) {
		fmt.Printf("round %d: %d spaces, %d ends of sentences\n", round, spaces, ends)
	})
	return os.WriteFile(args[1], model.Bytes(), 0o644)
}

// read returns the paragraphs of a file that no file before it had. The first line is a title.
func read(text string, seen map[string]bool) (paragraphs []string) {
	_, text, _ = strings.Cut(text, "\n")
	for line := range strings.Lines(text) {
		line = strings.Join(strings.FieldsFunc(line,
			func(r rune) bool { return unicode.IsSpace(r) || r == '\u200b' || r == '\ufeff' }), " ")
		letters := 0
		for _, r := range line {
			if unicode.Is(unicode.Thai, r) {
				letters++
			}
		}
		length := utf8.RuneCountInString(line)
		if length < shortest || float64(letters) < thai*float64(length) || strings.HasPrefix(line, "ที่มา :") ||
			seen[line] {
			continue
		}
		seen[line] = true
		paragraphs = append(paragraphs, line)
	}
	return paragraphs
}
