package scorer

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"bitextmine/internal/badinput"
	"bitextmine/pipeline/plan"
	"bitextmine/pipeline/record"
	"bitextmine/pipeline/store"
)

// fitted is the content of a note of a scorer that was fitted on the way.
type fitted struct {
	Texts  [2][]file       `json:"texts"` // the input files of both sides that it was fitted to
	Scorer json.RawMessage `json:"scorer"`
}

// file is what tells an input file: one that grows keeps its path, one that moves keeps its digest.
type file struct {
	Path   string `json:"path"`
	SHA256 string `json:"sha256"`
}

// textsOf are the input files of a text.
func textsOf(languages []plan.Language) (texts [2][]file) {
	for side := range texts {
		for _, in := range languages[side].Inputs {
			texts[side] = append(texts[side], file{in.Path, in.SHA256})
		}
	}
	return texts
}

// shared is how many of the files of a text a fitted scorer knows; 0: it knows one of the sides not at all, so it was
// fitted to other text.
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

// earlier returns the scorer that was fitted to more of a text's files than the others, and the notes of all that were
// fitted to any of them. No scorer: there is none.
func (c *Chooser) earlier(ctx context.Context, st *store.Store, texts [2][]file) (scorer []byte, notes []string, err error) {
	most, from := 0, ""
	for entry, err := range st.List(ctx, record.FittedNote) {
		if err != nil {
			return nil, nil, err
		}
		if !strings.HasPrefix(entry.Name, c.FittedName()) {
			continue
		}
		data, err := st.ReadNote(ctx, record.FittedNote, entry.Name)
		if err != nil {
			return nil, nil, err
		}
		var of fitted
		if err := json.Unmarshal(data, &of); err != nil && !c.Config.Refit {
			return nil, nil, badinput.Errorf("the note %s/%s of a fitted scorer is damaged; remove it, or fit again with --refit",
				record.FittedNote, entry.Name)
		} else if err != nil {
			notes = append(notes, entry.Name)
			continue
		}
		n := of.shared(texts)
		if n == 0 {
			continue
		}
		notes = append(notes, entry.Name)
		if n > most || n == most && entry.Name < from { // a listing has no order
			most, from, scorer = n, entry.Name, of.Scorer
		}
	}
	return scorer, notes, nil
}

// keep stores a scorer that was fitted to a text, in place of the given notes.
func (c *Chooser) keep(ctx context.Context, st *store.Store, texts [2][]file, scorer []byte, replaced []string) error {
	for _, name := range replaced {
		if err := st.DeleteNote(ctx, record.FittedNote, name); err != nil {
			return err
		}
	}
	data, err := json.Marshal(fitted{Texts: texts, Scorer: scorer})
	if err != nil {
		return fmt.Errorf("encode a fitted scorer: %w", err)
	}
	return st.WriteNote(ctx, record.FittedNote, fmt.Sprintf("%s-%s.json", c.FittedName(), plan.Digest([]any{texts})), data)
}
