package plan

// Ledger is what a run leaves for the next: the merged neighbours of every shard of a pair, and the shard sets that
// they have seen. It is a hint: without it a run only computes more.
type Ledger struct {
	ShardSets []ShardSet           `json:"shard_sets"`
	Sides     [2]map[string]Merged `json:"sides"` // by Vector
}

// Merged is a shard's merged neighbours.
type Merged struct {
	Key      string `json:"key"`
	ShardSet int    `json:"shard_set"` // place among the ledger's shard sets
}

// familyVersion is the version of the merged neighbours that a ledger names.
const familyVersion = 1

// Family names the runs that share a ledger: those whose merges differ in nothing but shards.
func Family(settings Settings, source, target string) string {
	return Key("ledger", familyVersion, []any{settings.Encoder, settings.DType, settings.SearchKey(), settings.K, source, target})
}

// NewLedger returns the ledger that a plan leaves of a pair once its merges are done.
func NewLedger(p *Plan, pair int) *Ledger {
	l := &Ledger{}
	for side := range p.Pairs[pair].Merges {
		l.ShardSets = append(l.ShardSets, SetOf(p.Side(pair, 1-side).Shards))
		l.Sides[side] = map[string]Merged{}
		for i, shard := range p.Side(pair, side).Shards {
			l.Sides[side][shard.Vector] = Merged{p.Pairs[pair].Merges[side][i], side}
		}
	}
	return l
}

// Base returns the key of a shard's merged neighbours and what they have seen, if that is inside wanted; otherwise an
// empty key.
func (l *Ledger) Base(side int, vector string, wanted ShardSet) (string, ShardSet) {
	if l == nil {
		return "", nil
	}
	m, ok := l.Sides[side][vector]
	if !ok || m.ShardSet < 0 || m.ShardSet >= len(l.ShardSets) {
		return "", nil
	}
	seen := l.ShardSets[m.ShardSet]
	if len(seen.Without(wanted)) > 0 {
		return "", nil
	}
	return m.Key, seen
}
