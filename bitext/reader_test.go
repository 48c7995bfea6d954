package bitext

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"bitextmine/corpus"
	"bitextmine/internal/badinput"
)

func TestReaderReturnsWhatWasWritten(t *testing.T) {
	want := sampleRows(RowGroup + 7)
	path := filepath.Join(t.TempDir(), "de-en.parquet")
	if err := os.WriteFile(path, write(t, want), 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}()
	if r.Len() != len(want) || r.Metadata()["margin"] != "ratio" || r.Metadata()["search_recall"] != "exact" {
		t.Errorf("%d rows, metadata %v", r.Len(), r.Metadata())
	}
	n := 0
	for row, err := range r.Rows(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(row, want[n]) {
			t.Fatalf("row %d = %+v, want %+v", n, row, want[n])
		}
		n++
	}
	if n != len(want) {
		t.Errorf("%d rows, want %d", n, len(want))
	}
}

func TestOpenRefuses(t *testing.T) {
	whole := write(t, sampleRows(10))
	for name, data := range map[string][]byte{
		"text":      []byte("no Parquet at all, but long enough to hold a footer"),
		"cut short": whole[:len(whole)-100],
		"empty":     {},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "x.parquet")
			if err := os.WriteFile(path, data, 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := Open(path); !badinput.Is(err) || !strings.Contains(err.Error(), path) {
				t.Errorf("error %v does not name the file as bad input", err)
			}
		})
	}
}

func FuzzOpen(f *testing.F) {
	f.Add(write(f, sampleRows(3)))
	f.Add([]byte("PAR1PAR1"))
	f.Fuzz(func(t *testing.T, data []byte) {
		path := filepath.Join(t.TempDir(), "x.parquet")
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		r, err := Open(path)
		if err != nil {
			return
		}
		for _, err := range r.Rows(t.Context()) {
			if err != nil {
				break
			}
		}
		_ = r.Close()
	})
}

// TestColumnsOfDocuments: places and alignments, and their absence, come back as they were written.
func TestColumnsOfDocuments(t *testing.T) {
	want := sampleRows(4)
	want[0].Source.Place = &corpus.Place{Paragraph: 1, Position: 2, Start: 3, End: 40}
	want[1].Target.Place = &corpus.Place{}
	want[0].Alignment = &Alignment{FoundBy: Both, Sentences: [2]uint32{1, 1}, Bead: &Bead{Score: 0.5, DocScore: 0.25, First: [2]uint32{7, 8}}}
	want[1].Alignment = &Alignment{FoundBy: Global, Sentences: [2]uint32{1, 1}}
	want[2].Alignment = &Alignment{FoundBy: Local, Sentences: [2]uint32{2, 3}, Bead: &Bead{Score: 1}}
	path := filepath.Join(t.TempDir(), "de-en.parquet")
	var out bytes.Buffer
	w, err := NewWriter(&out, Metadata{Places: true, Documents: &Documents{Pairs: 3, Both: 1, Local: 1}})
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range want {
		if err := w.Append(row); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, out.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	n := 0
	for row, err := range r.Rows(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(row, want[n]) {
			t.Errorf("row %d = %+v %+v, want %+v %+v", n, row, row.Alignment, want[n], want[n].Alignment)
		}
		n++
	}
	if said := r.Metadata(); n != 4 || said["document_pairs"] != "3" || said["found_locally"] != "1" {
		t.Errorf("%d rows, metadata %v", n, said)
	}
}
