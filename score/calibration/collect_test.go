package calibration

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"bitextmine/bitext/exchange"
	"bitextmine/encode/embedding"
	"bitextmine/index"
	"bitextmine/index/exact"
	"bitextmine/internal/badinput"
	"bitextmine/mine"
	"bitextmine/score/inject"
)

const dim = 256

// numbered encodes "x 12" near to "y 12", and to nothing else.
type numbered struct{}

func (numbered) Dim() int { return dim }

func (numbered) Encode(_ context.Context, _ string, texts []string, dst []float32) error {
	for i, text := range texts {
		var n int
		if _, err := fmt.Sscanf(text[2:], "%d", &n); err != nil {
			return err
		}
		dst[i*dim+n] = 1
	}
	return nil
}

func newHost(t *testing.T, source, target []string) *inject.Host {
	t.Helper()
	searcher, err := exact.Open(exact.Options{Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	h := &inject.Host{Texts: [2][]string{source, target}, K: 2, Searcher: searcher, Encoder: numbered{}}
	for side, texts := range h.Texts {
		rows := make([]float32, len(texts)*dim)
		if err := (numbered{}).Encode(t.Context(), "", texts, rows); err != nil {
			t.Fatal(err)
		}
		h.Vectors[side] = embedding.FromFloat32(rows, dim)
	}
	found, err := searcher.Search(t.Context(), index.Side{Vectors: h.Vectors[0]}, index.Side{Vectors: h.Vectors[1]}, h.K, nil)
	if err != nil {
		t.Fatal(err)
	}
	h.Lists = [2]mine.Neighbours{found.Source, found.Target}
	return h
}

// numberedPairs are translations with the numbers from lo to hi.
func numberedPairs(lo, hi int) (pairs []exchange.Pair) {
	for n := lo; n < hi; n++ {
		pairs = append(pairs, exchange.Pair{Source: fmt.Sprint("x ", n), Target: fmt.Sprint("y ", n)})
	}
	return pairs
}

// TestCollect: with an encoder that knows all, every whole pair is found, no unpaired source is, and so are the host's
// own pairs.
func TestCollect(t *testing.T) {
	h := newHost(t, []string{"x 0", "x 1", "x 2", "x 3"}, []string{"y 1", "y 2", "y 9"})
	pairs := append(numberedPairs(1, 2), numberedPairs(100, 160)...) // the first is in the host
	o, err := Collect(t.Context(), h, pairs, mine.Absolute)
	if err != nil {
		t.Fatal(err)
	}
	if o.Sources != 4 || o.Dropped != 1 || len(o.Whole) != 30 || len(o.Unpaired) != 30 {
		t.Fatalf("%+v", o)
	}
	own := 0
	for _, score := range o.Found {
		if score == 1 {
			own++
		}
	}
	if own != 2 {
		t.Errorf("found %v, want x 1 with y 1 and x 2 with y 2", o.Found)
	}
	for i := range o.Whole {
		if o.Whole[i].Right != 1 || !math.IsInf(o.Whole[i].Wrong, -1) || o.Unpaired[i] > 0 {
			t.Errorf("pair %d became %+v, an unpaired source %v", i, o.Whole[i], o.Unpaired[i])
		}
	}
	path := filepath.Join(t.TempDir(), "outcomes.json")
	if err := o.Write(path); err != nil {
		t.Fatal(err)
	}
	if read, err := Read(path); err != nil || !reflect.DeepEqual(read, o) {
		t.Errorf("read %+v, error %v; want %+v", read, err, o)
	}
	if err := os.WriteFile(path, []byte("[]"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(path); !badinput.Is(err) {
		t.Errorf("another file: error %v", err)
	}
	repeated := slices.Concat(pairs[1:31], pairs[1:31]) // the text has none of them
	_, err = Collect(t.Context(), h, repeated, mine.Absolute)
	if !badinput.Is(err) || !strings.Contains(err.Error(), "of 30 more, the text or a pair before has a sentence): give at least 40") {
		t.Errorf("too few: error %v", err)
	}
}
