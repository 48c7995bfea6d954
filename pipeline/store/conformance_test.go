package store_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"bitextmine/pipeline/store"
)

// place is one place for outputs as several machines see it.
type place struct {
	// Open returns a store on the place, for one more machine.
	Open func(t testing.TB) *store.Store
	// Damage changes the stored bytes of an output's file, or removes them if content is nil, without the machines'
	// caches.
	Damage func(t testing.TB, task store.Task, file string, content []byte)
}

var task = store.Task{Stage: "encode", Key: "0123456789abcdef0123456789abcdef"}

// write returns a stage function that writes one file.
func write(content string) func(dir string) (any, error) {
	return func(dir string) (any, error) {
		return content, os.WriteFile(filepath.Join(dir, "data"), []byte(content), 0o600)
	}
}

func read(t testing.TB, out *store.Output) string {
	t.Helper()
	data, err := os.ReadFile(out.Path("data"))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// conformance runs the suite of stores. fresh returns a new place for each test.
func conformance(t *testing.T, fresh func(t testing.TB) place) {
	for name, test := range map[string]func(*testing.T, place){
		"made once":             madeOnce,
		"first writer wins":     firstWriterWins,
		"a failure is no file":  failureLeavesNothing,
		"damage is made again":  damageIsMadeAgain,
		"removed":               removed,
		"listed":                listed,
		"notes":                 notes,
		"several files":         severalFiles,
		"swept":                 swept,
		"an empty file is kept": emptyFile,
	} {
		t.Run(name, func(t *testing.T) { test(t, fresh(t)) })
	}
}

func madeOnce(t *testing.T, p place) {
	here, there := p.Open(t), p.Open(t)
	if _, err := here.Get(t.Context(), task); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("an output that nobody made: error %v", err)
	}
	out, err := here.Do(t.Context(), task, write("one"))
	if err != nil || out.Cached || read(t, out) != "one" {
		t.Fatalf("made %+v, error %v", out, err)
	}
	for _, machine := range []*store.Store{here, there} {
		out, err := machine.Do(t.Context(), task, func(string) (any, error) { return nil, errors.New("made twice") })
		if err != nil || !out.Cached || read(t, out) != "one" {
			t.Fatalf("found %+v, error %v", out, err)
		}
		var info string
		if json.Unmarshal(out.Info, &info) != nil || info != "one" {
			t.Errorf("info %s", out.Info)
		}
	}
}

// firstWriterWins lets several machines make one output at once, each with different bytes: all must end with the same
// output.
func firstWriterWins(t *testing.T, p place) {
	const machines = 4
	var started sync.WaitGroup
	started.Add(machines)
	var group sync.WaitGroup
	got := make([]string, machines)
	for i := range got {
		machine := p.Open(t)
		group.Go(func() {
			out, err := machine.Do(t.Context(), task, func(dir string) (any, error) {
				started.Done()
				started.Wait() // nobody finishes before all have begun
				return write(strings.Repeat("x", i+1))(dir)
			})
			if err != nil {
				t.Error(err)
				return
			}
			got[i] = read(t, out)
		})
	}
	group.Wait()
	if slices.Min(got) != slices.Max(got) || got[0] == "" {
		t.Errorf("machines ended with %q", got)
	}
}

func failureLeavesNothing(t *testing.T, p place) {
	s := p.Open(t)
	boom := errors.New("boom")
	_, err := s.Do(t.Context(), task, func(dir string) (any, error) {
		if _, err := write("half")(dir); err != nil {
			return nil, err
		}
		return nil, boom
	})
	if !errors.Is(err, boom) {
		t.Errorf("error %v", err)
	}
	if _, err := s.Get(t.Context(), task); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("after a failure: error %v", err)
	}
	if swept, _, err := s.Sweep(t.Context(), time.Now().Add(time.Hour)); swept != 0 || err != nil {
		t.Errorf("the failure left %d things behind, error %v", swept, err)
	}
}

func damageIsMadeAgain(t *testing.T, p place) {
	for name, content := range map[string][]byte{"changed": []byte("on3"), "longer": []byte("one "), "empty": {}, "gone": nil} {
		if _, err := p.Open(t).Do(t.Context(), task, write("one")); err != nil {
			t.Fatal(err)
		}
		p.Damage(t, task, "data", content)
		out, err := p.Open(t).Do(t.Context(), task, write("one"))
		if err != nil || out.Cached || read(t, out) != "one" {
			t.Fatalf("%s: found %+v, error %v", name, out, err)
		}
	}
}

func removed(t *testing.T, p place) {
	s := p.Open(t)
	if _, err := s.Do(t.Context(), task, write("one")); err != nil {
		t.Fatal(err)
	}
	for _, machine := range []*store.Store{p.Open(t), s, s} { // nor is it an error to remove what is not there
		if err := machine.Remove(t.Context(), task); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.Get(t.Context(), task); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("after its removal: error %v", err)
	}
	if out, err := s.Do(t.Context(), task, write("two")); err != nil || read(t, out) != "two" {
		t.Errorf("made again: %+v, error %v", out, err)
	}
}

func listed(t *testing.T, p place) {
	s := p.Open(t)
	want := []string{"a", "b", "c"}
	for _, key := range want {
		if _, err := s.Do(t.Context(), store.Task{Stage: "search", Key: key}, write("content of "+key)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.Do(t.Context(), store.Task{Stage: "searched", Key: "d"}, write("elsewhere")); err != nil {
		t.Fatal(err)
	}
	var got []string
	for entry, err := range s.List(t.Context(), "search") {
		if err != nil {
			t.Fatal(err)
		}
		if entry.Bytes < int64(len("content of a")) || time.Since(entry.Time).Abs() > time.Hour {
			t.Errorf("entry %+v", entry)
		}
		got = append(got, entry.Name)
	}
	if slices.Sort(got); !slices.Equal(got, want) {
		t.Errorf("listed %q", got)
	}
	for entry, err := range s.List(t.Context(), "nothing") {
		t.Errorf("listed %+v of nothing, error %v", entry, err)
	}
}

func notes(t *testing.T, p place) {
	here, there := p.Open(t), p.Open(t)
	if _, err := here.ReadNote(t.Context(), "plans", "a.json"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a note that nobody wrote: error %v", err)
	}
	for _, text := range []string{"one", "another", ""} {
		if err := here.WriteNote(t.Context(), "plans", "a.json", []byte(text)); err != nil {
			t.Fatal(err)
		}
		if got, err := there.ReadNote(t.Context(), "plans", "a.json"); err != nil || string(got) != text {
			t.Errorf("read %q, error %v", got, err)
		}
	}
	var found int
	for entry, err := range there.List(t.Context(), "plans") {
		if err != nil || entry.Name != "a.json" {
			t.Errorf("listed %+v, error %v", entry, err)
		}
		found++
	}
	for range 2 {
		if err := here.DeleteNote(t.Context(), "plans", "a.json"); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := there.ReadNote(t.Context(), "plans", "a.json"); found != 1 || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("found %d notes; after its removal: error %v", found, err)
	}
}

func severalFiles(t *testing.T, p place) {
	large := bytes.Repeat([]byte("0123456789abcdef"), 1<<19) // 8 MiB: more than one part of an upload
	files := map[string][]byte{"embedding.npy": large, "embedding.json": []byte("{}"), "ümläut x": []byte("name")}
	if _, err := p.Open(t).Do(t.Context(), task, func(dir string) (any, error) {
		for name, content := range files {
			if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
				return nil, err
			}
		}
		return nil, nil
	}); err != nil {
		t.Fatal(err)
	}
	out, err := p.Open(t).Get(t.Context(), task)
	if err != nil || len(out.Files) != len(files) {
		t.Fatalf("%+v, error %v", out, err)
	}
	for name, want := range files {
		if got, err := os.ReadFile(out.Path(name)); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: %d bytes of %d, error %v", name, len(got), len(want), err)
		}
	}
}

func swept(t *testing.T, p place) {
	s := p.Open(t)
	if _, err := s.Do(t.Context(), task, write("one")); err != nil {
		t.Fatal(err)
	}
	if swept, _, err := s.Sweep(t.Context(), time.Now().Add(time.Hour)); swept != 0 || err != nil {
		t.Errorf("swept %d whole outputs, error %v", swept, err)
	}
	if out, err := p.Open(t).Get(t.Context(), task); err != nil || read(t, out) != "one" {
		t.Errorf("after a sweep: error %v", err)
	}
}

func emptyFile(t *testing.T, p place) {
	if _, err := p.Open(t).Do(t.Context(), task, write("")); err != nil {
		t.Fatal(err)
	}
	if out, err := p.Open(t).Get(t.Context(), task); err != nil || read(t, out) != "" {
		t.Errorf("%+v, error %v", out, err)
	}
}
