package exporting

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"

	"bitextmine/internal/badinput"
)

// ownDescription matches the description that describe writes.
var ownDescription = regexp.MustCompile("(?m)^[0-9]+ pairs of sentences, mined by `mine`\\.$")

// earlier lists the files of an earlier export's sets that this one does not write, to be removed when its own are
// there. They are listed only in a folder whose description says that it was exported. Elsewhere, files that would be
// taken for sets of this export, and a description by somebody else, are refused: nothing of others is lost.
func earlier(e *exporter, sets []*set) (stale []string, err error) {
	if e.opts.Format != HuggingFace {
		return nil, refuseStale(e, sets)
	}
	described, err := os.ReadFile(e.descriptionPath())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, badinput.Errorf("the description of the data set cannot be read (%w): name another folder with --out", err)
	}
	own := bytes.HasPrefix(described, []byte("---\n")) && ownDescription.Match(described)
	if err == nil && !own {
		return nil, badinput.Errorf("%s was not written by mine export, which would replace it: name another folder with --out", e.descriptionPath())
	}
	written := filesOf(sets)
	for name := range huggingFaceName {
		// Hugging Face datasets loads every file of such a name.
		found, err := filepath.Glob(filepath.Join(escapeGlob(e.opts.Out), "data", huggingFaceName[name]+"-*.parquet"))
		if err != nil {
			return nil, fmt.Errorf("look for earlier sets: %w", err)
		}
		for _, file := range found {
			switch {
			case slices.Contains(written, file):
			case own && slices.Contains(e.files(name, true), file):
				stale = append(stale, file)
			default:
				return nil, badinput.Errorf("%s would be taken for a part of this data set: remove it, or name another folder with --out", file)
			}
		}
	}
	return stale, nil
}

// refuseStale refuses to write some of the sets, or all pairs, beside sets that an earlier export left: they may share
// documents.
func refuseStale(e *exporter, sets []*set) error {
	written := filesOf(sets)
	for _, name := range [...]string{"train", "dev", "test"} {
		for _, file := range e.files(name, true) {
			if _, err := os.Lstat(file); err == nil && !slices.Contains(written, file) {
				return badinput.Errorf("%s is of an export with other sets, and may have documents of this one's: remove it, or name another --out", file)
			}
		}
	}
	return nil
}

func filesOf(sets []*set) (files []string) {
	for _, s := range sets {
		files = append(files, s.files...)
	}
	return files
}

// globSpecial are the characters that filepath.Glob does not take as they are.
var globSpecial = regexp.MustCompile(`[*?\[\\]`)

func escapeGlob(path string) string { return globSpecial.ReplaceAllString(path, `\$0`) }
