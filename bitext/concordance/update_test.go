package concordance

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"bitextmine/internal/atomicfile"
	"bitextmine/internal/badinput"
)

// TestUpdate: an index follows its bitext; it has then what a new one would have, and only the difference was written.
func TestUpdate(t *testing.T) {
	dir := t.TempDir()
	path := write(t, filepath.Join(dir, "de-en.parquet"), [2]string{"de", "en"}, german)
	at := filepath.Join(dir, "index")
	first, err := Open(t.Context(), at, path, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := Open(t.Context(), at, path, nil)
	if err != nil || again.Changed != 0 {
		t.Fatalf("%+v although nothing changed, error %v", again, err)
	}
	now := slices.Clone(german[1:])
	now[0].margin = 1.7 // scored anew: removed and added
	now = append(now, pair{"Ein Haus mehr.", "One more house.", 1.2})
	write(t, path, [2]string{"de", "en"}, now)
	if got, want := found(t, again, Query{Text: "Haus", Mode: Words}, german), []int{0, 1, 4}; !slices.Equal(got, want) {
		t.Errorf("finds %v, want %v", got, want)
	}
	if err := again.Close(); err != nil {
		t.Fatal(err)
	}
	x, err := Open(t.Context(), at, path, nil)
	if err != nil || x.Pairs != 5 {
		t.Fatalf("%+v, error %v", x, err)
	}
	if got, want := found(t, x, Query{Text: "Haus", Mode: Words}, now), []int{0, 3, 5}; !slices.Equal(got, want) {
		t.Errorf("finds %v, want %v", got, want)
	}
	err = filepath.WalkDir(at, func(path string, entry fs.DirEntry, _ error) error {
		info, err := entry.Info()
		if want := map[bool]fs.FileMode{false: atomicfile.Mode, true: atomicfile.DirMode}[entry.IsDir()]; err != nil || info.Mode().Perm() != want {
			t.Errorf("%s has mode %v, so that others cannot search, error %v", path, info.Mode(), err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if x.Changed < 4 || x.Changed > 10 { // every source line after the first has another number
		t.Errorf("%d changes", x.Changed)
	}
	if err := x.Close(); err != nil {
		t.Fatal(err)
	}
	other := open(t, at, write(t, path, [2]string{"fr", "en"}, []pair{{"La maison", "The house", 1.1}}))
	if other.Pairs != 1 || other.Languages[0] != "fr" || len(found(t, other, Query{Text: "maisons", Mode: Words}, []pair{{"La maison", "The house", 1.1}})) != 1 {
		t.Errorf("index of another language %+v", other)
	}
}

// TestNothingKept: the index of a bitext without pairs finds nothing, and follows it when it has some.
func TestNothingKept(t *testing.T) {
	dir := t.TempDir()
	at, path := filepath.Join(dir, "index"), filepath.Join(dir, "de-en.parquet")
	x, err := Open(t.Context(), at, write(t, path, [2]string{"de", "en"}, nil), nil)
	if err != nil || x.Pairs != 0 || len(found(t, x, Query{Text: "Haus", Mode: Words}, nil)) != 0 {
		t.Fatalf("%+v, %v", x, err)
	}
	if err := x.Close(); err != nil {
		t.Fatal(err)
	}
	some := open(t, at, write(t, path, [2]string{"de", "en"}, german))
	if got, want := found(t, some, Query{Text: "Haus", Mode: Words}, german), []int{0, 1, 4}; !slices.Equal(got, want) {
		t.Errorf("finds %v, want %v", got, want)
	}
}

// TestUpdateBesideAReader: an index that is read cannot be changed, so it is made anew beside the reader's.
func TestUpdateBesideAReader(t *testing.T) {
	dir := t.TempDir()
	path := write(t, filepath.Join(dir, "de-en.parquet"), [2]string{"de", "en"}, german)
	at := filepath.Join(dir, "index")
	reader := open(t, at, path)
	now := german[1:]
	write(t, path, [2]string{"de", "en"}, now)
	if x := open(t, at, path); x.Pairs != 4 || !slices.Equal(found(t, x, Query{Text: "Haus", Mode: Words}, now), []int{0, 3}) {
		t.Errorf("the index beside a reader has %d pairs", x.Pairs)
	}
	if got, want := found(t, reader, Query{Text: "Haus", Mode: Words}, german), []int{0, 1, 4}; !slices.Equal(got, want) {
		t.Errorf("the reader finds %v, want %v as before", got, want)
	}
}

// TestManyUpdates: texts of pairs that went do not pile up.
func TestManyUpdates(t *testing.T) {
	dir := t.TempDir()
	at := filepath.Join(dir, "index")
	for night := range 4 {
		var pairs []pair
		for i := range 6000 {
			pairs = append(pairs, pair{fmt.Sprintf("Satz %d der Nacht %d.", i, night), fmt.Sprintf("Sentence %d of night %d.", i, night), 1.2})
		}
		x, err := Open(t.Context(), at, write(t, filepath.Join(dir, "de-en.parquet"), [2]string{"de", "en"}, pairs), nil)
		if err != nil {
			t.Fatal(err)
		}
		if x.texts.Len() > 2*6000+perhaps+6000 {
			t.Errorf("night %d keeps %d texts of 6000 pairs", night, x.texts.Len())
		}
		if got := found(t, x, Query{Text: fmt.Sprintf("77 of night %d", night), Mode: Phrase}, pairs); !slices.Equal(got, []int{77}) {
			t.Errorf("night %d finds %v", night, got)
		}
		if err := x.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestHalfAnUpdate: an index whose writer was killed is brought up to date.
func TestHalfAnUpdate(t *testing.T) {
	dir := t.TempDir()
	path := write(t, filepath.Join(dir, "de-en.parquet"), [2]string{"de", "en"}, german)
	at := filepath.Join(dir, "index")
	for _, leave := range []string{metaName, indexName} {
		x, err := Open(t.Context(), at, path, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := x.Close(); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{metaName, indexName} {
			if name != leave {
				if err := os.RemoveAll(filepath.Join(at, name)); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	if x := open(t, at, path); x.Pairs != 5 {
		t.Errorf("%d pairs", x.Pairs)
	}
}

// TestKilledWhileItWasMade: what a process that is killed leaves is no reason to refuse the directory.
func TestKilledWhileItWasMade(t *testing.T) {
	dir := t.TempDir()
	pairs := make([]pair, 1000)
	for i := range pairs {
		pairs[i] = pair{fmt.Sprintf("Haus %d", i), fmt.Sprintf("house %d", i), 1.1}
	}
	path, at, left := write(t, filepath.Join(dir, "de-en.parquet"), [2]string{"de", "en"}, pairs), filepath.Join(dir, "index"), filepath.Join(dir, "left")
	x, err := Open(t.Context(), at, path, func(int, int) {
		if err := os.CopyFS(left, os.DirFS(at)); err != nil {
			t.Error(err)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := x.Close(); err != nil {
		t.Fatal(err)
	}
	if x = open(t, left, path); x.Pairs != len(pairs) {
		t.Errorf("%d pairs", x.Pairs)
	}
	if entries, err := os.ReadDir(left); err != nil || len(entries) != 3 {
		t.Errorf("%v, %v", entries, err)
	}
}

// TestFullDisk: Bleve says by its text alone what went wrong.
func TestFullDisk(t *testing.T) {
	err := explained("index", fmt.Errorf("error flushing batch: %s", syscall.ENOSPC.Error()))
	if !badinput.Is(err) || !strings.Contains(err.Error(), "index") || !strings.Contains(err.Error(), "full") {
		t.Errorf("error %v", err)
	}
	if other := errors.New("other"); !errors.Is(explained("index", other), other) {
		t.Error("another error is changed")
	}
}

// TestDamagedIndex: an index with a file that was cut, altered or lost is made anew, and one that is damaged while it
// is open is an error, not the end of the process.
func TestDamagedIndex(t *testing.T) {
	dir := t.TempDir()
	pairs := make([]pair, 300)
	for i := range pairs {
		pairs[i] = pair{fmt.Sprintf("Haus %d", i), fmt.Sprintf("house %d", i), 1.1}
	}
	path, at := write(t, filepath.Join(dir, "de-en.parquet"), [2]string{"de", "en"}, pairs), filepath.Join(dir, "index")
	x, err := Open(t.Context(), at, path, nil)
	if err != nil {
		t.Fatal(err)
	}
	files := append(slices.Collect(maps.Keys(x.files)), filepath.Join(at, metaName))
	if err := x.Close(); err != nil {
		t.Fatal(err)
	}
	query := Query{Text: "Haus", Mode: Words, Sides: [2]bool{true, true}, Limit: 1}
	for _, file := range files {
		for name, hurt := range map[string]func([]byte) []byte{
			"cut":     func(data []byte) []byte { return data[:len(data)/2] },
			"empty":   func(data []byte) []byte { return nil },
			"altered": func(data []byte) []byte { data[len(data)/2] ^= 0xff; return data },
		} {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, hurt(data), 0o644); err != nil {
				t.Fatal(err)
			}
			if _, err := OpenExisting(at, path); err == nil {
				t.Errorf("%s, %s: it is opened", filepath.Base(file), name)
			}
			x, err := Open(t.Context(), at, path, nil)
			if err != nil {
				t.Fatalf("%s, %s: %v", filepath.Base(file), name, err)
			}
			result, err := x.Search(t.Context(), query)
			if err != nil || result.Total != len(pairs) || x.Damage == nil && filepath.Base(file) != metaName {
				t.Errorf("%s, %s: %+v, %v, damage %v", filepath.Base(file), name, result, err, x.Damage)
			}
			if err := x.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
	x, err = Open(t.Context(), at, path, nil)
	if err != nil {
		t.Fatal(err)
	}
	for file := range x.files {
		if err := os.Truncate(file, 10); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := x.Search(t.Context(), query); !badinput.Is(err) {
		t.Errorf("of files that were cut: %v", err)
	}
	defer func() { _ = x.Close() }() // its files are damaged
	x.files = nil                    // stands for files that were cut during the search
	if _, err := x.Search(t.Context(), query); !badinput.Is(err) {
		t.Errorf("of files that were cut during the search: %v", err)
	}
}
