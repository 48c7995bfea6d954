package input

import (
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
)

var (
	companion = regexp.MustCompile(`(?i)^(readme|licen[cs]e)(\.(md|txt|rst))?$`)
	dataFile  = regexp.MustCompile(`(?i)\.(parquet|json|jsonl|ndjson)(\.(gz|zst|xz|bz2))?$`)
)

// withoutCompanions leaves out what describes the files of a directory, README and LICENSE, if all others are Parquet
// or JSON, as in repositories of data sets. left are those left out.
func withoutCompanions(files []string) (kept, left []string) {
	for _, name := range files {
		switch base := path.Base(name); {
		case companion.MatchString(base):
			left = append(left, name)
		case dataFile.MatchString(base):
			kept = append(kept, name)
		default:
			return files, nil
		}
	}
	if len(kept) == 0 {
		return files, nil
	}
	return kept, left
}

// Companions lists the files that Find leaves out of directories, as they describe the others. Errors are Find's.
func Companions(fsys fs.FS, patterns []string) (left []string) {
	for _, pattern := range patterns {
		pattern = cleaned(pattern)
		dirs := []string{pattern}
		if strings.ContainsAny(pattern, "*?[") {
			dirs, _ = matching(orHost(fsys), pattern)
		}
		for _, dir := range dirs {
			if info, err := fs.Stat(orHost(fsys), dir); err != nil || !info.IsDir() {
				continue
			}
			found, _ := list(orHost(fsys), dir)
			_, some := withoutCompanions(found)
			left = append(left, some...)
		}
	}
	slices.Sort(left)
	return slices.Compact(left)
}
