package weights

import (
	"errors"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"

	"bitextmine/internal/badinput"
)

// ReadModel reads the tensors of a directory for which keep returns true (all if keep is nil), by name.
func ReadModel(dir string, keep func(name string) bool) (tensors []*Tensor, err error) {
	s, err := OpenStore(dir)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	for _, name := range s.Names() {
		if keep != nil && !keep(name) {
			continue
		}
		values, err := s.Read(name)
		if err != nil {
			return nil, err
		}
		tensors = append(tensors, &Tensor{Name: name, Shape: s.tensors[name].Shape, Data: values})
	}
	return tensors, nil
}

// Store is the weights in a directory: model.safetensors, or the shards in model.safetensors.index.json. OpenStore
// reads headers alone, and tensors are read when they are asked for, so that a model need not fit into memory. A Store
// is used by one goroutine at a time; Close must be called last.
type Store struct {
	files   []*os.File
	tensors map[string]stored
}

type stored struct {
	entry
	file *os.File
}

// OpenStore reads the headers of the weights in a directory. Every shard must be there, with the tensors that the index
// places in it.
func OpenStore(dir string) (_ *Store, err error) {
	s := &Store{tensors: map[string]stored{}}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.Close())
		}
	}()
	one := filepath.Join(dir, ModelName)
	if _, err := os.Stat(one); err == nil {
		return s, s.open(one)
	}
	index, shardOf, err := readIndex(dir)
	if err != nil {
		return s, err
	}
	shards, err := shardsIn(index, shardOf)
	if err != nil {
		return s, err
	}
	for _, shard := range shards {
		path := filepath.Join(dir, shard)
		if _, err := os.Stat(path); err != nil {
			return s, badinput.Errorf("%s names the shard %s, which is missing: fetch that file, too", index, path)
		}
		if err := s.open(path); err != nil {
			return s, err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(shardOf)) {
		if t, ok := s.tensors[name]; !ok || filepath.Base(t.file.Name()) != shardOf[name] {
			return s, badinput.Errorf("%s places %s in %s, which does not hold it: fetch the model again", index, name,
				shardOf[name])
		}
	}
	return s, nil
}

// open adds the tensors of a file.
func (s *Store) open(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	s.files = append(s.files, f)
	info, err := f.Stat()
	if err != nil {
		return err
	}
	entries, _, err := readHeader(f, info.Size())
	if err != nil {
		return badinput.Errorf("%s cannot be read as safetensors: %w", path, err)
	}
	for _, e := range entries {
		if other, ok := s.tensors[e.Name]; ok {
			return badinput.Errorf("%s holds %s, and so does %s: fetch the model again", path, e.Name, other.file.Name())
		}
		s.tensors[e.Name] = stored{e, f}
	}
	return nil
}

// Names lists the tensors in order.
func (s *Store) Names() []string { return slices.Sorted(maps.Keys(s.tensors)) }

// Shape is a tensor's shape; false if there is no such tensor.
func (s *Store) Shape(name string) ([]int, bool) {
	t, ok := s.tensors[name]
	return t.Shape, ok
}

// Read reads a whole tensor. A value that is NaN, infinite or nearly so (Tensor.Sound) is a badinput error.
func (s *Store) Read(name string) ([]float32, error) { return s.Rows(name, 0, math.MaxInt) }

// Rows reads the rows of a tensor's first axis from one to before another, as far as there are any; a tensor without
// axes has one row.
func (s *Store) Rows(name string, from, to int) ([]float32, error) {
	t, ok := s.tensors[name]
	if !ok {
		return nil, badinput.Errorf("the weights have no tensor %s: fetch the model again", name)
	}
	rows := 1
	if len(t.Shape) > 0 {
		rows = t.Shape[0]
	}
	from, to = min(from, rows), min(to, rows)
	if rows == 0 || from == to {
		return nil, nil
	}
	row := (t.Offsets[1] - t.Offsets[0]) / int64(rows)
	values, err := t.read(t.file, t.Offsets[0]+int64(from)*row, t.Offsets[0]+int64(to)*row)
	if err != nil {
		return nil, badinput.Errorf("%s cannot be read as safetensors: %w", t.file.Name(), err)
	}
	if !(&Tensor{Data: values}).Sound() {
		return nil, badinput.Errorf("%s: %s holds numbers that are infinite, or nearly so, or none at all: copy the weights again",
			t.file.Name(), name)
	}
	return values, nil
}

// Integers reads a tensor of whole numbers.
func (s *Store) Integers(name string) ([]int64, error) {
	t, ok := s.tensors[name]
	if !ok {
		return nil, badinput.Errorf("the weights have no tensor %s: fetch the model again", name)
	}
	raw := make([]byte, t.Offsets[1]-t.Offsets[0])
	if _, err := t.file.ReadAt(raw, t.Offsets[0]); err != nil {
		return nil, err
	}
	numbers, err := decodeIntegers(t.DType, raw)
	if err != nil {
		return nil, badinput.Errorf("%s: the tensor %s %w", t.file.Name(), name, err)
	}
	return numbers, nil
}

// Close closes the files.
func (s *Store) Close() error {
	var all []error
	for _, f := range s.files {
		all = append(all, f.Close())
	}
	return errors.Join(all...)
}
