package eval

import (
	"fmt"

	"bitextmine/mine"
)

// PairScore is how a pair stands against the neighbourhoods of its two sentences. A rank counts from 0; mine.Unranked
// is a partner that is not among the k nearest.
type PairScore struct {
	Score, Cosine          float32
	SourceMean, TargetMean float32
	SourceRank, TargetRank uint8
}

// ScoreColumns are the columns that scoring adds to a bitext file, in order.
var ScoreColumns = []string{"score", "cosine", "src_mean", "tgt_mean", "src_rank", "tgt_rank"}

// Fields are the values of ScoreColumns as text; a rank outside the list is empty.
func (s PairScore) Fields() []string {
	rank := func(r uint8) string {
		if r == mine.Unranked {
			return ""
		}
		return fmt.Sprint(r)
	}
	return []string{
		fmt.Sprint(s.Score), fmt.Sprint(s.Cosine), fmt.Sprint(s.SourceMean), fmt.Sprint(s.TargetMean), rank(s.SourceRank), rank(s.TargetRank),
	}
}
