package testset

import (
	"context"
	"errors"
	"path/filepath"
	"strings"

	"bitextmine/encode/embedding"

	"bitextmine/internal/badinput"
)

// VectorFiles reads vectors from files: .npy (float16, float32 or float64) or LASER's values without a header. Row i
// belongs to line i of the text. In the file names, {src}, {tgt}, {pair} and {half} are replaced by the short codes of
// the current pair (de, zh-Hant), {file} by the name of the text's file and {dir} by that of its folder.
type VectorFiles struct {
	Source, Target string // patterns of file names
	Dim            int    // dim of headerless files; 0 if all files are .npy
	DType          embedding.DType
	Narrow         bool
}

// Name returns the names of the files.
func (p VectorFiles) Name() string { return p.Source + " and " + p.Target }

// Vectors reads a side's file and L2-normalises its rows, as the reference programs do.
func (p VectorFiles) Vectors(_ context.Context, side Side, role Role) (_ EncodedSide, err error) {
	name := p.Source
	if role.Target {
		name = p.Target
	}
	path := strings.NewReplacer("{src}", role.Pair.Source, "{tgt}", role.Pair.Target, "{pair}", role.Pair.String(),
		"{half}", role.Half,
		"{file}", filepath.Base(role.File), "{dir}", filepath.Base(filepath.Dir(role.File))).Replace(name)
	file, err := embedding.OpenVectors(path, p.Dim, p.DType, "--dim")
	if err != nil {
		return EncodedSide{}, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	if file.N != len(side.Texts) {
		return EncodedSide{}, badinput.Errorf(
			"%s has %d rows but the %s text has %d sentences: encode the same file that is evaluated",
			path, file.N, side.Language, len(side.Texts))
	}
	rows := make([]float32, file.N*file.Dim)
	file.Float32(rows, 0, file.N)
	if err := normaliseRows(rows, file.Dim, path); err != nil {
		return EncodedSide{}, err
	}
	m := embedding.FromFloat32(rows, file.Dim)
	if p.Narrow {
		m = embedding.Narrow(m)
	}
	return EncodedSide{Side: side, Rows: m}, nil
}

// normaliseRows divides each row by its L2 norm.
func normaliseRows(rows []float32, dim int, path string) error {
	for i := 0; i*dim < len(rows); i++ {
		if err := embedding.Normalise(rows[i*dim:][:dim]); err != nil {
			return badinput.Errorf("%s: row %d %w: encode that sentence again", path, i, err)
		}
	}
	return nil
}
