package pairs

import (
	"reflect"
	"testing"

	"bitextmine/bitext"
)

// TestRecordsKeepAlignments: a pair read again says how its documents were aligned.
func TestRecordsKeepAlignments(t *testing.T) {
	for _, a := range []*bitext.Alignment{
		nil,
		{FoundBy: bitext.Global, Sentences: [2]uint32{1, 1}},
		{FoundBy: bitext.Local, Sentences: [2]uint32{2, 300}, Bead: &bitext.Bead{Score: 0.5, DocScore: 0.25, First: [2]uint32{7, 1000}}},
	} {
		row := bitext.Row{Features: []float32{1}, Alignment: a}
		row.Source.Text, row.Target.Text = "Guten Morgen.", "Good morning."
		r := record{appendRow(nil, &row)}
		if got := r.row(); !reflect.DeepEqual(*got, row) || len(r.data) != 0 {
			t.Errorf("%+v with the alignment %+v, want %+v", got, got.Alignment, a)
		}
		if spans := row.Spans(); spans != (a != nil && a.FoundBy == bitext.Local) {
			t.Errorf("%+v spans sentences: %v", a, spans)
		}
	}
}
