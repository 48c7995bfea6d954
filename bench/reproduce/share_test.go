package main

import (
	"errors"
	"path/filepath"
	"slices"
	"testing"
)

// TestEach: what another process holds is done after the rest, and another error ends it.
func TestEach(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a", "row")
	release, err := take(path)
	if err != nil {
		t.Fatal(err)
	}
	var done []string
	err = each(t.Context(), []string{"held", "free"}, func(job string) error {
		if job == "held" {
			end, err := take(path)
			if err != nil {
				return err
			}
			defer func() { _ = end() }()
		} else if err := release(); err != nil {
			return err
		}
		done = append(done, job)
		return nil
	})
	if want := []string{"free", "held"}; err != nil || !slices.Equal(done, want) {
		t.Errorf("%v, want %v, %v", done, want, err)
	}
	wrong := errors.New("wrong")
	if err := each(t.Context(), []int{1}, func(int) error { return wrong }); !errors.Is(err, wrong) {
		t.Errorf("got %v", err)
	}
}
