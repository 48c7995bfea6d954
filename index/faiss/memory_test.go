package faiss

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"bitextmine/index"
	"bitextmine/index/indextest"
	"bitextmine/internal/badinput"
)

// starved is an index whose calls run out of memory one after the other, as FAISS says it.
type starved struct {
	after   int // calls that succeed
	deleted int
}

func (s *starved) call() error {
	if s.after--; s.after < 0 {
		return errors.New("std::bad_alloc")
	}
	return nil
}

func (s *starved) Train([]float32) error                               { return s.call() }
func (s *starved) Add([]float32) error                                 { return s.call() }
func (s *starved) Search([]float32, int64) ([]float32, []int64, error) { return nil, nil, s.call() }
func (s *starved) Delete()                                             { s.deleted++ }

// onStarved is a processor that makes one.
type onStarved struct{ idx *starved }

func (onStarved) prefix() string { return Prefix }

func (o onStarved) create(string, int, int, Options) (native, error) { return o.idx, nil }

func (onStarved) slack(*index.Half, Options) float64 { return 0 }

// Memory that is too short is told in one sentence, and the index is freed.
func TestOutOfMemory(t *testing.T) {
	src, tgt := clustered(rand.New(rand.NewPCG(6, 6)), 100, 8)
	for name, c := range map[string]struct {
		after int
		says  string
	}{
		"to train": {0, "not enough memory to train"},
		"to add":   {1, "not enough memory for a FAISS index"},
	} {
		t.Run(name, func(t *testing.T) {
			idx := &starved{after: c.after}
			s, err := openOn(onStarved{idx}, "IVF8,Flat", Options{})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := s.Search(t.Context(), src, tgt, 4, nil); !badinput.Is(err) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("error %v; want badinput that says %q", err, c.says)
			}
			if idx.deleted != 1 {
				t.Errorf("the index was freed %d times", idx.deleted)
			}
		})
	}
}

// childLists, in the environment, makes the test's process a child that has hardly any memory left and makes an index
// of so many lists.
const childLists = "MINE_TEST_FAISS_STARVED"

// A real allocation that fails inside FAISS comes back through the C API as that sentence.
func TestStarvedProcess(t *testing.T) {
	if indextest.Instrumented {
		t.Skip("a sanitizer ends the process where an allocation fails")
	}
	if os.Getenv(childLists) != "" {
		size, err := os.ReadFile("/proc/self/statm")
		if err != nil {
			t.Fatal(err)
		}
		var pages uint64
		if _, err := fmt.Sscan(string(size), &pages); err != nil {
			t.Fatal(err)
		}
		limit := pages*uint64(os.Getpagesize()) + 1<<30
		if err := unix.Setrlimit(unix.RLIMIT_AS, &unix.Rlimit{Cur: limit, Max: limit}); err != nil {
			t.Fatal(err)
		}
		fmt.Println(Check("IVF200000000,Flat", 8, Options{}))
		return
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestStarvedProcess$")
	cmd.Env = append(os.Environ(), childLists+"=1")
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), `not enough memory to make the index "IVF200000000,Flat"`) {
		t.Errorf("%v: %s", err, out)
	}
}
