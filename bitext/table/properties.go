package table

import (
	"errors"
	"io"
	"log/slog"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v15/arrow/array"

	"bitextmine/bitext/exchange"
)

const (
	// propertyUnits and propertyBytes are how many units of a TMX, and bytes of them, say which properties are columns.
	propertyUnits = 1000
	propertyBytes = 8 << 20
	// maxProperties is the most columns that properties are.
	maxProperties = 200
)

// properties makes columns of the properties of a TMX's units. The first units say which there are.
type properties struct {
	begun   bool
	ahead   []exchange.Record // those read to find the columns
	end     error             // what Next returned after them; nil: there are more
	taken   []string          // columns of other content, whose names properties cannot have
	columns []string
	lost    int // properties that are no column
}

// record returns the next record. Before the first it makes the columns of the texts.
func (s *pairSource) record() (rec exchange.Record, err error) {
	if s.units && !s.begun {
		s.begun = true
		for _, field := range s.texts.builder.Schema().Fields() {
			s.taken = append(s.taken, field.Name)
		}
		s.look(s.reader)
		s.texts = newTexts(slices.Concat(s.taken, s.columns))
	}
	switch {
	case len(s.ahead) > 0:
		rec, s.ahead = s.ahead[0], s.ahead[1:]
		return rec, nil
	case s.end != nil:
		err, s.end = s.end, nil
	default:
		rec, err = s.reader.Next()
	}
	if errors.Is(err, io.EOF) && s.lost > 0 {
		slog.Warn("properties of units are left out, as the first units have none of their names", "file", s.name, "properties", s.lost, "first units", propertyUnits)
		s.lost = 0
	}
	return rec, err
}

// look reads the first units for the names of columns.
func (p *properties) look(from exchange.Reader) {
	for bytes := 0; len(p.ahead) < propertyUnits && bytes < propertyBytes; {
		rec, err := from.Next()
		if err != nil {
			p.end = err
			return
		}
		p.ahead = append(p.ahead, rec)
		bytes += len(rec.Source) + len(rec.Target)
		for _, one := range rec.Properties {
			bytes += len(one.Name) + len(one.Value)
			if !slices.Contains(p.taken, one.Name) && !slices.Contains(p.columns, one.Name) && len(p.columns) < maxProperties {
				p.columns = append(p.columns, one.Name)
			}
		}
	}
}

// appendTo appends a unit's properties to the columns. Several of one name are joined by commas, as lists are in TSV.
func (p *properties) appendTo(columns []*array.StringBuilder, of []exchange.Property) {
	for i, name := range p.columns {
		var values []string
		for _, one := range of {
			if one.Name == name {
				values = append(values, one.Value)
			}
		}
		columns[i].Append(strings.Join(values, ","))
	}
	for _, one := range of {
		if !slices.Contains(p.columns, one.Name) && !slices.Contains(p.taken, one.Name) {
			p.lost++
		}
	}
}
