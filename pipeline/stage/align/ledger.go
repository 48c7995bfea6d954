package align

import (
	"bitextmine/align/bead"
	"bitextmine/pipeline/plan"
	"bitextmine/pipeline/stage"
)

// ledger names the newest beads of every source shard. Two outputs are kept: one night may pair the documents otherwise
// and the next as before.
var ledger = &stage.ShardLedger{
	Wanted: wanted, Name: noteName, Kept: 2,
	Outputs: func(p *plan.Plan, pair int) [2][]string { return [2][]string{p.Pairs[pair].Aligned} },
	Damage:  "the ledger of aligned documents is damaged; they are aligned again",
}

// noteName names the runs that share beads: these depend on the encoder, the options and the languages.
func noteName(p *plan.Plan, pair int) string {
	s, source, target := p.Settings, p.Side(pair, 0).Code, p.Side(pair, 1).Code
	return plan.Key("aligned", Stage.Version, []any{s.Encoder, s.EncoderDevice, bead.DefaultOptions(), source, target}) + ".json"
}
