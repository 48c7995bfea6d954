package exchange

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"bitextmine/corpus"
	"bitextmine/corpus/input"
	"bitextmine/internal/badinput"
)

// jsonlReader reads one JSON object a line. The first object must have both keys, so that a misspelt name is reported
// at once; a later one without them is malformed. null is an empty text.
type jsonlReader struct {
	lines   *corpus.LineFile
	name    string
	opts    Options
	checked bool // the first object has both keys
}

func openJSONL(in input.File, opts Options) (*jsonlReader, error) {
	lines, err := corpus.OpenLines(in, maxLineBytes)
	if err != nil {
		return nil, err
	}
	return &jsonlReader{lines: lines, name: in.Path, opts: opts}, nil
}

// Next implements Reader.
func (r *jsonlReader) Next() (Record, error) {
	line, err := r.lines.Next()
	if err != nil {
		return Record{}, err
	}
	rec := recordOf(line)
	if rec.Reason == "" {
		err = r.decode(line, &rec)
	}
	return rec, err
}

func (r *jsonlReader) decode(line corpus.Line, rec *Record) error {
	var object map[string]json.RawMessage
	if err := json.Unmarshal([]byte(line.Text), &object); err != nil || object == nil {
		rec.Reason, rec.Detail = corpus.ReasonMalformed, "not a JSON object"
		return nil
	}
	for _, name := range r.opts.Added {
		if _, ok := object[name]; ok {
			return alreadyHas(r.name, name)
		}
	}
	for _, want := range []struct {
		key string
		to  *string
	}{{r.opts.SourceColumn, &rec.Source}, {r.opts.TargetColumn, &rec.Target}} {
		raw, ok := object[want.key]
		if !ok && !r.checked {
			return badinput.Errorf("%s:%d: no key %q; the object has %s: name the right one",
				r.name, line.Number, want.key, strings.Join(slices.Sorted(maps.Keys(object)), ", "))
		}
		if !ok {
			rec.Reason, rec.Detail = corpus.ReasonMalformed, fmt.Sprintf("no key %q", want.key)
			continue
		}
		text, ok := corpus.JSONText(raw)
		if !ok {
			rec.Reason, rec.Detail = corpus.ReasonMalformed, fmt.Sprintf("the value of %q is not a text", want.key)
			continue
		}
		*want.to = text
	}
	r.checked = true
	return nil
}

// Close implements Reader.
func (r *jsonlReader) Close() error { return r.lines.Close() }
