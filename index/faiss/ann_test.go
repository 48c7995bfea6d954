package faiss

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"golang.org/x/sys/unix"

	"bitextmine/index"
	"bitextmine/index/approximate"
	"bitextmine/index/indextest"

	"bitextmine/internal/badinput"
)

// clustered has rows around centres, as sentence embeddings of a few topics, in two noisy copies.
func clustered(rng *rand.Rand, n, dim int) (src, tgt index.Side) {
	a, b := indextest.Paired(rng, n, dim)
	return indextest.Shuffled(rng, indextest.Float16(a, dim)), indextest.Float32(b, dim)
}

func TestApproximateFindsMostNeighbours(t *testing.T) {
	src, tgt := clustered(rand.New(rand.NewPCG(1, 1)), 3000, 32)
	truth := indextest.BruteForce(src, tgt, 4)
	for name, c := range map[string]struct {
		factory string
		opts    Options
		atLeast float64
	}{
		"all lists":       {"IVF16,Flat", Options{Settings: approximate.Settings{NProbe: 16}}, 1},
		"some lists":      {"IVF16,Flat", Options{Settings: approximate.Settings{NProbe: 8}}, 0.8},
		"graph":           {"HNSW16,Flat", Options{Settings: approximate.Settings{EfSearch: 128}}, 0.9},
		"codes re-ranked": {"IVF8,PQ16np", Options{Rerank: 16, Settings: approximate.Settings{NProbe: 8}}, 0.8},
		"rotated":         {"PCA16,IVF8,Flat", Options{Rerank: 16, Settings: approximate.Settings{NProbe: 8}}, 0.6},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := Open(c.factory, c.opts)
			if err != nil {
				t.Fatal(err)
			}
			got, err := s.Search(t.Context(), src, tgt, 4, nil)
			if err != nil {
				t.Fatal(err)
			}
			r := got.Recall
			if r.SourceRows != 1000 || r.TargetRows != 1000 {
				t.Errorf("recall measured on %d and %d rows, want 1000", r.SourceRows, r.TargetRows)
			}
			var all float64
			for i := range truth.Source.Len() {
				ids, want := truth.Source.Row(i)
				_, cosines := got.Source.Row(i)
				found, sought := approximate.Matches(ids, want, cosines)
				all += float64(found) / float64(sought)
			}
			all /= float64(truth.Source.Len())
			if all < c.atLeast || all > 1 {
				t.Errorf("recall %.3f, want at least %.2f", all, c.atLeast)
			}
			if r.Source < all-0.05 || r.Source > all+0.05 {
				t.Errorf("recall on the sample %.3f, on all rows %.3f", r.Source, all)
			}
			if c.atLeast == 1 {
				indextest.Same(t, "source", got.Source, truth.Source)
				indextest.Same(t, "target", got.Target, truth.Target)
			}
		})
	}
}

// Threads that insert into one graph would give another graph, and so other neighbours, each time.
func TestGraphsAreTheSameEachTime(t *testing.T) {
	src, tgt := clustered(rand.New(rand.NewPCG(6, 6)), 3000, 16)
	for _, factory := range []string{"HNSW4,Flat", "IVF512_HNSW4,Flat"} {
		t.Run(factory, func(t *testing.T) {
			var files [2][]byte
			for i := range files {
				opts := Options{Threads: 4, Settings: approximate.Settings{Dir: t.TempDir()}}
				s, err := Open(factory, opts)
				if err != nil {
					t.Fatal(err)
				}
				if _, err := s.Search(t.Context(), src, tgt, 4, nil); err != nil {
					t.Fatal(err)
				}
				for _, name := range names(t, opts.Dir) {
					b, err := os.ReadFile(filepath.Join(opts.Dir, name))
					if err != nil {
						t.Fatal(err)
					}
					files[i] = append(files[i], b...)
				}
			}
			if len(files[0]) == 0 || !bytes.Equal(files[0], files[1]) {
				t.Errorf("two builds gave %d and %d bytes that differ", len(files[0]), len(files[1]))
			}
		})
	}
}

// A row that repeats has one place in the index, and all its places in the lists.
func TestApproximateOpensRepeatedRows(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	rows := indextest.Random(rng, 400, 16)
	src := indextest.Float32(append(rows, rows[:200*16]...), 16)
	s, err := Open("IVF4,Flat", Options{Settings: approximate.Settings{NProbe: 4}})
	if err != nil {
		t.Fatal(err)
	}
	got, err := s.Search(t.Context(), src, src, 3, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := indextest.BruteForce(src, src, 3)
	indextest.Same(t, "source", got.Source, want.Source)
	if got.Recall.Min() != 1 {
		t.Errorf("recall %v, want 1", got.Recall)
	}
}

// A side whose different rows are fewer than the lists is compared whole, however many rows it has.
func TestFewDifferentRows(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	rows := indextest.Random(rng, 10, 8)
	few, many := indextest.Float32(append(slices.Clone(rows), rows...), 8), indextest.Float32(indextest.Random(rng, 40, 8), 8)
	for name, sides := range map[string][2]index.Side{"source": {few, many}, "target": {many, few}, "both": {few, few}} {
		s, err := Open("IVF16,Flat", Options{})
		if err != nil {
			t.Fatal(err)
		}
		got, err := s.Search(t.Context(), sides[0], sides[1], 4, nil)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		want := indextest.BruteForce(sides[0], sides[1], 4)
		indextest.Same(t, name+": source", got.Source, want.Source)
		indextest.Same(t, name+": target", got.Target, want.Target)
		if got.Recall.Min() != 1 {
			t.Errorf("%s: recall %v, want 1", name, got.Recall)
		}
	}
}

func TestApproximateBadInput(t *testing.T) {
	src, tgt := clustered(rand.New(rand.NewPCG(3, 3)), 300, 20)
	for name, c := range map[string]struct {
		factory string
		opts    Options
	}{
		"no factory":            {"", Options{}},
		"no such index":         {"IVF8,Flatt", Options{}},
		"codes that do not fit": {"PQ7", Options{}},
		"too few for codes":     {"PQ4x12", Options{}},
		"nprobe of a graph":     {"HNSW8,Flat", Options{Settings: approximate.Settings{NProbe: 4}}},
		"negative nprobe":       {"IVF8,Flat", Options{Settings: approximate.Settings{NProbe: -1}}},
		"too little rerank":     {"IVF8,Flat", Options{Rerank: 2}},
		"no such directory":     {"IVF8,Flat", Options{Settings: approximate.Settings{Dir: filepath.Join(t.TempDir(), "none")}}},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := Open(c.factory, c.opts)
			if err == nil {
				_, err = s.Search(t.Context(), src, tgt, 4, nil)
			}
			if !badinput.Is(err) {
				t.Errorf("error %v; want badinput", err)
			}
			t.Log(err)
		})
	}
}

func TestCheck(t *testing.T) {
	if err := Check("IVF8,PQ4np", 32, Options{Settings: approximate.Settings{NProbe: 2}}); err != nil {
		t.Error(err)
	}
	if err := Check("IVF8,PQ5np", 32, Options{}); !badinput.Is(err) {
		t.Errorf("error %v; want badinput", err)
	}
}

func TestIndexFilesAreKept(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	src, tgt := clustered(rng, 500, 16)
	opts := Options{Settings: approximate.Settings{NProbe: 2, Dir: t.TempDir()}}
	search := func(src, tgt index.Side) (index.Result, error) {
		s, err := Open("IVF8,Flat", opts)
		if err != nil {
			t.Fatal(err)
		}
		return s.Search(t.Context(), src, tgt, 4, nil)
	}
	first, err := search(src, tgt)
	if err != nil {
		t.Fatal(err)
	}
	files := names(t, opts.Dir)
	if len(files) != 2 {
		t.Fatalf("files %v, want one for each side", files)
	}
	again, err := search(src, tgt)
	if err != nil {
		t.Fatal(err)
	}
	indextest.Same(t, "source", again.Source, first.Source)
	if other, _ := clustered(rng, 500, 16); true {
		if _, err := search(other, tgt); err != nil {
			t.Fatal(err)
		}
	}
	if now := names(t, opts.Dir); len(now) != 3 {
		t.Errorf("files %v, want one more for the other source", now)
	}

	healed := func(t *testing.T) {
		t.Helper()
		again, err := search(src, tgt)
		if err != nil {
			t.Fatal(err)
		}
		indextest.Same(t, "source", again.Source, first.Source)
	}
	t.Run("of other vectors", func(t *testing.T) {
		swap(t, filepath.Join(opts.Dir, files[0]), filepath.Join(opts.Dir, files[1]))
		healed(t)
	})
	for name, damage := range map[string]func(data []byte) []byte{
		"cut short": func(data []byte) []byte { return data[:len(data)/2] },
		"empty":     func([]byte) []byte { return nil },
		"a label without an index": func(data []byte) []byte {
			return data[bytes.LastIndex(data, []byte(kind.Magic())):]
		},
		"a label without a digest": func(data []byte) []byte {
			return regexp.MustCompile(`,"payload_sha256":"[0-9a-f]*"`).ReplaceAll(data, nil)
		},
		"an id of a row that is not there": func(data []byte) []byte {
			ids := bytes.Index(data, []byte{1, 0, 0, 0, 0, 0, 0, 0}) // FAISS stores them in 64 bits
			data[ids+4] = 0x7f
			return data
		},
		"a changed vector": func(data []byte) []byte {
			data[len(data)/2] ^= 0x40
			return data
		},
		"a length of 2^60 lists": func(data []byte) []byte {
			lists := bytes.Index(data, []byte{8, 0, 0, 0, 0, 0, 0, 0})
			data[lists+7] = 0x10
			return data
		},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(opts.Dir, files[0])
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			whole := slices.Clone(data)
			if err := os.WriteFile(path, damage(data), 0o644); err != nil {
				t.Fatal(err)
			}
			healed(t)
			if now, err := os.ReadFile(path); err != nil || !bytes.Equal(now, whole) {
				t.Errorf("the index file was not made again: %d bytes, %v", len(now), err)
			}
		})
	}
}

func TestBuildIsCancelled(t *testing.T) {
	src, tgt := clustered(rand.New(rand.NewPCG(5, 5)), 300, 8)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	s, err := Open("IVF8,Flat", Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Search(ctx, src, tgt, 4, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v; want context.Canceled", err)
	}
}

// FuzzIndexFile reads arbitrary bytes as an index file: FAISS sees only what was published, all else is damage.
func FuzzIndexFile(f *testing.F) {
	src, tgt := clustered(rand.New(rand.NewPCG(9, 9)), 300, 8)
	opts := Options{Settings: approximate.Settings{NProbe: 2, Dir: f.TempDir()}}
	s, err := Open("IVF8,Flat", opts)
	if err != nil {
		f.Fatal(err)
	}
	if _, err := s.Search(f.Context(), src, tgt, 4, nil); err != nil {
		f.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(opts.Dir, "*"))
	if err != nil || len(files) != 2 {
		f.Fatalf("files %v, error %v", files, err)
	}
	whole, err := os.ReadFile(files[0])
	if err != nil {
		f.Fatal(err)
	}
	var want approximate.Label
	if err := json.Unmarshal(whole[bytes.LastIndex(whole, []byte(kind.Magic()))+len(kind.Magic()):], &want); err != nil {
		f.Fatal(err)
	}
	want.Payload = ""
	f.Add(whole)
	f.Add(whole[len(whole)/2:])
	f.Add(append(whole[:len(whole)/2:len(whole)/2], whole[bytes.LastIndex(whole, []byte(kind.Magic())):]...))
	f.Fuzz(func(t *testing.T, content []byte) {
		path := filepath.Join(t.TempDir(), "x.faiss")
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		idx, err := load(path, want, opts)
		if err == nil {
			idx.Delete()
		}
		payload := whole[:bytes.LastIndex(whole, []byte(kind.Magic()))]
		if err == nil && !bytes.HasPrefix(content, payload) || err != nil && !errors.As(err, new(approximate.Damage)) {
			t.Errorf("error %v of %d bytes; want damage", err, len(content))
		}
	})
}

func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}

func swap(t *testing.T, a, b string) {
	t.Helper()
	for _, move := range [][2]string{{a, a + ".x"}, {b, a}, {a + ".x", b}} {
		if err := os.Rename(move[0], move[1]); err != nil {
			t.Fatal(err)
		}
	}
}

// TestFAISSIsQuiet: a side with few rows is no reason for FAISS to write to standard error.
func TestFAISSIsQuiet(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	before, err := unix.Dup(2)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.Dup2(int(w.Fd()), 2); err != nil {
		t.Fatal(err)
	}
	src, tgt := clustered(rand.New(rand.NewPCG(7, 7)), 300, 16)
	for _, factory := range []string{"IVF16,Flat", "PQ4np", "PCA8,IVF8,PQ4np", "IVF32_HNSW4,Flat"} {
		s, failed := Open(factory, Options{})
		if failed == nil {
			_, failed = s.Search(t.Context(), src, tgt, 4, nil)
		}
		err = errors.Join(err, failed)
	}
	err = errors.Join(err, unix.Dup2(before, 2), unix.Close(before), w.Close())
	said, failed := io.ReadAll(r)
	if err = errors.Join(err, failed); err != nil || len(said) > 0 {
		t.Errorf("FAISS wrote %q, error %v", said, err)
	}
}
