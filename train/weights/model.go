package weights

import (
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

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
	path := filepath.Join(dir, indexName)
	raw, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, badinput.Errorf("%s has neither %s nor %s: convert the weights to safetensors", dir, ModelName,
			indexName)
	} else if err != nil {
		return nil, err
	}
	var index struct {
		WeightMap map[string]string `json:"weight_map"`
	}
	if err := json.Unmarshal(raw, &index); err != nil {
		return nil, badinput.Errorf("%s is not the index of a model: %w", path, err)
	}
	return readShards(path, index.WeightMap, keep)
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
