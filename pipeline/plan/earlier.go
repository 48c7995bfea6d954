package plan

import "slices"

// Earlier is what runs leave of a pair for the next: the newest outputs of a stage by side and shard digest, newest
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
