package record

import (
	"os"
	"path/filepath"
	"testing"
)

// TestPlacesOfRuns: the place of an output directory does not depend on links in its path, whether or not it is there,
// and moves with a work directory in it.
func TestPlacesOfRuns(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	real, link := filepath.Join(dir, "real"), filepath.Join(dir, "link")
	if err := os.MkdirAll(filepath.Join(real, "there", "work"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(real, link); err != nil {
		t.Fatal(err)
	}
	t.Chdir(link)
	for _, c := range []struct{ work, out, into, directory string }{
		{"there/work", "there", "..", filepath.Join(real, "there")},
		{filepath.Join(link, "there", "work"), link, filepath.Join("..", ".."), real},
		{"there", "there", ".", filepath.Join(real, "there")},
		{"there/work", "other", filepath.Join(real, "other"), filepath.Join(real, "other")},
		{filepath.Join(real, "there"), filepath.Join(link, "gone", "deep"), filepath.Join("..", "gone", "deep"), filepath.Join(real, "gone", "deep")},
		{"there/work", "there/de-en", filepath.Join("..", "de-en"), filepath.Join(real, "there", "de-en")},
		{"s3://bucket/work", "there", filepath.Join(real, "there"), filepath.Join(real, "there")},
	} {
		into, err := Into(c.work, c.out)
		if err != nil || into != c.into {
			t.Errorf("%s of %s: into %s, want %s, error %v", c.out, c.work, into, c.into, err)
		}
		run := Run{Out: c.out, Into: into}
		if got, known := run.Directory(c.work); got != c.directory || !known {
			t.Errorf("%s of %s: directory %s, known %v, want %s", c.out, c.work, got, known, c.directory)
		}
	}
	old := Run{Out: "there"}
	if got, known := old.Directory("work"); got != filepath.Join(real, "there") || known {
		t.Errorf("of a run without a place: directory %s, known %v", got, known)
	}
}
