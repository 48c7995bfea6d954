package plan

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"bitextmine/internal/badinput"
)

// file is a plan as it is stored: with a digest, so that a plan that was changed by hand or cut short is told.
type file struct {
	Digest string          `json:"digest"`
	Plan   json.RawMessage `json:"plan"`
}

// Encode returns the plan's file and its id, the digest of its content.
func (p *Plan) Encode() (data []byte, id string, err error) {
	raw, err := json.Marshal(p)
	if err != nil {
		return nil, "", fmt.Errorf("encode the plan: %w", err)
	}
	id = digest(raw)
	data, err = json.Marshal(file{id, raw})
	return data, id, err
}

// Decode reads a plan's file; name is for messages. A plan of another version of the program is a badinput error: its keys
// may mean other outputs.
func Decode(data []byte, name, version string) (*Plan, error) {
	var f file
	if err := json.Unmarshal(data, &f); err != nil {
		return nil, badinput.Errorf("%s is no plan (%w); make it again with mine run", name, err)
	}
	if digest(f.Plan) != f.Digest {
		return nil, badinput.Errorf("%s was changed or cut short after it was made; make it again with mine run", name)
	}
	var made struct {
		Version string `json:"version"`
	}
	if err := json.Unmarshal(f.Plan, &made); err != nil || made.Version != version {
		return nil, badinput.Errorf("%s was made by version %q of the program, this is %s; make it again with this one", name, made.Version, version)
	}
	p := &Plan{}
	d := json.NewDecoder(bytes.NewReader(f.Plan))
	d.DisallowUnknownFields()
	if err := d.Decode(p); err != nil {
		return nil, badinput.Errorf("%s is no plan (%w); make it again with mine run", name, err)
	}
	if err := p.check(); err != nil {
		return nil, badinput.Errorf("%s is no plan (%w); make it again with mine run", name, err)
	}
	return p, nil
}

// check makes sure that what tasks refer to is there.
func (p *Plan) check() error {
	within := func(i, n int) bool { return i >= 0 && i < n }
	for _, w := range p.Waves {
		for i, t := range w.Tasks {
			ok := within(t.Side, 2)
			if !ok {
				return fmt.Errorf("task %d of wave %s is of no side", i, w.Stage)
			}
			own, other := p.Sides[t.Side], p.Sides[1-t.Side]
			switch t.Stage {
			case Shard:
				ok = within(t.Input, len(own.Inputs))
			case Encode:
				ok = within(t.Shards[0], len(own.Shards))
			case Search:
				ok = within(t.Shards[0], len(p.Sides[0].Shards)) && within(t.Shards[1], len(p.Sides[1].Shards))
			case Merge:
				ok = within(t.Shards[0], len(own.Shards)) && (t.Base == nil || within(t.Base.Cover, len(p.Covers)))
				for _, c := range t.Cells {
					ok = ok && within(c.Other, len(other.Shards))
				}
			case Match:
				ok = len(t.Merges[0]) == len(p.Sides[0].Shards) && len(t.Merges[1]) == len(p.Sides[1].Shards)
			default:
				ok = false
			}
			if !ok {
				return fmt.Errorf("task %d of wave %s names what is not there", i, w.Stage)
			}
		}
	}
	return nil
}

func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:16])
}
