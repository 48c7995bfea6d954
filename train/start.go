package train

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/gomlx/compute"

	"bitextmine/encode"
	"bitextmine/internal/badinput"
	"bitextmine/train/encoder"
	"bitextmine/train/weights"
)

// natureKey is the metadata of a checkpoint's encoder.safetensors that holds its nature.
const natureKey = "encoder"

// nature is what tensors do not tell of the encoder that they are of. Another training goes on from them only under the
// same.
type nature struct {
	Kind        string            `json:"kind"`
	Vocabulary  string            `json:"vocabulary"` // SHA-256 of the tokenizer's file
	NGrams      [2]int            `json:"ngrams"`     // of a bag: the shortest and the longest
	Transformer *encoder.Settings `json:"transformer,omitempty"`
}

// newNature describes the preset's encoder over the vocabulary in dir.
func newNature(c *Config, e encoder.Encoder, dir string) (nature, error) {
	digest, err := vocabularyDigest(c, dir)
	if err != nil {
		return nature{}, err
	}
	n := nature{Kind: c.Encoder.Kind, Vocabulary: digest}
	if t, ok := e.(*encoder.Transformer); ok {
		n.Transformer = &t.Settings
		return n, nil
	}
	n.NGrams = lengths(c.Encoder.Bag.NGrams)
	return n, nil
}

func (n nature) metadata() (map[string]string, error) {
	text, err := json.Marshal(n)
	return map[string]string{natureKey: string(text)}, err
}

func vocabularyDigest(c *Config, dir string) (string, error) {
	raw, err := os.ReadFile(filepath.Join(dir, vocabularyName(c.Tokenizer)))
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:]), nil
}

func lengths(n encoder.NGrams) [2]int {
	if n.Most == 0 {
		return [2]int{}
	}
	return [2]int{n.Least, n.Most}
}

// startEncoder makes the encoder of encoder.start: of a checkpoint that mine train left or, for a transformer, of
// published weights. dir is the training's own.
func startEncoder(c *Config, v *encode.Vocabulary, backend compute.Backend, dir string) (encoder.Encoder, error) {
	path := filepath.Join(c.Encoder.Start, encoderFile)
	_, err := os.Stat(path)
	switch {
	case err == nil:
		return continued(c, v, backend, dir, path)
	case !errors.Is(err, fs.ErrNotExist):
		return nil, badinput.Errorf("encoder.start: %w", err)
	case c.Encoder.Kind == "bag":
		return nil, badinput.Errorf("encoder.start: %s is missing: name a checkpoint of a training, OUT/%s/step-N", path, checkpointsDir)
	}
	return published(c, v, backend)
}

// published is a transformer of weights that others published, which give it its shape.
func published(c *Config, v *encode.Vocabulary, backend compute.Backend) (encoder.Encoder, error) {
	settings, tensors, err := encoder.ReadPublished(c.Encoder.Start, c.Encoder.Transformer.Pooling)
	if err != nil {
		return nil, err
	}
	if v.Rows() > settings.Vocabulary {
		return nil, badinput.Errorf("%s has %d words, but ids of %s reach %d: give the tokenizer that was published with the weights",
			c.Encoder.Start, settings.Vocabulary, c.Tokenizer.File, v.Rows()-1)
	}
	preset := c.Encoder.Transformer
	settings.Dropout, settings.Precision, settings.Projection = preset.Dropout, preset.Precision, preset.Projection
	tensors = append(tensors, newTensors(settings.ProjectionSpecs(), c.Seed)...)
	return encoder.NewTransformer(settings, backend, tensors)
}

// continued is the encoder of a checkpoint's file. A transformer gets its shape, too; a bag must be of the preset's.
func continued(c *Config, v *encode.Vocabulary, backend compute.Backend, dir, path string) (encoder.Encoder, error) {
	stored, metadata, err := weights.ReadFile(path, nil)
	if err != nil {
		return nil, badinput.Errorf("encoder.start: %w", err)
	}
	was, err := c.mayFollow(metadata[natureKey], dir, path)
	if err != nil {
		return nil, err
	}
	if was.Transformer != nil {
		settings := c.following(*was.Transformer)
		if was.Transformer.Projection == 0 {
			stored = append(stored, newTensors(settings.ProjectionSpecs(), c.Seed)...)
		}
		tensors, err := weights.Arrange(settings.Specs(), stored)
		if err != nil {
			return nil, badinput.Errorf("%s: %w", path, err)
		}
		return encoder.NewTransformer(settings, backend, tensors)
	}
	bag, err := newBag(c, v)
	if err != nil {
		return nil, err
	}
	var specs []weights.Spec
	for _, w := range bag.Weights() {
		specs = append(specs, weights.Spec{Name: w.Name, Shape: w.Shape, NoDecay: w.NoDecay})
	}
	tensors, err := weights.Arrange(specs, stored)
	if err != nil {
		return nil, badinput.Errorf("%s: %w", path, err)
	}
	for i, w := range bag.Weights() {
		copy(w.Data, tensors[i].Data)
	}
	return bag, nil
}

// following is the settings of a transformer that goes on from a checkpoint's: its shape, with the preset's dropout,
// pooling and precision, and with the preset's projection where the checkpoint has none.
func (c *Config) following(was encoder.Settings) encoder.Settings {
	preset := c.Encoder.Transformer
	was.Dropout, was.Pooling, was.Precision = preset.Dropout, preset.Pooling, preset.Precision
	if was.Projection == 0 {
		was.Projection = preset.Projection
	}
	return was
}

// mayFollow reads a checkpoint's nature and refuses one that the preset's encoder does not share.
func (c *Config) mayFollow(text, dir, path string) (nature, error) {
	var was nature
	if err := json.Unmarshal([]byte(text), &was); err != nil {
		return was, badinput.Errorf("%s does not say what encoder it is of, as checkpoints do: name one that this program wrote", path)
	}
	digest, err := vocabularyDigest(c, dir)
	if err != nil {
		return was, err
	}
	ngrams := lengths(c.Encoder.Bag.NGrams)
	switch {
	case was.Kind != c.Encoder.Kind || (was.Kind == "transformer") != (was.Transformer != nil):
		return was, badinput.Errorf("%s is of a %s, but encoder.kind is %s: write the same kind", path, was.Kind, c.Encoder.Kind)
	case was.Vocabulary != digest:
		return was, badinput.Errorf("%s was trained with another vocabulary than tokenizer.file, %s: give %s of its own training",
			path, c.Tokenizer.File, vocabularyName(c.Tokenizer))
	case was.Transformer != nil && was.Transformer.Projection > 0 && !slices.Contains([]int{0, was.Transformer.Projection}, c.Encoder.Transformer.Projection):
		return was, badinput.Errorf("%s has a projection to %d numbers, but encoder.transformer.projection is %d: write the same, or leave it out",
			path, was.Transformer.Projection, c.Encoder.Transformer.Projection)
	case was.Kind == "bag" && was.NGrams != ngrams:
		return was, badinput.Errorf("%s has n-grams of %d to %d characters, but encoder.bag.ngrams are of %d to %d: write the same", path, was.NGrams[0], was.NGrams[1], ngrams[0], ngrams[1])
	}
	return was, nil
}

// checkTeacher refuses, before anything is read, a teacher that is missing or whose vectors do not fit the encoder's.
func (c *Config) checkTeacher() error {
	needs := c.Objective.Needs()
	if needs.Teacher == "" {
		return nil
	}
	model, err := encode.Load(needs.Teacher)
	if err != nil {
		return badinput.Errorf("objective.teacher: %w", err)
	}
	if !needs.SameDim {
		return nil
	}
	dim, err := c.vectorDim()
	if err != nil {
		return err
	}
	return c.Objective.CheckDim(dim, model.Dim)
}

// vectorDim is the number of values of the vectors that the preset's encoder will give. Of files it reads the shape
// alone.
func (c *Config) vectorDim() (int, error) {
	transformer := c.Encoder.Transformer
	switch path := filepath.Join(c.Encoder.Start, encoderFile); {
	case c.Encoder.Kind == "bag":
		return c.Encoder.Bag.Dim, nil
	case c.Encoder.Start == "" || transformer.Projection > 0:
		return transformer.Dim(), nil
	case exists(path):
		_, metadata, err := weights.ReadFile(path, func(string) bool { return false })
		if err != nil {
			return 0, badinput.Errorf("encoder.start: %w", err)
		}
		var was nature
		if err := json.Unmarshal([]byte(metadata[natureKey]), &was); err != nil || was.Transformer == nil {
			return transformer.Dim(), nil // newEncoder says what is wrong with it
		}
		return was.Transformer.Dim(), nil
	}
	shape, err := encoder.ReadShape(c.Encoder.Start)
	return shape.Dim(), err
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
