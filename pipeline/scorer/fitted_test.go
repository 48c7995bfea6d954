package scorer

import (
	"context"
	"errors"
	"io/fs"
	"iter"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"bitextmine/encode/model"
	"bitextmine/pipeline/config"
	"bitextmine/pipeline/plan"
	"bitextmine/pipeline/record"
	"bitextmine/pipeline/setting"
	"bitextmine/pipeline/store"
)

// of is the text of one input on either side.
func of(source, target plan.Input) func() ([]plan.Language, error) {
	return func() ([]plan.Language, error) {
		return []plan.Language{{Inputs: []plan.Input{source}}, {Inputs: []plan.Input{target}}}, nil
	}
}

// TestFilesThatTellTexts: a relative path is another file in another directory, and files without text, which any two
// texts may have, are left out.
func TestFilesThatTellTexts(t *testing.T) {
	source, target := plan.Input{Path: "de.txt", Bytes: 1, SHA256: "a"}, plan.Input{Path: "fixtures:en.txt", Builtin: true, Bytes: 1, SHA256: "b"}
	dir := t.TempDir()
	t.Chdir(dir)
	here, err := filesOf(of(source, target))
	if err != nil || here[0][0] != (file{filepath.Join(dir, "de.txt"), "a"}) || here[1][0] != (file{target.Path, "b"}) {
		t.Errorf("%v, error %v", here, err)
	}
	t.Chdir(t.TempDir())
	source.SHA256 = "c"
	there, err := filesOf(of(source, target))
	known := fitted{Texts: here}
	if err != nil || known.shared(there) != 0 || known.shared(here) != 2 {
		t.Errorf("of two directories: %v and %v share %d, error %v", here, there, known.shared(there), err)
	}
	none, err := filesOf(of(plan.Input{Path: "link.txt", Bad: "a link to nothing"}, plan.Input{Path: "empty.txt", SHA256: "e"}))
	if err != nil || len(none[0])+len(none[1]) != 0 {
		t.Errorf("files without text: %v, error %v", none, err)
	}
}

// failing is a backend that lists a note which is gone, and refuses to write if it is told to.
type failing struct {
	store.Backend
	gone string
	full bool
}

func (f *failing) List(ctx context.Context, prefix string) iter.Seq2[store.Entry, error] {
	return func(yield func(store.Entry, error) bool) {
		for entry, err := range f.Backend.List(ctx, prefix) {
			if !yield(entry, err) {
				return
			}
		}
		yield(store.Entry{Name: prefix + "/" + f.gone}, nil)
	}
}

func (f *failing) Write(ctx context.Context, name string, data []byte) error {
	if f.full {
		return errors.New("the disk is full")
	}
	return f.Backend.Write(ctx, name, data)
}

// TestNotesOfSeveralRuns: a note that another run removes meanwhile is no error, and one that is replaced goes after
// its successor is there.
func TestNotesOfSeveralRuns(t *testing.T) {
	c := &Chooser{Config: &config.Config{Languages: setting.Languages{Source: "de", Target: "en"}}, Models: config.Models{Encoder: &model.Model{}}}
	back, err := store.OpenDirectory(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	broken := &failing{Backend: back, gone: c.FittedName() + "-0.json"}
	st := store.New(broken, slog.New(slog.DiscardHandler))
	defer func() {
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	}()
	texts := [2][]file{{{"/de.txt", "a"}}, {{"/en.txt", "b"}}}
	if name, _, _, err := c.earlier(t.Context(), st, texts); err != nil || name != "" {
		t.Errorf("a note that is gone: %q, error %v", name, err)
	}
	if err := c.replace(t.Context(), st, nil, fitted{Texts: texts, Scorer: []byte("1")}); err != nil {
		t.Fatal(err)
	}
	first, _, all, err := c.earlier(t.Context(), st, texts)
	if err != nil || !slices.Equal(all, []string{first}) {
		t.Fatalf("%q and %q, error %v", first, all, err)
	}
	more := texts
	more[0] = append(slices.Clone(texts[0]), file{"/more.txt", "c"})
	broken.full = true
	if err := c.replace(t.Context(), st, all, fitted{Texts: more, Scorer: []byte("2")}); err == nil {
		t.Error("the note was written")
	}
	if _, err := st.ReadNote(t.Context(), record.FittedNote, first); err != nil {
		t.Errorf("the earlier note is gone: %v", err)
	}
	broken.full = false
	for range 2 { // again with the same text, under the same name
		if err := c.replace(t.Context(), st, all, fitted{Texts: more, Scorer: []byte("2")}); err != nil {
			t.Fatal(err)
		}
		var name string
		if name, _, all, err = c.earlier(t.Context(), st, more); err != nil || len(all) != 1 || name == first || !strings.HasPrefix(name, c.FittedName()) {
			t.Errorf("%q and %q, error %v", name, all, err)
		}
	}
	if _, err := st.ReadNote(t.Context(), record.FittedNote, first); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the note that was replaced: error %v", err)
	}
}

// TestNotesOfOtherCandidates: a scorer that was fitted without untranslated text among the candidates is not that of a
// run with it.
func TestNotesOfOtherCandidates(t *testing.T) {
	c := &Chooser{Config: &config.Config{}, Models: config.Models{Encoder: &model.Model{}}}
	without := c.FittedName()
	if c.Config.KeepCopies = true; c.FittedName() == without {
		t.Error("one note for both")
	}
}
