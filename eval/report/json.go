package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
)

// writeJSON writes one object: the figures of the only row, or of the average, are members of the object itself, and
// all rows are under "rows".
func (r *Report) writeJSON(w io.Writer) error {
	objects := func(rows []Row) []ordered {
		out := make([]ordered, 0, len(rows))
		for _, row := range rows {
			out = append(out, r.fields(row))
		}
		return out
	}
	object := []field{{"protocol", r.Protocol}, {"definition", r.Definition}, {"encoder", r.Encoder},
		{"unit", "percent"}}
	switch {
	case len(r.Means) > 0:
		object = append(object, r.fields(r.Means[len(r.Means)-1])...)
	case len(r.Rows) == 1:
		object = append(object, r.fields(r.Rows[0])...)
	}
	object = append(object, field{"rows", objects(r.Rows)}, field{"means", objects(r.Means)})
	if len(r.Notes) > 0 {
		object = append(object, field{"notes", r.Notes})
	}
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(ordered(object))
}

// fields returns a row as JSON members: its name, its figures, and its counts under "counts".
func (r *Report) fields(row Row) ordered {
	out, counts := ordered{{r.Label, row.Name}}, ordered{}
	for i, cell := range row.Cells {
		f := field{r.Columns[i].Name, cell}
		if r.Columns[i].Kind == Count {
			counts = append(counts, f)
		} else {
			out = append(out, f)
		}
	}
	return append(out, field{"counts", counts})
}

type field struct {
	name  string
	value any
}

// ordered is a JSON object that preserves the order of its members.
type ordered []field

func (o ordered) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	b.WriteByte('{')
	for i, f := range o {
		if i > 0 {
			b.WriteByte(',')
		}
		if err := e.Encode(f.name); err != nil {
			return nil, err
		}
		b.WriteByte(':')
		if err := e.Encode(f.value); err != nil {
			return nil, fmt.Errorf("%s: %w", f.name, err)
		}
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}
