package scorer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"bitextmine/internal/badinput"
	"bitextmine/pipeline/plan"
	"bitextmine/pipeline/record"
	"bitextmine/pipeline/store"
)

// fitted is the content of a note of a scorer that was fitted on the way.
type fitted struct {
	Texts  [2][]file       `json:"texts"` // the input files of both sides that it decided about last
	Scorer json.RawMessage `json:"scorer"`
}

// file is what tells an input file: one that grows keeps its path, one that moves keeps its digest.
type file struct {
	Path   string `json:"path"` // path from the root, as runs that share a store may start in different directories
	SHA256 string `json:"sha256"`
}

// filesOf lists the input files of a text, without those that are empty or bad, which say nothing of it.
func filesOf(text func() ([]plan.Language, error)) (texts [2][]file, err error) {
	languages, err := text()
	if err != nil {
		return texts, err
	}
	for side := range texts {
		for _, in := range languages[side].Inputs {
			if in.Bytes == 0 || in.Bad != "" {
				continue
			}
			path := in.Path
			if !in.Builtin {
				if path, err = filepath.Abs(path); err != nil {
					return texts, err
				}
			}
			texts[side] = append(texts[side], file{path, in.SHA256})
		}
	}
	return texts, nil
}

// shared is how many of the files of a text a fitted scorer knows; 0: it knows one of the sides not at all, so it is of
// other text.
func (f *fitted) shared(texts [2][]file) int {
	all := 0
	for side, files := range texts {
		known := make(map[string]bool, 2*len(f.Texts[side]))
		for _, of := range f.Texts[side] {
			known[of.Path], known[of.SHA256] = true, true
		}
		n := 0
		for _, in := range files {
			if known[in.Path] || known[in.SHA256] {
				n++
			}
		}
		if n == 0 {
			return 0
		}
		all += n
	}
	return all
}

// earlier returns the name of the note of the scorer that knows more of a text's files than the others, with that
// scorer, and the names of all that know any of them. Empty: there is none.
func (c *Chooser) earlier(ctx context.Context, st *store.Store, texts [2][]file) (name string, of fitted, all []string, err error) {
	most := 0
	for entry, err := range st.List(ctx, record.FittedNote) {
		if err != nil {
			return "", fitted{}, nil, err
		}
		if !strings.HasPrefix(entry.Name, c.FittedName()) {
			continue
		}
		data, err := st.ReadNote(ctx, record.FittedNote, entry.Name)
		if errors.Is(err, fs.ErrNotExist) {
			continue // another run has replaced it meanwhile
		}
		if err != nil {
			return "", fitted{}, nil, err
		}
		var this fitted
		if err := json.Unmarshal(data, &this); err != nil && !c.Config.Refit {
			return "", fitted{}, nil, badinput.Errorf("the note %s/%s of a fitted scorer is damaged; remove it, or fit again with --refit",
				record.FittedNote, entry.Name)
		} else if err != nil {
			all = append(all, entry.Name)
			continue
		}
		n := this.shared(texts)
		if n == 0 {
			continue
		}
		all = append(all, entry.Name)
		if n > most || n == most && entry.Name < name { // a listing has no order
			most, name, of = n, entry.Name, this
		}
	}
	return name, of, all, nil
}

// fitAnew fits a scorer to a text and stores it in place of the given notes.
func (c *Chooser) fitAnew(
	ctx context.Context, st *store.Store, texts [2][]file, replaced []string, collect Collect,
) (scorer []byte, err error) {
	scorer, err = c.fit(ctx, collect)
	if err != nil {
		return nil, err
	}
	return scorer, c.replace(ctx, st, replaced, fitted{Texts: texts, Scorer: scorer})
}

// replace writes the note of a scorer and only then removes those that it replaces: without any, a run that begins
// meanwhile would fit one of its own.
func (c *Chooser) replace(ctx context.Context, st *store.Store, replaced []string, by fitted) error {
	own := fmt.Sprintf("%s-%s.json", c.FittedName(), plan.Digest([]any{by.Texts}))
	if err := write(ctx, st, own, by); err != nil {
		return err
	}
	for _, name := range replaced {
		if name == own {
			continue
		}
		if err := st.DeleteNote(ctx, record.FittedNote, name); err != nil {
			return err
		}
	}
	return nil
}

// follow notes that a scorer decides about a text, of which a later one may share other files than of the text that it
// was fitted to.
func (c *Chooser) follow(ctx context.Context, st *store.Store, name string, of fitted, texts [2][]file) error {
	if c.Config.DryRun != nil || slices.Equal(of.Texts[0], texts[0]) && slices.Equal(of.Texts[1], texts[1]) {
		return nil
	}
	of.Texts = texts
	return write(ctx, st, name, of)
}

func write(ctx context.Context, st *store.Store, name string, of fitted) error {
	data, err := json.Marshal(of)
	if err != nil {
		return fmt.Errorf("encode a fitted scorer: %w", err)
	}
	return st.WriteNote(ctx, record.FittedNote, name, data)
}
