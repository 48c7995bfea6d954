package plan

import "slices"

// Earlier is what runs leave of a pair for the next: by side and shard, given by its digest, the outputs that have
// strong vectors of some of its rows, or beads of its documents, newest first. It is a hint: without it a run only
// works more.
type Earlier struct {
	Sides [2]map[string][]string `json:"sides"`
}

// refinedKept is how many outputs of a shard are remembered. A sentence may leave the shortlist one night, as new text
// lowers its margin, and come back another.
const refinedKept = 4

// refinedVersion is the version of the vectors that an Earlier names.
const refinedVersion = 1

// RefinedFamily names the runs that share strong vectors: they depend on the strong encoder, what computes it, the type
// of their numbers and the languages, not on the floor or on what proposed the pairs.
func RefinedFamily(settings Settings, source, target string) string {
	family := []any{settings.Refine, settings.DType, source, target}
	if settings.RefineDevice != "" { // a run does not mix vectors of CPU and GPU
		family = append(family, settings.RefineDevice)
	}
	return Key("refined", refinedVersion, family)
}

// NewRefined returns what a plan leaves of a pair once its strong vectors are there. before, which may be nil, is what
// it found.
func NewRefined(p *Plan, pair int, before *Earlier) *Earlier {
	r := &Earlier{}
	for side, keys := range p.Pairs[pair].Refined {
		r.Sides[side] = map[string][]string{}
		for i, shard := range p.Side(pair, side).Shards {
			older := slices.DeleteFunc(slices.Clone(before.Of(side, shard.SHA256)), func(key string) bool { return key == keys[i] })
			outputs := append([]string{keys[i]}, older...)
			r.Sides[side][shard.SHA256] = outputs[:min(len(outputs), refinedKept)]
		}
	}
	return r
}

// NewAligned returns what a plan leaves of a pair once its documents are aligned, in the same form: by the shards of
// the source, the outputs that aligned the documents which begin there.
func NewAligned(p *Plan, pair int, before *Earlier) *Earlier {
	r := &Earlier{Sides: [2]map[string][]string{{}}}
	for i, shard := range p.Side(pair, 0).Shards {
		key := p.Pairs[pair].Aligned[i]
		older := slices.DeleteFunc(slices.Clone(before.Of(0, shard.SHA256)), func(other string) bool { return other == key })
		outputs := append([]string{key}, older...)
		r.Sides[0][shard.SHA256] = outputs[:min(len(outputs), alignedKept)]
	}
	return r
}

// alignedKept is how many outputs of a shard are remembered: if a night finds other pairs of documents and the next
// the old ones again, these need not be aligned again.
const alignedKept = 2

// Of returns the outputs of a shard.
func (r *Earlier) Of(side int, digest string) []string {
	if r == nil {
		return nil
	}
	return r.Sides[side][digest]
}
