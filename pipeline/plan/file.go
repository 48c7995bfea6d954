package plan

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"

	"bitextmine/bitext/label"
	"bitextmine/corpus"
	"bitextmine/corpus/input"
	"bitextmine/fixtures"
	"bitextmine/internal/atomicfile"
	"bitextmine/internal/badinput"
)

// file is a plan as it is stored: with a digest, so that a plan that was changed by hand or cut short is found.
type file struct {
	Digest string          `json:"digest"`
	Plan   json.RawMessage `json:"plan"`
}

// Encode returns the plan's file and its id, the digest of its content.
func (p *Plan) Encode() (data []byte, id string, err error) {
	p.Format = format
	raw, err := json.Marshal(p)
	if err != nil {
		return nil, "", fmt.Errorf("encode the plan: %w", err)
	}
	id = digest(raw)
	data, err = json.Marshal(file{id, raw})
	return data, id, err
}

// Decode reads a plan's file; name is for messages. A plan of another version of the program is a badinput error: its
// keys may mean other outputs. Whether its tasks' arguments are right is for their stages to say.
func Decode(data []byte, name, version string) (*Plan, error) {
	raw, err := open(data, name)
	if err != nil {
		return nil, err
	}
	var made struct {
		Format  int    `json:"format"`
		Version string `json:"version"`
	}
	if err := json.Unmarshal(raw, &made); err != nil || made.Version != version || made.Format != format {
		return nil, badinput.Errorf("%s was made by another version of the program (%q, format %d; this is %q, format %d); make it again with this one",
			name, made.Version, made.Format, version, format)
	}
	p := &Plan{}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(p); err != nil {
		return nil, Malformed(name, err)
	}
	if err := p.check(); err != nil {
		return nil, Malformed(name, err)
	}
	return p, nil
}

// Malformed is the error of a plan file that does not hold a plan.
func Malformed(name string, err error) error {
	return badinput.Errorf("%s is not a plan (%w); make it again with mine run", name, err)
}

// open checks a plan file's digest and returns the plan's JSON.
func open(data []byte, name string) (json.RawMessage, error) {
	var f file
	if err := json.Unmarshal(data, &f); err != nil {
		return nil, Malformed(name, err)
	}
	if digest(f.Plan) != f.Digest {
		return nil, badinput.Errorf("%s was changed or cut short after it was made; make it again with mine run", name)
	}
	return f.Plan, nil
}

// Outputs names the outputs of a plan's tasks, whatever version of the program made it, by stage and key.
func Outputs(data []byte, name string) (outputs [][2]string, err error) {
	raw, err := open(data, name)
	if err != nil {
		return nil, err
	}
	var p struct {
		Waves []struct {
			Tasks []struct {
				Stage string `json:"stage"`
				Key   string `json:"key"`
			} `json:"tasks"`
		} `json:"waves"`
	}
	if err := json.Unmarshal(raw, &p); err != nil {
		return nil, Malformed(name, err)
	}
	for _, w := range p.Waves {
		for _, t := range w.Tasks {
			outputs = append(outputs, [2]string{t.Stage, t.Key})
		}
	}
	return outputs, nil
}

// check makes sure that the languages of every pair are there.
func (p *Plan) check() error {
	for i, pair := range p.Pairs {
		for _, language := range []int{pair.Source, pair.Target} {
			if language < 0 || language >= len(p.Languages) {
				return fmt.Errorf("a pair names language %d of %d", language, len(p.Languages))
			}
		}
		for side, merges := range pair.Merges {
			if n, shards := len(merges), len(p.Side(i, side).Shards); n > 0 && n != shards {
				return fmt.Errorf("a pair names %d merges for %d shards", n, shards)
			}
		}
	}
	for _, w := range p.Waves {
		for _, t := range w.Tasks {
			if t.Stage != w.Stage {
				return errors.New("a task of stage " + t.Stage + " is in the wave of " + w.Stage)
			}
		}
	}
	return nil
}

// Source returns what reads the input's text.
func (in Input) Source() input.File {
	if in.Builtin {
		return input.File{FS: fixtures.Text, Path: in.Path}
	}
	return input.File{Path: in.Path}
}

// Options says how the input is read and cut.
func (in Input) Options(s Settings) corpus.Options {
	if in.Corpus != nil {
		return *in.Corpus
	}
	return s.Corpus
}

// Named are the files of the input, each by its path and digest.
func (in Input) Named() [][2]string {
	files := [][2]string{{in.Path, in.SHA256}}
	if v := in.Vectors; v != nil {
		files = append(files, [2]string{v.Path, v.SHA256})
	}
	return files
}

// DigestInput reads an input for its size and the SHA-256 of its bytes as they are.
func DigestInput(in input.File) (Input, error) {
	var f fs.File
	var err error
	if in.FS == nil {
		f, err = os.Open(in.Path)
	} else {
		f, err = in.FS.Open(in.Path)
	}
	if err != nil {
		return Input{}, badinput.Errorf("%s cannot be opened: %w", in.Path, err)
	}
	h := sha256.New()
	size, err := io.Copy(h, f)
	if err = errors.Join(err, f.Close()); err != nil {
		return Input{}, fmt.Errorf("read %s: %w", in.Path, err)
	}
	return Input{Path: in.Path, Builtin: in.FS != nil, Bytes: size, SHA256: hex.EncodeToString(h.Sum(nil))}, nil
}

// DigestListed is DigestInput of a file that a run has listed. That it is gone is an error worth a retry: another run
// lists the files that there are then.
func DigestListed(in input.File) (Input, error) {
	now, err := DigestInput(in)
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%s was there when the run listed its files and is gone, or is not on this machine; run again where it is there", in.Path)
	}
	return now, err
}

// Changed is the error of an input file that another process has written to since the run read it, worth a retry.
func Changed(path string) error {
	return fmt.Errorf("%s was changed while the run was under way; run again once nothing writes to it", path)
}

// Key is the content key of a task: the SHA-256 of the stage's name and version, and of the JSON of spec, a struct that
// lists exactly the parameters and inputs that change the output.
func Key(stage string, version int, spec any) string {
	data, err := json.Marshal(spec)
	if err != nil {
		panic(fmt.Sprintf("spec of stage %s: %v", stage, err)) // specs are our own plain structs
	}
	return digest(append(fmt.Appendf(nil, "%s\x00%d\x00", stage, version), data...))
}

// Digest is the digest of a value's JSON: of settings, of a run's inputs.
func Digest(value any) string {
	data, err := json.Marshal(value)
	if err != nil {
		panic(err) // our own plain structs
	}
	return digest(data)
}

// DigestLabels is the digest of labels; empty if there are none.
func DigestLabels(labels []label.Label) string {
	if len(labels) == 0 {
		return ""
	}
	return Digest(labels)
}

func digest(data []byte) string { return atomicfile.DigestOf(data)[:32] }

// Earlier lists the outputs that earlier runs left for a pair: the newest of a stage by side and shard digest, newest
// first. It is a hint: without it a run only works more.
type Earlier struct {
	Sides [2]map[string][]string `json:"sides"`
}

// Others returns the outputs of a shard other than the one with a key; e may be nil.
func (e *Earlier) Others(side int, digest, key string) []string {
	if e == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(e.Sides[side][digest]), func(other string) bool { return other == key })
}
