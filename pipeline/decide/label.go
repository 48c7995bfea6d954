package decide

import (
	"context"
	"encoding/hex"

	"bitextmine/bitext/label"
	"bitextmine/filter"
	"bitextmine/pipeline/view"
)

// Labels returns those of the labels whose sentences are both in the pair's text, by the numbers of the sentences:
// true for a pair that was accepted. Without labels it is nil.
func Labels(ctx context.Context, p *view.Pair, labels []label.Label) (map[[2]int32]bool, error) {
	if len(labels) == 0 {
		return nil, nil
	}
	var numbers [2]map[string]int32
	for side := range numbers {
		wanted := map[string]bool{}
		for _, l := range labels {
			wanted[[2]string{l.Source, l.Target}[side]] = true
		}
		numbers[side] = map[string]int32{}
		language := p.Language(side)
		for i := range language.Shards {
			keys, err := p.Keys(ctx, &language.Shards[i])
			if err != nil {
				return nil, err
			}
			for row, key := range keys {
				if digits := hex.EncodeToString(key[:]); wanted[digits] {
					numbers[side][digits] = p.Sentences[side].Rows[i][row]
				}
			}
		}
	}
	found := map[[2]int32]bool{}
	for _, l := range labels {
		source, inSource := numbers[0][l.Source]
		target, inTarget := numbers[1][l.Target]
		if inSource && inTarget {
			found[[2]int32{source, target}] = l.Accepted
		}
	}
	return found, nil
}

// label rejects the candidates that people rejected, and lets those pass that people accepted.
func (d *Decision) label(labels map[[2]int32]bool) {
	if len(labels) == 0 {
		return
	}
	for i := range d.Candidates {
		c := &d.Candidates[i]
		accepted, ok := labels[[2]int32{c.Source, c.Target}]
		switch {
		case !ok:
		case accepted:
			c.Rejected, d.Rejections[i] = false, 0
		default:
			c.Rejected = true
			d.Rejections[i] |= filter.Label
		}
	}
}
