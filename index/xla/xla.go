// Package xla finds the nearest neighbours of both sides of a cell on GPUs, in programs that a PJRT plugin compiles: it
// needs XLA's plugin for the GPU and no other library.
//
// The larger side, the base, is cut into blocks that stay on the devices; several devices share them. The queries come
// in tiles. A program multiplies a tile with a block, in float16 with float32 sums, and merges the largest scores of
// each row into the lists of the queries and those of each column into the lists of the base block, which stay on the
// device, too. What comes back are lists of a few candidates, k and some more. Their cosines are computed again on the
// host, and lists that the bound of the product's error does not prove are computed from all rows, as in every exact
// search: the result equals a float64 brute force.
package xla

import (
	"context"
	"errors"
	"runtime"
	"sync"

	xla "github.com/gomlx/go-xla/pjrt"

	"bitextmine/index"
	"bitextmine/internal/badinput"
	"bitextmine/internal/pjrt"
)

// Prefix begins the names of this package's searchers: xla:cuda, xla:PATH.
const Prefix = pjrt.Prefix

// CUDA is the searcher on NVIDIA's GPUs.
const CUDA = Prefix + pjrt.CUDA

// Options are the settings of a search.
type Options struct {
	Threads int // host threads; 0: all processors that Go may use
	Devices int // how many are used; 0: all
	Tile    int // rows of either side of a tile of scores at first, a power of two; 0: 16,384 on a GPU, 2,048 on a CPU

	fault func(device int, operation string) error // test hook
}

// A tile of 16,384 x 16,384 scores is 1 GiB, and the product of two such tiles of 1,024 values takes about as long as
// reading the scores four times. minTile is the smallest that is tried when memory is short.
const (
	gpuTile = 16384
	cpuTile = 2048
	minTile = 1024
)

type searcher struct {
	name    string
	client  *xla.Client
	devices []*device
	threads int
	tile    int

	mu       sync.Mutex
	programs map[shape]*xla.LoadedExecutable
}

// Open returns the searcher of a name, xla:cuda or xla:PATH. Errors are badinput: options out of range, a plugin that
// cannot be opened, one for the CPU in place of a GPU's, a device that computes less exactly than the bound assumes.
func Open(name string, opts Options) (index.Searcher, error) {
	if opts.Threads < 0 || opts.Devices < 0 || opts.Tile < 0 {
		return nil, badinput.Errorf(
			"a search cannot use %d threads, %d devices and tiles of %d rows; give positive numbers, or 0 for the default",
			opts.Threads, opts.Devices, opts.Tile)
	}
	if opts.Tile != 0 && opts.Tile != ceilPower(opts.Tile) {
		return nil, badinput.Errorf(
			"a tile of %d rows is not possible; give a power of two from %d on, or 0 for the default",
			opts.Tile, ceilPower(1))
	}
	client, err := clientOf(name)
	if err != nil {
		return nil, err
	}
	if have := client.NumDevices(); opts.Devices > have {
		return nil, badinput.Errorf("the search is to use %d devices but there are %d; set fewer, or 0 for all",
			opts.Devices, have)
	}
	s := &searcher{name: name, client: client, devices: devices(client, opts.Devices), threads: opts.Threads,
		tile: opts.Tile, programs: map[shape]*xla.LoadedExecutable{}}
	if s.threads == 0 {
		s.threads = runtime.GOMAXPROCS(0)
	}
	if s.tile == 0 {
		if s.tile = gpuTile; client.Platform() == "cpu" {
			s.tile = cpuTile
		}
	}
	for _, d := range s.devices {
		if err := d.probe(); err != nil {
			return nil, err
		}
		d.fault = opts.fault
	}
	return s, nil
}

// clientOf opens the plugin of a searcher's name.
func clientOf(name string) (*xla.Client, error) {
	device := name
	if name == CUDA {
		device = pjrt.CUDA
	}
	path, err := pjrt.Find(device)
	if err != nil {
		return nil, err
	}
	client, err := pjrt.Shared(path)
	if err == nil && name == CUDA && client.Platform() == "cpu" {
		err = badinput.Errorf("%s names %s, a plugin for the CPU; name one for CUDA, or search with exact", pjrt.Env,
			path)
	}
	return client, err
}

// Devices names the devices that the searcher of a name would use. Its error names what is missing.
func Devices(name string) ([]string, error) {
	client, err := clientOf(name)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, d := range devices(client, 0) {
		names = append(names, d.name)
	}
	return names, nil
}

func (s *searcher) Name() string { return s.name }

// Search implements index.Searcher.
func (s *searcher) Search(ctx context.Context, src, tgt index.Side, k int, report func(float64)) (index.Result, error) {
	cell, err := index.NewCell(ctx, src, tgt, k)
	if err != nil {
		return index.Result{}, err
	}
	defer cell.Close()
	report = rising(report)
	size := s.firstSize(cell)
	for {
		err := s.newPass(cell, size, report).run(ctx)
		if err == nil {
			break
		}
		if !errors.Is(err, errMemory) {
			return index.Result{}, err
		}
		smaller, ok := size.smaller()
		if !ok {
			return index.Result{}, badinput.Errorf(
				"%w: even tiles of %d rows do not fit; use a smaller shard_size, end what else runs there, or search with exact",
				err, size.tile)
		}
		size = smaller
	}
	if report != nil {
		report(1)
	}
	return cell.Result(), nil
}

// rising passes on what is more than everything before: a search that starts again with smaller tiles shows no way
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

// size is how much of a cell is on a device at a time.
type size struct {
	tile     int // rows of either side of a tile
	resident int // base rows that stay there, a multiple of the tile
}

func (s *searcher) firstSize(cell *index.Cell) size {
	rows := max(cell.Source.Len(), cell.Target.Len())
	tile := min(s.tile, ceilPower(rows))
	blocks := (rows + tile - 1) / tile
	return size{tile, (blocks + len(s.devices) - 1) / len(s.devices) * tile}
}

// smaller halves the tiles, then what is resident, then the tiles again.
func (z size) smaller() (size, bool) {
	switch {
	case z.tile > 4*minTile:
		return size{z.tile / 2, z.resident}, true
	case z.resident > z.tile:
		return size{z.tile, (z.resident/z.tile + 1) / 2 * z.tile}, true
	case z.tile > minTile:
		return size{z.tile / 2, z.tile / 2}, true
	}
	return z, false
}

// ceilPower is the smallest power of two that is at least n and 8 groups.
func ceilPower(n int) int {
	p := 8 * group
	for p < n {
		p *= 2
	}
	return p
}

// compiled returns the program of a shape.
func (s *searcher) compiled(of shape) (*xla.LoadedExecutable, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.programs[of] == nil {
		err := s.devices[0].do("compiling", func() (err error) {
			s.programs[of], err = s.client.Compile().WithStableHLO([]byte(of.program())).Done()
			return err
		})
		if err != nil {
			delete(s.programs, of)
			return nil, err
		}
	}
	return s.programs[of], nil
}

// Memory is the bytes of the host that a search takes beside the result's lists: tiles in float16, and candidates.
func Memory(rows, cols, dim, k int) int64 {
	tile := int64(min(gpuTile, ceilPower(max(rows, cols))))
	return 8*tile*int64(dim) + 8*int64(k+maxExtra)*(int64(min(rows, cols))+2*tile)
}
