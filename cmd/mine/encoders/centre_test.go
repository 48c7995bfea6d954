package encoders

import (
	"slices"
	"testing"
)

// meter counts what it is told.
type meter struct{ added, skipped int64 }

func (m *meter) Add(n int64)  { m.added += n }
func (m *meter) Skip(n int64) { m.skipped += n }
func (m *meter) Done()        {}

// TestCounted: a text that has fewer sentences than may be taken of it is told to its end all the same.
func TestCounted(t *testing.T) {
	m, got := &meter{}, []string(nil)
	texts := func(yield func(string, error) bool) { _ = yield("one", nil) && yield("two", nil) }
	for text, err := range counted(texts, 5, m) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, text)
	}
	if !slices.Equal(got, []string{"one", "two"}) || m.added != 2 || m.skipped != 3 {
		t.Errorf("%q, %+v", got, m)
	}
}
