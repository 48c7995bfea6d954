package plan

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"bitextmine/corpus"
)

// Versions of the stages: one more whenever a stage's output changes for the same spec.
const (
	shardVersion  = 1
	encodeVersion = 1
	searchVersion = 1
	mergeVersion  = 1
	matchVersion  = 1
)

// shardSpec is what a file's shards depend on.
type shardSpec struct {
	Input     string // SHA-256 of the file's bytes
	Name      string // without its directory: its extension may tell the format
	Normalise int    // version of corpus.Normalise
	Options   corpus.Options
}

// encodeSpec is what an embedding file depends on.
type encodeSpec struct {
	Shard    string // digest
	Encoder  string // digest
	Language string // chooses the encoder's prefix
	DType    string
}

// searchSpec is what a cell's neighbours depend on. The keys of encoding tasks stand for the embeddings' digests: they are
// derived from the digests of everything that an embedding is made from.
type searchSpec struct {
	Source, Target string // keys of the encoding tasks
	Search         string // setting.Searching.SearchKey
	K              int
}

// mergeSpec is what a shard's neighbours over a cover depend on. How they came together, from which base, does not show.
type mergeSpec struct {
	Shard  string // key of its encoding task
	Side   string // which of a cell's two lists are its own
	Cover  Cover
	Search string
	K      int
}

// matchSpec is what the bitext depends on. Names of shards are in it, as the bitext gives them.
type matchSpec struct {
	Version  string // the bitext names the program's
	Settings Settings
	Sides    [2]matchSide
}

type matchSide struct {
	Language string
	Inputs   [][2]string // path, digest: the run's id
	Shards   [][3]string // name, digest, key of the merge
}

// key is the content key of a task: the SHA-256 of the stage's name and version, and of the JSON of spec, a struct that lists
// exactly the parameters and inputs that change the output.
func key(stage string, version int, spec any) string {
	data, err := json.Marshal(spec)
	if err != nil {
		panic(fmt.Sprintf("spec of stage %s: %v", stage, err)) // specs are our own plain structs
	}
	h := sha256.New()
	fmt.Fprintf(h, "%s\x00%d\x00", stage, version)
	h.Write(data)
	return hex.EncodeToString(h.Sum(nil))[:32]
}
