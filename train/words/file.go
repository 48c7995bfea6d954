package words

import (
	"errors"
	"io"
	"os"

	"bitextmine/align/word"

	"bitextmine/internal/badinput"
)

// File is the links beside a file of pairs: a line for each line, row or unit. A nil File has none.
type File struct {
	lines *word.LinkReader
	file  *os.File
	name  string
}

// Open opens a file of links. A file that cannot be opened is a badinput error, as is all that is wrong in it.
func Open(name string) (*File, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, badinput.Errorf("open the word alignments: %w", err)
	}
	return &File{word.NewLinkReader(f, name, 0), f, name}, nil
}

// Next returns the links of the next line, which are not nil. A nil File returns nil.
func (f *File) Next() ([]word.Link, error) {
	if f == nil {
		return nil, nil
	}
	links, err := f.lines.Next()
	if errors.Is(err, io.EOF) {
		return nil, badinput.Errorf("%s has only %d lines, fewer than the bitext beside it: align it again", f.name,
			f.lines.Line())
	}
	if links == nil {
		links = []word.Link{}
	}
	return links, err
}

// Check returns the links of a pair that was read as raw and is now normal. Links outside its words are an error. Text
// that normalisation divides into other words, which is rare, has no links.
func (f *File) Check(split word.Splitter, links []word.Link, raw, normal [2]string) ([]word.Link, error) {
	if f == nil {
		return nil, nil
	}
	var counts [2]int
	for side := range counts {
		counts[side] = len(split.Split(nil, normal[side]))
		if split == word.Spaces && counts[side] != len(split.Split(nil, raw[side])) {
			return []word.Link{}, nil
		}
	}
	if err := word.CheckLinks(links, counts[0], counts[1]); err != nil {
		return nil, badinput.Errorf("%s:%d: %w: align the bitext again", f.name, f.lines.Line(), err)
	}
	return links, nil
}

// End closes the file after its bitext was read, with a result. If that is no error, the file must have no more lines.
func (f *File) End(result error) error {
	if f == nil {
		return result
	}
	if result == nil {
		if _, err := f.lines.Next(); err == nil {
			result = badinput.Errorf("%s has more than the %d lines of the bitext beside it: align it again", f.name,
				f.lines.Line()-1)
		} else if !errors.Is(err, io.EOF) {
			result = err
		}
	}
	return errors.Join(result, f.file.Close())
}
