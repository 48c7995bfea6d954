// Package dataset downloads published test sets by name.
//
// A set is a list of files at the publisher's address. A file is pinned if its sha256 is in the catalogue, which also
// names the source of the digest; a download with other content is refused. A file that is not pinned needs a digest
// from the user. On request it is trusted at its first download; its digest is then recorded beside it and checked from
// then on. Archives are unpacked.
package dataset

import (
	"embed"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"bitextmine/internal/badinput"
)

// Set is a published test set.
type Set struct {
	Name, About string
	Licence     string
	Homepage    string
	Base        string // address to which the files' paths are appended
	Root        string // directory of the texts, below the set's own directory, after unpacking
	// Digests says which source the pinned digests come from.
	Digests string
	Files   []File
}

// File is one file of a set.
type File struct {
	Path   string // below Base and below the set's directory
	SHA256 string // empty if not pinned
	Size   int64  // 0 if unknown
}

// Pinned reports whether the digest of the file's content is known.
func (f File) Pinned() bool { return f.SHA256 != "" }

// archive reports whether the file must be unpacked.
func (f File) archive() bool { return strings.Contains(path.Base(f.Path), ".tar.") }

// Size is the sum of the files' known sizes.
func (s Set) Size() int64 {
	var sum int64
	for _, f := range s.Files {
		sum += f.Size
	}
	return sum
}

// Unpinned is the number of files whose digest is not known.
func (s Set) Unpinned() int {
	n := 0
	for _, f := range s.Files {
		if !f.Pinned() {
			n++
		}
	}
	return n
}

//go:embed catalog
var catalogFiles embed.FS

// sets is the catalogue. The files of each set are listed in catalog/NAME.tsv.
var sets = []Set{
	{
		Name: "tatoeba", About: "LASER's Tatoeba similarity search test, 112 languages",
		Licence:  "CC BY 2.0 FR (Tatoeba)",
		Homepage: "https://github.com/facebookresearch/LASER/tree/main/data/tatoeba/v1",
		Base:     "https://raw.githubusercontent.com/facebookresearch/LASER/74bc6ae7ffb7cba670fe0f428d0ede9f666fb821/data/tatoeba/v1/",
		Digests:  "the LASER repository at that commit; 72 of them are also in TensorFlow Datasets' checksums",
	},
	{
		Name: "flores200", About: "FLORES-200 dev and devtest, 204 languages",
		Licence: "CC BY-SA 4.0", Homepage: "https://github.com/facebookresearch/flores/tree/main/flores200",
		Base: "https://dl.fbaipublicfiles.com/nllb/", Root: "flores200_dataset",
		Digests: "several independent projects that pin the same archive; the publisher states none",
	},
	{
		Name: "ntrex", About: "NTREX-128: newstest2019 in 128 languages",
		Licence: "CC BY-SA 4.0", Homepage: "https://github.com/MicrosoftTranslator/NTREX",
		Base:    "https://raw.githubusercontent.com/MicrosoftTranslator/NTREX/8561f6a622db9edad1217683e5c83daefd8bb2bf/NTREX-128/",
		Digests: "the NTREX repository at that commit",
	},
	{
		Name: "bucc2018", About: "BUCC 2018 shared task, training and sample halves with gold: de, fr, ru, zh with en",
		Licence:  "research use; see the shared task's page",
		Homepage: "https://comparable.limsi.fr/bucc2018/bucc2018-task.html",
		Base:     "https://comparable.limsi.fr/bucc2018/", Root: "bucc2018",
		Digests: "TensorFlow Datasets' checksums of the same archives; the publisher states none",
	},
	{
		Name: "xsimplusplus", About: "xsim++'s published English negatives for FLORES-200 devtest",
		Licence:  "CC BY-SA 4.0 (derived from FLORES-200)",
		Homepage: "https://github.com/facebookresearch/LASER/tree/main/tasks/xsimplusplus",
		Base:     "https://dl.fbaipublicfiles.com/nllb/laser/xsimplusplus/",
		Digests:  "none: the publisher states no digest and no other source for one is known",
	},
}

// Sets returns the catalogue.
func Sets() ([]Set, error) {
	out := slices.Clone(sets)
	for i := range out {
		text, err := catalogFiles.ReadFile("catalog/" + out[i].Name + ".tsv")
		if err != nil {
			return nil, fmt.Errorf("read the catalogue: %w", err)
		}
		if out[i].Files, err = parseFiles(string(text)); err != nil {
			return nil, fmt.Errorf("read the catalogue of %s: %w", out[i].Name, err)
		}
	}
	return out, nil
}

// Find returns a set by its name.
func Find(name string) (Set, error) {
	all, err := Sets()
	if err != nil {
		return Set{}, err
	}
	var names []string
	for _, s := range all {
		if s.Name == name {
			return s, nil
		}
		names = append(names, s.Name)
	}
	return Set{}, badinput.Errorf("data set %q is not known; choose one of %s", name, strings.Join(names, ", "))
}

// parseFiles reads lines `sha256<TAB>size<TAB>path`; "-" means that the digest is not known.
func parseFiles(text string) ([]File, error) {
	var files []File
	for n, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		fields := strings.Split(line, "\t")
		if len(fields) != 3 {
			return nil, fmt.Errorf("line %d has %d fields", n+1, len(fields))
		}
		size, err := strconv.ParseInt(fields[1], 10, 64)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n+1, err)
		}
		f := File{Path: fields[2], SHA256: fields[0], Size: size}
		if f.SHA256 == "-" {
			f.SHA256 = ""
		}
		files = append(files, f)
	}
	return files, nil
}
