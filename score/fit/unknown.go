package fit

import (
	"bitextmine/internal/badinput"
	"bitextmine/score"
)

// Unknown fits a scorer on sets of examples in languages that the encoder does not know, and adds it to one for those
// that it knows, of which all else stays. Neighbours and tokens say less there, and translations look as wrong pairs do
// in known languages.
func Unknown(base *score.Scorer, name string, sets []*Set) (*score.Scorer, error) {
	if err := sameEncoder(base, sets[0]); err != nil {
		return nil, err
	}
	if base.Refined != nil || sets[0].Refine != nil {
		return nil, badinput.Errorf("a scorer of two-stage mining has no other one for unknown languages: name one of a single encoder with --base, and save the examples without --refine")
	}
	if base.Encoder != sets[0].Encoder || base.Tokens != sets[0].Tokens {
		return nil, badinput.Errorf("the base and the examples are of encoder %s under other names or with other token vectors: save the examples again", base.Encoder.Name)
	}
	unknown, err := Scorer(name, sets, base.Share, nil)
	if err != nil {
		return nil, err
	}
	s := *base
	s.Name, s.Unknown = name, unknown
	return &s, nil
}
