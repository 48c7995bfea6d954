package view

import (
	"slices"
	"testing"

	"bitextmine/internal/spill"
)

// TestStore: lists come back from memory and from a file, and what cannot be read is told.
func TestStore(t *testing.T) {
	for _, space := range []spill.Space{{}, {Dir: t.TempDir()}} {
		var s SpilledLists
		lists, set, err := s.New(space, 100, 3)
		if err != nil {
			t.Fatal(err)
		}
		for i := range 100 {
			if err := set(i, []int32{int32(i), 7, -1}, []float32{1, -0.5, 0}); err != nil {
				t.Fatal(err)
			}
		}
		for i := range 100 {
			ids, cosines := lists.Row(i)
			if !slices.Equal(ids, []int32{int32(i), 7, -1}) || !slices.Equal(cosines, []float32{1, -0.5, 0}) {
				t.Errorf("list %d is %v, %v", i, ids, cosines)
			}
		}
		if err := s.Close(); err != nil || lists.Len() != 100 {
			t.Errorf("%d lists, error %v", lists.Len(), err)
		}
		if space.Dir == "" {
			continue
		}
		if ids, _ := lists.Row(0); !slices.Equal(ids, []int32{-1, -1, -1}) || s.Err() == nil {
			t.Errorf("a closed list is %v, error %v", ids, s.Err())
		}
	}
}
