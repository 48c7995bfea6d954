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

// TestTeachers: trainings at the same time have a folder of teachers each, and later ones find theirs.
func TestTeachers(t *testing.T) {
	m := &maker{options: options{out: t.TempDir()}}
	var names []string
	var releases []func() error
	for range 2 {
		dir, release, err := m.teacher()
		if err != nil {
			t.Fatal(err)
		}
		names, releases = append(names, filepath.Base(dir)), append(releases, release)
	}
	if err := releases[0](); err != nil {
		t.Fatal(err)
	}
	dir, release, err := m.teacher()
	if names = append(names, filepath.Base(dir)); err != nil || !slices.Equal(names, []string{"teacher-1", "teacher-2", "teacher-1"}) {
		t.Errorf("%v, %v", names, err)
	}
	if err := errors.Join(release(), releases[1]()); err != nil {
		t.Error(err)
	}
}
