package input

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"bitextmine/corpus/corpustest"
)

func TestExpand(t *testing.T) {
	root := t.TempDir()
	for _, name := range []string{"b.txt", "a.txt", ".hidden", "sub/c.txt", "sub/.git/x", "sub/d.txt.tmp", "sub/deep/e.de", "none/.x",
		"lost+found/1/e.de", ".git/e.de", "w.tmp/e.de", "w.tmp/deep/e.de"} {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("x\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for link, target := range map[string]string{"sub/link.txt": "../a.txt", "sub/loop": ".."} {
		if err := os.Symlink(target, filepath.Join(root, link)); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(root)
	memory := fstest.MapFS{"t/x.txt": {Data: []byte("x")}, "t/y/z.txt": {Data: []byte("x")}, "t/.h": {}}
	tests := []struct {
		name     string
		fsys     fs.FS
		patterns []string
		want     []string
	}{
		{"file", nil, []string{"b.txt"}, []string{"b.txt"}},
		{"sorted, each once", nil, []string{"b.txt", "./a.txt", "b.txt", filepath.Join(root, "a.txt")}, []string{"a.txt", "b.txt"}},
		{"directory", nil, []string{"."}, []string{"a.txt", "b.txt", "sub/c.txt", "sub/deep/e.de"}},
		{"a link and its file", nil, []string{"sub/link.txt", "a.txt", "sub/loop/sub/link.txt"}, []string{"a.txt"}},
		{"glob", nil, []string{"*.txt"}, []string{"a.txt", "b.txt"}},
		{"glob over a directory", nil, []string{"s*"}, []string{"sub/c.txt", "sub/deep/e.de", "sub/link.txt"}},
		{"glob in directories", nil, []string{"*/*.txt"}, []string{"sub/c.txt", "sub/link.txt"}},
		{"any directories", nil, []string{"**/*.txt"}, []string{"a.txt", "b.txt", "sub/c.txt"}},
		{"any directories below one", nil, []string{"s*/**/*.[dt]*"}, []string{"sub/c.txt", "sub/deep/e.de", "sub/link.txt"}},
		{"directories in any", nil, []string{"./**/d*p/**"}, []string{"sub/deep/e.de"}},
		{"all of a directory", nil, []string{root + "/sub/**"}, []string{root + "/sub/c.txt", root + "/sub/deep/e.de", root + "/sub/link.txt"}},
		{"glob over an empty directory", nil, []string{"*"}, []string{"a.txt", "b.txt", "sub/c.txt", "sub/deep/e.de"}},
		{"glob in ignored directories", nil, []string{"*/*/*.d*", "*/**/e.de"}, []string{"sub/deep/e.de"}},
		{"ignored directories by name", nil, []string{"./.g*/*.de", "w.tmp/*/e.de", "lost+found"}, []string{".git/e.de", "lost+found/1/e.de", "w.tmp/deep/e.de"}},
		{"hidden by name", nil, []string{".hid*"}, []string{".hidden"}},
		{"absolute", nil, []string{root + "/*.txt"}, []string{root + "/a.txt", root + "/b.txt"}},
		{"another file system", memory, []string{"t"}, []string{"t/x.txt", "t/y/z.txt"}},
		{"its directories", memory, []string{"**/t/**/*.txt"}, []string{"t/x.txt", "t/y/z.txt"}},
		{"its globs", memory, []string{"t/*.txt", "t/x.txt"}, []string{"t/x.txt"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			inputs, err := Expand(tt.fsys, tt.patterns)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, in := range inputs {
				got = append(got, in.Path)
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
	for name, pattern := range map[string]string{"missing": "no.txt", "no text": "none", "no match": "*.zip", "bad glob": "[", "bad glob in directories": "**/[", "no match in directories": "**/*.zip", "empty": "", "device": os.DevNull, "pipe": "-", "bucket": "s3://b/x", "page": "http://example.org/?x=*"} {
		t.Run(name, func(t *testing.T) {
			_, err := Expand(nil, []string{"a.txt", pattern})
			corpustest.BadInput(t, err, pattern)
			if advice := "read from files, not from a bucket or the web"; strings.Contains(pattern, "://") && !strings.Contains(err.Error(), advice) {
				t.Errorf("%v does not say %s", err, advice)
			}
			if advice := "copy its content to a file"; (name == "pipe" || name == "device") && !strings.Contains(err.Error(), advice) {
				t.Errorf("%v does not say %s", err, advice)
			}
		})
	}
}

// TestSavedToDisk: the descriptions beside Arrow's files are no text either.
func TestSavedToDisk(t *testing.T) {
	saved := fstest.MapFS{"d/train/data.arrow": {}, "d/train/state.json": {}, "d/dataset_dict.json": {}}
	_, err := Expand(saved, []string{"d"})
	corpustest.BadInput(t, err, "d/train is a data set of Hugging Face's save_to_disk", "load_from_disk(FOLDER).to_parquet")
	if files, err := Expand(fstest.MapFS{"d/state.json": {}, "d/e/x.arrow": {}}, []string{"d"}); err != nil || len(files) != 2 {
		t.Errorf("%v, %v", files, err)
	}
}

// TestCompanions: what describes a data set is no text of it, unless it is named or stands beside text.
func TestCompanions(t *testing.T) {
	for name, c := range map[string]struct {
		files, patterns, want, left []string
	}{
		"a repository":         {[]string{"h/README.md", "h/LICENSE", "h/data/a.parquet"}, []string{"h"}, []string{"h/data/a.parquet"}, []string{"h/LICENSE", "h/README.md"}},
		"by a glob":            {[]string{"h/readme.txt", "h/a.jsonl.gz"}, []string{"*"}, []string{"h/a.jsonl.gz"}, []string{"h/readme.txt"}},
		"hidden":               {[]string{".h/README.md", ".h/a.json", "g/b.json"}, []string{"*"}, []string{"g/b.json"}, nil},
		"all of it":            {[]string{"h/README.md", "h/a.json"}, []string{"h/**"}, []string{"h/a.json"}, []string{"h/README.md"}},
		"named":                {[]string{"h/README.md", "h/a.json"}, []string{"h/README.md"}, []string{"h/README.md"}, nil},
		"globbed":              {[]string{"h/README.md", "h/a.json"}, []string{"h/*"}, []string{"h/README.md", "h/a.json"}, nil},
		"beside text":          {[]string{"h/README.md", "h/a.json", "h/b.md"}, []string{"h"}, []string{"h/README.md", "h/a.json", "h/b.md"}, nil},
		"alone":                {[]string{"h/README.md"}, []string{"h"}, []string{"h/README.md"}, nil},
		"text of another name": {[]string{"h/README.de.md", "h/a.json"}, []string{"h"}, []string{"h/README.de.md", "h/a.json"}, nil},
	} {
		fsys := fstest.MapFS{}
		for _, f := range c.files {
			fsys[f] = &fstest.MapFile{Data: []byte("x")}
		}
		files, err := Expand(fsys, c.patterns)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, f := range files {
			got = append(got, f.Path)
		}
		if left := Companions(fsys, c.patterns); !slices.Equal(got, c.want) || !slices.Equal(left, c.left) {
			t.Errorf("%s: %q without %q, want %q without %q", name, got, left, c.want, c.left)
		}
	}
}

// TestBrokenLinks: a link to itself or to nothing is an error that no repetition mends, or found with what is wrong.
func TestBrokenLinks(t *testing.T) {
	for name, why := range map[string]string{"loop": "leads back to itself", "gone": "does not exist"} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			link, file := filepath.Join(dir, "link"), filepath.Join(dir, "a.txt")
			target := link
			if name == "gone" {
				target = filepath.Join(dir, "no.txt")
			}
			if err := os.Symlink(target, link); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, []byte("x"), 0o600); err != nil {
				t.Fatal(err)
			}
			for _, patterns := range [][]string{{dir}, {dir + "/*"}, {file, link}} {
				_, err := Expand(nil, patterns)
				corpustest.BadInput(t, err, link, why)
				found, err := Find(nil, patterns)
				if err != nil || len(found) != 2 || found[0].Path != file || found[0].Broken != nil || found[1].Path != link {
					t.Fatalf("%v: %v, %v", patterns, found, err)
				}
				corpustest.BadInput(t, found[1].Broken, link, why)
			}
		})
	}
}

// closed is a file system of files that may not be read.
type closed struct{ fstest.MapFS }

func (closed) Open(name string) (fs.File, error) {
	return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrPermission}
}

// TestUnreadableFiles: a file that may not be read is found with what is wrong, and alone it is an error.
func TestUnreadableFiles(t *testing.T) {
	files := closed{fstest.MapFS{"de.txt": &fstest.MapFile{Data: []byte("Ein Satz.\n")}}}
	found, err := Find(files, []string{"de.txt"})
	if err != nil || len(found) != 1 {
		t.Fatalf("found %v, error %v", found, err)
	}
	corpustest.BadInput(t, found[0].Broken, "de.txt", "permission denied")
	_, err = Expand(files, []string{"de.txt"})
	corpustest.BadInput(t, err, "de.txt", "permission denied")
}
