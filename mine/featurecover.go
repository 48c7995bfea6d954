package mine

import "math"

// coverage measures how well two sentences' tokens cover each other; its buffers stay from pair to pair.
type coverage struct {
	padded       []int32 // the target's rows, filled up to a multiple of dotBlock
	dots         []int32 // of one source token with each target token
	source, best []int32 // best dots of source and of target tokens
}

// measure fills in the features of tokens, save for the gaps.
func (m *coverage) measure(d *describer, c *Candidate, v []float32) {
	source, target := d.sourceTokens, d.targetTokens
	rows, columns := source.of(c.Source), target.of(c.Target)
	if len(rows) == 0 || len(columns) == 0 {
		return
	}
	m.padded = append(m.padded[:0], columns...)
	for len(m.padded)%dotBlock != 0 {
		m.padded = append(m.padded, columns[0])
	}
	if len(m.dots) < len(m.padded) {
		m.dots, m.best = make([]int32, len(m.padded)), make([]int32, len(m.padded))
	}
	dots, best := m.dots[:len(m.padded)], m.best[:len(m.padded)]
	m.source = m.source[:0]
	for j := range best {
		best[j] = math.MinInt32
	}
	for _, row := range rows {
		dotRows(dots, source.vectors.row(row), target.vectors.values, m.padded)
		top := int32(math.MinInt32)
		for j, dot := range dots {
			top = max(top, dot)
			best[j] = max(best[j], dot)
		}
		m.source = append(m.source, top)
	}
	v[fCoverSource], v[fUncoveredSource], v[fMissingSource] = cover(rows, m.source, source.weights)
	v[fCoverTarget], v[fUncoveredTarget], v[fMissingTarget] = cover(columns, best[:len(columns)], target.weights)
	v[fCoverLeast] = min(v[fCoverSource], v[fCoverTarget])
	v[fTokens] = float32(math.Log(float64(1 + min(len(rows), len(columns)))))
}

// cover sums up one side's tokens: the weighted mean of their best cosines, the share of the weight that is badly covered, and the mean of the
// three largest weighted losses.
func cover(rows, best []int32, weights []float32) (mean, uncovered, missing float32) {
	var sum, low, all float32
	var worst [3]float32
	for i, row := range rows {
		w, cosine := weights[row], float32(best[i])/(tokenScale*tokenScale)
		all += w
		sum += w * cosine
		if cosine < badlyCovered {
			low += w
		}
		loss := w * (1 - cosine)
		switch {
		case loss > worst[0]:
			worst[0], worst[1], worst[2] = loss, worst[0], worst[1]
		case loss > worst[1]:
			worst[1], worst[2] = loss, worst[1]
		case loss > worst[2]:
			worst[2] = loss
		}
	}
	if all == 0 {
		return 0, 0, 0
	}
	return sum / all, low / all, (worst[0] + worst[1] + worst[2]) / float32(min(3, len(rows)))
}
