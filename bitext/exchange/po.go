package exchange

import (
	"errors"
	"io"

	"bitextmine/corpus"
	"bitextmine/corpus/input"
	"bitextmine/corpus/page"
	"bitextmine/internal/badinput"
)

// poReader reads a gettext catalogue: each original with its translation. Messages without a translation, and those
// that are marked fuzzy, are Untranslated.
type poReader struct {
	io.Closer
	name     string
	messages page.Reader
	any      bool
}

func openPO(in input.File) (*poReader, error) {
	lines, f, err := input.OpenLines(in, MaxLineBytes)
	if err != nil {
		return nil, err
	}
	return &poReader{Closer: f, name: in.Path, messages: page.NewPO(lines, "msgstr")}, nil
}

// Next implements Reader.
func (r *poReader) Next() (Record, error) {
	p, err := r.messages.Next()
	if errors.Is(err, io.EOF) && !r.any {
		return Record{}, badinput.Errorf("%s holds no message: give a gettext catalogue", r.name)
	}
	if err != nil {
		return Record{}, err
	}
	r.any = true
	rec := Record{Number: p.Number, Reason: corpus.Reason(p.Skip), Detail: p.Detail}
	switch {
	case p.Skip == page.Empty:
		rec.Reason, rec.Detail = Untranslated, "the message has no translation, or is fuzzy"
	case rec.Reason == "":
		rec.Pair = Pair{p.Columns["msgid"], p.Columns["msgstr"]}
	}
	return rec, nil
}
