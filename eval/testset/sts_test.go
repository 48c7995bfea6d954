package testset

import (
	"os"
	"path/filepath"
	"testing"
)

// TestSTSBehindALink checks that a link to the directory of the sets works like the directory.
func TestSTSBehindALink(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "sets", "2016", "turns.test.tsv")
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte("5\ta\tb\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink(filepath.Join(dir, "sets"), link); err != nil {
		t.Fatal(err)
	}
	sets, err := FindSTS(link)
	if err != nil || len(sets) != 1 || sets[0].Year != "2016" || sets[0].Name != "turns" {
		t.Errorf("got %+v, %v", sets, err)
	}
}
