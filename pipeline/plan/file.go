package plan

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

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
