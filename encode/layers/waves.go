package layers

import (
	"math"
	"slices"
	"sync"

	"bitextmine/encode/onnxgraph"
	"bitextmine/encode/static"
)

// rotary are rotary positions: pair i of a head's numbers is turned by place times frequencies[i].
type rotary struct {
	frequencies []float32
	factor      float32 // multiplies cosines and sines

	mu             sync.Mutex
	cosines, sines []float32 // [tokens, len(frequencies)], of as many tokens as were asked for
}

// waves are the cosines and sines [tokens, len(frequencies)].
func (r *rotary) waves(tokens int) (cosines, sines []float32) {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := len(r.frequencies)
	for place := len(r.cosines) / n; place < tokens; place++ {
		for _, f := range r.frequencies {
			sin, cos := math.Sincos(float64(float32(place) * f))
			r.cosines, r.sines = append(r.cosines, r.factor*float32(cos)), append(r.sines, r.factor*float32(sin))
		}
	}
	return r.cosines[:tokens*n], r.sines[:tokens*n]
}

func (r *rotary) equal(other *rotary) bool {
	return r.factor == other.factor && slices.Equal(r.frequencies, other.frequencies)
}

// maker is the node that makes a node's input i.
func (s *source) maker(n onnxgraph.Node, i int) onnxgraph.Node {
	if i >= len(n.Inputs) {
		return onnxgraph.Node{}
	}
	return s.made[n.Inputs[i]]
}

// isRange says whether a node gives the places of the tokens, [tokens].
func (s *source) isRange(n onnxgraph.Node) bool {
	tokens := s.maker(n, 1)
	return n.Op == "Range" && slices.Equal(s.whole(n, 0), []int64{0}) && slices.Equal(s.whole(n, 2), []int64{1}) &&
		tokens.Op == "Gather" && slices.Equal(s.whole(tokens, 1), []int64{1}) &&
		s.maker(tokens, 0).Op == "Shape" && s.maker(s.maker(tokens, 0), 0).Op == ""
}

// rotation reads a tensor of cosines or sines of all places, as model/architecture writes it: [tokens, size], both
// halves the same.
func (s *source) rotation(name string, size int) (r *rotary, function string) {
	n, factor := s.made[name], float32(1)
	if n.Op == "Mul" {
		var ok bool
		if factor, ok = s.number(n, 1); !ok || !static.Finite([]float32{factor}) {
			return nil, ""
		}
		n = s.maker(n, 0)
	}
	both := s.maker(n, 0)
	if n.Op != "Cos" && n.Op != "Sin" || both.Op != "Concat" || len(both.Inputs) != 2 || both.Inputs[0] != both.Inputs[1] {
		return nil, ""
	}
	each := s.maker(both, 0)
	places := s.maker(each, 0)
	if frequencies := s.row(each, 1, size/2); each.Op == "Mul" && frequencies != nil && static.Finite(frequencies) &&
		places.Op == "Unsqueeze" && slices.Equal(s.whole(places, 1), []int64{1}) &&
		s.maker(places, 0).Op == "Cast" && s.isRange(s.maker(s.maker(places, 0), 0)) {
		return &rotary{frequencies: frequencies, factor: factor}, n.Op
	}
	return nil, ""
}

// window reads a bias that hides tokens: 0 for those in sight, and a number of which nothing is left for the others.
func (s *source) window(name string) (sight, bool) {
	n := s.made[name]
	if n.Op != "Where" {
		return sight{}, false
	}
	seen, ok := s.number(n, 1)
	hidden, also := s.number(n, 2)
	if !ok || !also || seen != 0 || hidden > -1e20 {
		return sight{}, false
	}
	in := sight{-1, -1}
	ok = s.bound(s.maker(n, 0), &in, true)
	return in, ok
}

// bound reads the bounds of a window.
func (s *source) bound(n onnxgraph.Node, in *sight, both bool) bool {
	if n.Op == "And" && both {
		return s.bound(s.maker(n, 0), in, false) && s.bound(s.maker(n, 1), in, false)
	}
	by, distance := s.whole(n, 1), s.maker(n, 0)
	if len(by) != 1 || distance.Op != "Sub" {
		return false
	}
	for i, axis := range []int64{1, 0} {
		if of := s.maker(distance, i); of.Op != "Unsqueeze" || !slices.Equal(s.whole(of, 1), []int64{axis}) || !s.isRange(s.maker(of, 0)) {
			return false
		}
	}
	switch {
	case n.Op == "LessOrEqual" && by[0] >= 0:
		in.before = int(by[0])
	case n.Op == "GreaterOrEqual" && by[0] <= 0:
		in.behind = int(-by[0])
	default:
		return false
	}
	return true
}
