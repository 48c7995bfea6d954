package weights

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"bitextmine/internal/badinput"
)

// The file names of a model's weights on Hugging Face: one file, or the index of several.
const (
	ModelName = "model.safetensors"
	indexName = "model.safetensors.index.json"
)

// ReadModel reads the weights in a directory, model.safetensors or the shards in model.safetensors.index.json, as
// ReadFile does.
func ReadModel(dir string, keep func(name string) bool) ([]*Tensor, error) {
	one := filepath.Join(dir, ModelName)
	if _, err := os.Stat(one); err == nil {
		tensors, _, err := ReadFile(one, keep)
		return tensors, err
	}
	index, shardOf, err := readIndex(dir)
	if err != nil {
		return nil, err
	}
	return readShards(index, shardOf, keep)
}

// readIndex reads model.safetensors.index.json: its path, and the shard of each tensor.
func readIndex(dir string) (path string, shardOf map[string]string, err error) {
	path = filepath.Join(dir, indexName)
	raw, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil, badinput.Errorf("%s has neither %s nor %s: convert the weights to safetensors", dir, ModelName,
			indexName)
	} else if err != nil {
		return "", nil, err
	}
	var index struct {
		WeightMap map[string]string `json:"weight_map"`
	}
	if err := json.Unmarshal(raw, &index); err != nil {
		return "", nil, badinput.Errorf("%s is not the index of a model: %w", path, err)
	}
	return path, index.WeightMap, nil
}

// readShards reads every shard and checks that each tensor is in the shard that the index names, and in no other.
func readShards(index string, shardOf map[string]string, keep func(name string) bool) ([]*Tensor, error) {
	var all []*Tensor
	found := map[string]bool{}
	shards := slices.Compact(slices.Sorted(maps.Values(shardOf)))
	if len(shards) == 0 {
		return nil, badinput.Errorf("%s names no shard in weight_map", index)
	}
	for _, shard := range shards {
		if !hasPathIn(shard) {
			return nil, badinput.Errorf("%s names the shard %q, which is not a file beside it", index, shard)
		}
		path := filepath.Join(filepath.Dir(index), shard)
		var stray []string
		tensors, _, err := ReadFile(path, func(name string) bool {
			if shardOf[name] != shard {
				stray = append(stray, name)
			}
			found[name] = true
			return keep == nil || keep(name)
		})
		if err != nil {
			return nil, err
		}
		if stray != nil {
			return nil, badinput.Errorf("%s holds %s, which %s does not place there: fetch the model again", path,
				names(stray), index)
		}
		all = append(all, tensors...)
	}
	var missing []string
	for name := range shardOf {
		if !found[name] {
			missing = append(missing, name)
		}
	}
	if missing != nil {
		return nil, badinput.Errorf("the shards of %s lack %s: fetch the model again", index, names(missing))
	}
	return all, nil
}

// Match reports all tensors that are missing, have another shape or are not expected, in one badinput error.
func Match(specs []Spec, tensors []*Tensor) error {
	byName := map[string]*Tensor{}
	for _, t := range tensors {
		byName[t.Name] = t
	}
	var wrong []string
	for _, s := range specs {
		t := byName[s.Name]
		delete(byName, s.Name)
		switch {
		case t == nil:
			wrong = append(wrong, s.Name+" is missing")
		case !slices.Equal(t.Shape, s.Shape):
			wrong = append(wrong, fmt.Sprintf("%s has the shape %v instead of %v", s.Name, t.Shape, s.Shape))
		}
	}
	for _, t := range tensors {
		if byName[t.Name] == t {
			wrong = append(wrong, t.Name+" has no place in the model")
		}
	}
	if wrong != nil {
		return badinput.Errorf("the weights do not fit the model: %s", list(wrong))
	}
	return nil
}

// Arrange returns the tensors in the order of specs, with their NoDecay, if Match finds no problem.
func Arrange(specs []Spec, tensors []*Tensor) ([]*Tensor, error) {
	if err := Match(specs, tensors); err != nil {
		return nil, err
	}
	byName := map[string]*Tensor{}
	for _, t := range tensors {
		byName[t.Name] = t
	}
	out := make([]*Tensor, len(specs))
	for i, s := range specs {
		out[i] = byName[s.Name]
		out[i].NoDecay = s.NoDecay
	}
	return out, nil
}

// list joins sentences; of many only the first few.
func list(wrong []string) string {
	const maxListed = 5
	if len(wrong) > maxListed {
		return fmt.Sprintf("%s and %d more", strings.Join(wrong[:maxListed], "; "), len(wrong)-maxListed)
	}
	return strings.Join(wrong, "; ")
}
