// Package cuda finds the nearest neighbours of both sides of a cell on NVIDIA's GPUs, with kernels of its own: it needs
// the driver and no other library.
//
// A product of a tile of queries with a tile of the base, in float16 with float32 sums, is never written to memory. Of
// each row of scores only the largest of each 32 neighbours is, and of each column that of each 16 (maxima). The keep
// groups with the largest maxima have the keep largest scores of a list; select keeps them, and rescore computes their
// scores again and returns the best. What comes back are lists of a few candidates, k and some more, and how large the
// score of any other row can be. Their cosines are computed again on the host, and lists that the bound of the
// product's error does not prove are computed from all rows, as in every exact search: the result equals that of
// float64.
package cuda

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"runtime"
	"sync"

	"golang.org/x/sync/errgroup"

	"bitextmine/index"
	"bitextmine/internal/badinput"
	"bitextmine/internal/cuda"
)

// Name is the name of this package's searcher.
const Name = "cuda"

// Options are the settings of a search.
type Options struct {
	Threads int // host threads; 0: all processors that Go may use
	Rows    int // rows of either side of a block at first, a multiple of 256; 0: what fits into memory
}

// bundle has the kernels: make cuda-kernels makes it of kernels.py.
//
//go:embed kernels.json.gz
var bundle []byte

var sources = sync.OnceValue(func() cuda.Bundle { return cuda.ReadBundle(bundle) })

// hopper is the compute capability times 10 that has a kernel of its own, with tiles of its own.
const hopper = 90

type searcher struct {
	gpus    []cuda.GPU
	threads int
	rows    int
	busy    chan struct{} // one search at a time has the GPUs
}

// Open returns the searcher on all GPUs that the process sees. Errors are badinput: options out of range, no driver, no
// GPU, or one that is too old.
func Open(opts Options) (index.Searcher, error) {
	if opts.Threads < 0 || opts.Rows < 0 || opts.Rows%tileRows != 0 {
		return nil, badinput.Errorf(
			"a search cannot use %d threads and blocks of %d rows; give positive numbers, rows in multiples of %d, or 0 for the default",
			opts.Threads, opts.Rows, tileRows)
	}
	driver, err := cuda.OpenDriver()
	if err != nil {
		return nil, err
	}
	for _, g := range driver.GPUs {
		if g.TooOld() {
			return nil, badinput.Errorf(
				"GPU %d is %s, older than the kernels of search = %s, which need 8.0 (Ampere): hide it with CUDA_VISIBLE_DEVICES, or search with exact",
				g.Number, g, Name)
		}
	}
	s := &searcher{gpus: driver.GPUs, threads: opts.Threads, rows: opts.Rows, busy: make(chan struct{}, 1)}
	if s.threads == 0 {
		s.threads = runtime.GOMAXPROCS(0)
	}
	return s, nil
}

func (s *searcher) Name() string { return Name }

// Search implements index.Searcher.
func (s *searcher) Search(ctx context.Context, src, tgt index.Side, k int, report func(float64)) (result index.Result, err error) {
	cell, err := index.NewCell(ctx, src, tgt, k)
	if err != nil {
		return index.Result{}, err
	}
	defer cell.Close()
	select {
	case s.busy <- struct{}{}:
		defer func() { <-s.busy }()
	case <-ctx.Done():
		return index.Result{}, ctx.Err()
	}
	report = rising(report)
	devices, err := s.attach(k + extra(cell.Source, cell.Target))
	defer func() {
		for _, d := range devices {
			err = cmp.Or(err, d.close())
		}
	}()
	if err != nil {
		return index.Result{}, explained(err)
	}
	for rows := s.rows; ; {
		var z size
		p := newPass(s, cell, devices, report)
		if z, err = p.fit(rows); err == nil {
			err = p.run(ctx, z)
		}
		if rows = max(z.queries, z.base); !cuda.NoMemory(err) || rows == tileRows {
			break
		}
		rows = ceil(rows/2, tileRows) // somebody else took memory meanwhile
	}
	if err != nil {
		return index.Result{}, explained(err)
	}
	if report != nil {
		report(1)
	}
	return cell.Result()
}

// rising passes on what is more than everything before: a search that starts again with smaller blocks shows no way
// back.
func rising(report func(float64)) func(float64) {
	if report == nil {
		return nil
	}
	var mu sync.Mutex
	var most float64
	return func(fraction float64) {
		mu.Lock()
		defer mu.Unlock()
		if fraction > most || most == 0 {
			most = fraction
			report(fraction)
		}
	}
}

// explained says what to do about an error of the driver.
func explained(err error) error {
	var e *cuda.Error
	switch {
	case !errors.As(err, &e):
		return err
	case cuda.NoMemory(err):
		return badinput.Errorf("%w: even blocks of %d rows do not fit; end what else runs there, or search with exact", err, tileRows)
	case e.Code == 222: // CUDA_ERROR_UNSUPPORTED_PTX_VERSION
		return badinput.Errorf("%w: the driver is older than 525; install a newer one, or search with exact", err)
	}
	return fmt.Errorf("%w; check it (nvidia-smi, the kernel's log) and start again, or search with exact", err)
}

// device is a GPU with its kernels.
type device struct {
	*cuda.Device
	maxima, choose, rescore *cuda.Kernel
	colTile                 int // base rows of a tile of maxima
}

// attach compiles the kernels for lists of so many candidates on all GPUs. What was attached must be closed also after
// an error.
func (s *searcher) attach(keep int) ([]*device, error) {
	var slots string
	for _, n := range []int{16, 32, 128} {
		if slots == "" && keep <= n {
			slots = fmt.Sprint(n)
		}
	}
	devices := make([]*device, len(s.gpus))
	var g errgroup.Group
	for i, on := range s.gpus {
		d := &device{colTile: 128}
		if source("maxima", on).Capability == hopper {
			d.colTile = 256
		}
		devices[i] = d
		g.Go(func() (err error) {
			if d.Device, err = cuda.Attach(on); err != nil {
				return err
			}
			var kernels errgroup.Group
			for _, k := range []struct {
				name string
				to   **cuda.Kernel
			}{{"maxima", &d.maxima}, {"select" + slots, &d.choose}, {"rescore" + slots, &d.rescore}} {
				kernels.Go(func() (err error) {
					*k.to, err = d.Compile(source(k.name, on))
					return err
				})
			}
			return kernels.Wait()
		})
	}
	return devices, g.Wait()
}

// source is the kernel of a name for a GPU.
func source(name string, on cuda.GPU) cuda.Source { return sources().Find(name, on) }

func (d *device) close() (err error) {
	for _, k := range []*cuda.Kernel{d.maxima, d.choose, d.rescore} {
		if k != nil {
			err = cmp.Or(err, k.Release())
		}
	}
	if d.Device != nil {
		err = cmp.Or(err, d.Close())
	}
	return err
}

// Memory is the bytes of the host that a search takes beside the result's lists: what is copied to the devices, and
// candidates.
func Memory(rows, cols, k int) int64 {
	return 2*stagingValues*2 + (8*int64(k+maxExtra)+8)*int64(rows+cols)
}
