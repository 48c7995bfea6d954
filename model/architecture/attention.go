package architecture

import (
	"fmt"
	"math"

	"bitextmine/train/export"
)

// attention says how tokens look at each other.
type attention struct {
	heads, shared, size int     // shared: how many heads keys and values have; size: the numbers of one
	scale               float64 // on the scores; 0: none
	rope                *rope   // nil: none
	// bias is added to the scores: [tokens, tokens] or [1, heads, tokens, tokens]; empty: nothing is.
	bias       string
	query, key func(x string) string // normalisation of the heads [batch, tokens, heads, size]; nil: none
}

// attend gives what the tokens attend to, [batch, tokens, heads·size], for queries, keys and values
// [batch, tokens, ...].
func (a attention) attend(b *builder, q, k, v string) string {
	if a.shared == a.heads {
		q = a.turned(b, apart(b, q, a.query, a.heads, a.size), "0 2 1 3")
		k, v = a.turnedKeys(b, apart(b, k, a.key, a.heads, a.size)), b.op("Transpose", apart(b, v, nil, a.heads, a.size), perm(0, 2, 1, 3))
		context := b.op("MatMul", a.shares(b, q, k), v)
		return b.op("Reshape", b.op("Transpose", context, perm(0, 2, 1, 3)), b.wholes(0, 0, int64(a.heads*a.size)))
	}
	// Grouped queries (Ainslie et al. 2023): an axis of the queries that share a head of keys and values.
	group := int64(a.heads / a.shared)
	q = apart(b, q, a.query, a.heads, a.size)
	q = b.op("Reshape", q, b.wholes(0, 0, int64(a.shared), group, int64(a.size)))
	q = a.turned(b, q, "0 2 3 1 4")
	k = b.op("Unsqueeze", a.turnedKeys(b, apart(b, k, a.key, a.shared, a.size)), b.wholes(2))
	v = b.op("Unsqueeze", b.op("Transpose", apart(b, v, nil, a.shared, a.size), perm(0, 2, 1, 3)), b.wholes(2))
	context := b.op("MatMul", a.shares(b, q, k), v)
	return b.op("Reshape", b.op("Transpose", context, perm(0, 3, 1, 2, 4)), b.wholes(0, 0, int64(a.heads*a.size)))
}

func perm(axes ...int64) export.Attr { return attr("perm", axes) }

// apart divides x among heads and normalises them.
func apart(b *builder, x string, norm func(x string) string, heads, size int) string {
	x = b.op("Reshape", x, b.wholes(0, 0, int64(heads), int64(size)))
	if norm != nil {
		x = norm(x)
	}
	return x
}

// turned are queries with their axes in order, rotated and scaled.
func (a attention) turned(b *builder, q, order string) string {
	axes := map[string]export.Attr{"0 2 1 3": perm(0, 2, 1, 3), "0 2 3 1 4": perm(0, 2, 3, 1, 4)}[order]
	q = b.op("Transpose", q, axes)
	if a.rope != nil {
		q = a.rope.rotate(b, q)
	}
	if a.scale != 0 {
		q = b.op("Mul", q, b.scalar(a.scale))
	}
	return q
}

// turnedKeys are keys [batch, heads, size, tokens].
func (a attention) turnedKeys(b *builder, k string) string {
	if a.rope == nil {
		return b.op("Transpose", k, perm(0, 2, 3, 1))
	}
	return b.op("Transpose", a.rope.rotate(b, b.op("Transpose", k, perm(0, 2, 1, 3))), perm(0, 1, 3, 2))
}

// shares is how much of its attention each token gives to each.
func (a attention) shares(b *builder, q, k string) string {
	scores := b.op("MatMul", q, k)
	if a.bias != "" {
		scores = b.op("Add", scores, a.bias)
	}
	return b.op("Softmax", scores, attr("axis", -1))
}

// rotate turns the pairs of numbers i and i + size/2 of x [..., tokens, size].
func (r rope) rotate(b *builder, x string) string {
	half := int64(len(r.frequencies))
	cos := b.once(r.name+" cos", func() string { return r.waves(b, "Cos") })
	sin := b.once(r.name+" sin", func() string { return r.waves(b, "Sin") })
	parts := b.split(x, half, half)
	other := b.op("Concat", b.op("Neg", parts[1]), parts[0], attr("axis", -1))
	return b.op("Add", b.op("Mul", x, cos), b.op("Mul", other, sin))
}

// waves are cosines or sines [tokens, size] of the angles of all places.
func (r rope) waves(b *builder, function string) string {
	angles := b.once(r.name, func() string {
		b.Initializer(r.name, []int{1, len(r.frequencies)}, r.frequencies)
		places := b.op("Unsqueeze", b.op("Cast", rangeOf(b), attr("to", int(export.Float32))), b.wholes(1))
		each := b.op("Mul", places, r.name)
		return b.op("Concat", each, each, attr("axis", -1))
	})
	waves := b.op(function, angles)
	if r.factor != 1 {
		waves = b.op("Mul", waves, b.scalar(r.factor))
	}
	return waves
}

// rangeOf gives the places of the tokens, [tokens].
func rangeOf(b *builder) string {
	return b.once("range", func() string { return b.op("Range", b.whole(0), b.tokens(), b.whole(1)) })
}

// distances are the places of queries (rows) less those of keys (columns), [tokens, tokens].
func distances(b *builder) string {
	return b.once("distances", func() string {
		return b.op("Sub", b.op("Unsqueeze", rangeOf(b), b.wholes(1)), b.op("Unsqueeze", rangeOf(b), b.wholes(0)))
	})
}

// window is a bias that lets a token look at those that are at most `before` places before it and `after` behind it; a
// number that is negative is no bound.
func window(b *builder, before, after int) string {
	if before < 0 && after < 0 {
		return ""
	}
	return b.once(fmt.Sprint("window ", before, after), func() string {
		var seen string
		if before >= 0 {
			seen = b.op("LessOrEqual", distances(b), b.whole(int64(before)))
		}
		if after >= 0 {
			near := b.op("GreaterOrEqual", distances(b), b.whole(int64(-after)))
			if seen != "" {
				near = b.op("And", seen, near)
			}
			seen = near
		}
		return b.op("Where", seen, b.scalar(0), b.scalar(-1e30))
	})
}

// relative is a bias by distance, [1, heads, tokens, tokens] (Raffel et al. 2020): a learned number for each head and
// bucket of distances. table has them [buckets, heads]; from `furthest` on all distances are one bucket.
func relative(b *builder, name string, table []float32, heads, buckets, furthest int) string {
	rows := make([]float32, 0, (2*furthest+1)*heads)
	for distance := -furthest; distance <= furthest; distance++ { // of a query's place less the key's
		at := bucket(-distance, buckets, furthest) * heads
		rows = append(rows, table[at:at+heads]...)
	}
	b.Initializer(name, []int{2*furthest + 1, heads}, rows)
	limited := b.once("limited distances", func() string {
		low := b.op("Max", distances(b), b.whole(int64(-furthest)))
		return b.op("Add", b.op("Min", low, b.whole(int64(furthest))), b.whole(int64(furthest)))
	})
	return b.op("Unsqueeze", b.op("Transpose", b.op("Gather", name, limited, attr("axis", 0)), perm(2, 0, 1)), b.wholes(0))
}

// bucket is that of a key's place less the query's, as T5 and MPNet number them, in float32 as they compute it.
func bucket(offset, buckets, furthest int) int {
	buckets /= 2
	at := 0
	if offset > 0 {
		at = buckets
	}
	distance := max(offset, -offset)
	exact := buckets / 2
	if distance < exact {
		return at + distance
	}
	share := float32(math.Log(float64(float32(distance)/float32(exact)))) / float32(math.Log(float64(furthest)/float64(exact)))
	return at + min(exact+int(share*float32(buckets-exact)), buckets-1)
}
