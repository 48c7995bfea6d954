package backend

import (
	"testing"

	"bitextmine/index/approximate"
	"bitextmine/internal/badinput"
)

func TestOpen(t *testing.T) {
	for _, name := range []string{"exact", "faiss:Flat", "faiss:IVF16,Flat", "ivf:16"} {
		s, err := Open(name, Options{Threads: 1})
		if err != nil {
			t.Fatal(err)
		}
		if s.Name() != name {
			t.Errorf("Name() = %q, want %q", s.Name(), name)
		}
	}
}

func TestCheckBadInput(t *testing.T) {
	cases := map[string]struct {
		name string
		opts Options
	}{
		"no name":         {"", Options{}},
		"unknown":         {"annoy", Options{}},
		"no driver":       {"cuda", Options{}},
		"no factory":      {"faiss:", Options{}},
		"bad factory":     {"faiss:IVF16,Flatt", Options{}},
		"factory and dim": {"faiss:PQ7np", Options{}},
		"threads":         {"exact", Options{Threads: -1}},
		"faiss threads":   {"faiss:Flat", Options{Threads: -1}},
		"nprobe":          {"faiss:IVF16,Flat", Options{Approximate: approximate.Settings{NProbe: -1}}},
		"nprobe of exact": {"exact", Options{Approximate: approximate.Settings{NProbe: 4}}},
		"nprobe of cuda":  {"cuda", Options{Approximate: approximate.Settings{NProbe: 4}}},
		"nprobe of flat":  {"faiss:Flat", Options{Approximate: approximate.Settings{NProbe: 4}}},
		"nprobe of graph": {"faiss:HNSW8,Flat", Options{Approximate: approximate.Settings{NProbe: 4}}},
		"no lists":        {"ivf:", Options{}},
		"half a list":     {"ivf:1.5", Options{}},
		"nprobe of ivf":   {"ivf:16", Options{Approximate: approximate.Settings{NProbe: 17}}},
		"efSearch of ivf": {"ivf:16", Options{Approximate: approximate.Settings{EfSearch: 4}}},
		"efSearch of IVF": {"faiss:IVF16,Flat", Options{Approximate: approximate.Settings{EfSearch: 4}}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if err := Check(c.name, 32, c.opts); !badinput.Is(err) {
				t.Errorf("error %v; want badinput", err)
			}
		})
	}
	for name, opts := range map[string]approximate.Settings{"exact": {}, "faiss:PQ8np": {}, "faiss:IVF16,Flat": {NProbe: 4}, "faiss:HNSW8,Flat": {EfSearch: 4}, "ivf:16": {NProbe: 16}} {
		if err := Check(name, 32, Options{Approximate: opts}); err != nil {
			t.Error(err)
		}
	}
}
