package xla

import (
	"fmt"
	"strings"
)

// group is the number of neighbouring scores of which first only the largest is looked at.
const group = 16

// shape is the key of a compiled program.
type shape struct {
	queries, base int // rows of a tile of scores; multiples of group
	dim, keep     int
}

// program returns the StableHLO of one tile. Its arguments are
//
//	queries [queries, dim] and base [base, dim] in float16,
//	for either side the number of its rows that count and the number of the first, int32 [2],
//	for either side the lists so far: scores [rows, keep] in float32, descending, and the other side's row numbers.
//
// Its results are the lists with this tile's scores merged in, in place of the old ones.
//
// The keep largest of a row of scores are in the keep groups with the largest maxima. So a pass over the scores takes
// the maxima of groups, and the rest looks at keep groups for each list.
func (s shape) program() string {
	p := &printer{}
	lists := func(rows int) string {
		return fmt.Sprintf("tensor<%dx%dxf32>, tensor<%dx%dxi32>", rows, s.keep, rows, s.keep)
	}
	states := lists(s.queries) + ", " + lists(s.base)
	p.line("module @search {")
	p.line("func.func public @main(%%queries: tensor<%dx%dxf16>, %%base: tensor<%dx%dxf16>, %%qrows: tensor<2xi32>, %%brows: tensor<2xi32>,", s.queries, s.dim, s.base, s.dim)
	for i, state := range []struct {
		name string
		rows int
		of   string
	}{{"qscores", s.queries, "f32"}, {"qids", s.queries, "i32"}, {"bscores", s.base, "f32"}, {"bids", s.base, "i32"}} {
		end := ","
		if i == 3 {
			end = ") -> (" + states + ") {"
		}
		p.line("%%%s: tensor<%dx%dx%s> {tf.aliasing_output = %d : i32}%s", state.name, s.rows(i), s.keep, state.of, i,
			end)
	}
	p.line("%%low = stablehlo.constant dense<0xFF800000> : tensor<f32>")
	p.line("%%s = stablehlo.dot_general %%queries, %%base, contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<%dx%dxf16>, tensor<%dx%dxf16>) -> %s",
		s.queries, s.dim, s.base, s.dim, tensor("f32", s.queries, s.base))
	p.direction(s, "q", "b", s.queries, s.base)
	p.direction(s, "b", "q", s.base, s.queries)
	p.line("return %%q_scores, %%q_ids, %%b_scores, %%b_ids : %s", states)
	p.line("}}")
	return p.String()
}

// rows is the number of rows of state i.
func (s shape) rows(i int) int {
	if i < 2 {
		return s.queries
	}
	return s.base
}

type printer struct{ strings.Builder }

func (p *printer) line(format string, args ...any) { fmt.Fprintf(p, format+"\n", args...) }

func tensor(of string, dims ...int) string {
	text := "tensor<"
	for _, d := range dims {
		text += fmt.Sprintf("%dx", d)
	}
	return text + of + ">"
}

// direction merges the scores into the lists of one side (q or b), whose members are rows of the other.
func (p *printer) direction(s shape, side, other string, lists, members int) {
	keep := min(s.keep, members/group)
	scores, groups := tensor("f32", s.queries, s.base), tensor("f32", lists, members/group)
	v := func(format string, args ...any) {
		p.line(strings.ReplaceAll(strings.ReplaceAll(format, "@", "%%"+side+"_"), "$", "%%"+other), args...)
	}
	// The score's axes: lists by members for the queries' lists, members by lists for the base's.
	view, axis, reduced := tensor("f32", lists, members/group, group), 1, 2
	slices, collapsed := fmt.Sprintf("1, 1, %d", group), "[0, 1]"
	if side == "b" {
		view, axis, reduced = tensor("f32", members/group, group, lists), 0, 1
		slices, collapsed = fmt.Sprintf("1, %d, 1", group), "[0, 2]"
	}
	for i, name := range []string{"@n", "@from"} {
		v(name+"1 = stablehlo.slice $rows [%d:%d] : (tensor<2xi32>) -> tensor<1xi32>", i, i+1)
		v(name + " = stablehlo.reshape " + name + "1 : (tensor<1xi32>) -> tensor<i32>")
	}

	index := tensor("i32", s.queries, s.base)
	v("@at = stablehlo.iota dim = %d : %s", axis, index)
	v("@ns = stablehlo.broadcast_in_dim @n, dims = [] : (tensor<i32>) -> %s", index)
	v("@counts = stablehlo.compare LT, @at, @ns, SIGNED : (%s, %s) -> %s", index, index,
		tensor("i1", s.queries, s.base))
	v("@lows = stablehlo.broadcast_in_dim %%low, dims = [] : (tensor<f32>) -> %s", scores)
	v("@s = stablehlo.select @counts, %%s, @lows : %s, %s", tensor("i1", s.queries, s.base), scores)
	v("@grouped = stablehlo.reshape @s : (%s) -> %s", scores, view)
	if side == "q" {
		v("@max = stablehlo.reduce(@grouped init: %%low) applies stablehlo.maximum across dimensions = [%d] : (%s, tensor<f32>) -> %s", reduced, view, groups)
	} else {
		turned := tensor("f32", members/group, lists)
		v("@maxima = stablehlo.reduce(@grouped init: %%low) applies stablehlo.maximum across dimensions = [%d] : (%s, tensor<f32>) -> %s", reduced, view, turned)
		v("@max = stablehlo.transpose @maxima, dims = [1, 0] : (%s) -> %s", turned, groups)
	}
	chosen := tensor("i32", lists, keep)
	v("@best, @group = chlo.top_k(@max, k = %d) : %s -> (%s, %s)", keep, groups, tensor("f32", lists, keep), chosen)

	// The scores of the chosen groups, from the product itself.
	first, second := "@where", "@group1"
	if side == "b" {
		first, second = second, first
	}
	one := tensor("i32", lists, keep, 1)
	v("@where = stablehlo.iota dim = 0 : %s", one)
	v("@group1 = stablehlo.reshape @group : (%s) -> %s", chosen, one)
	v("@places = stablehlo.concatenate "+first+", "+second+", dim = 2 : (%s, %s) -> %s", one, one,
		tensor("i32", lists, keep, 2))
	v("@view = stablehlo.reshape %%s : (%s) -> %s", scores, view)
	found, ids := tensor("f32", lists, keep, group), tensor("i32", lists, keep, group)
	v(`@found = "stablehlo.gather"(@view, @places) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = %s, start_index_map = %s, index_vector_dim = 2>, slice_sizes = array<i64: %s>, indices_are_sorted = false}> : (%s, %s) -> %s`,
		collapsed, collapsed, slices, view, tensor("i32", lists, keep, 2), found)
	v("@size = stablehlo.constant dense<%d> : %s", group, ids)
	v("@group2 = stablehlo.broadcast_in_dim @group, dims = [0, 1] : (%s) -> %s", chosen, ids)
	v("@first = stablehlo.multiply @group2, @size : %s", ids)
	v("@in = stablehlo.iota dim = 2 : %s", ids)
	v("@id = stablehlo.add @first, @in : %s", ids)
	v("@n3 = stablehlo.broadcast_in_dim @n, dims = [] : (tensor<i32>) -> %s", ids)
	v("@real = stablehlo.compare LT, @id, @n3, SIGNED : (%s, %s) -> %s", ids, ids, tensor("i1", lists, keep, group))
	v("@low3 = stablehlo.broadcast_in_dim %%low, dims = [] : (tensor<f32>) -> %s", found)
	v("@value = stablehlo.select @real, @found, @low3 : %s, %s", tensor("i1", lists, keep, group), found)
	v("@from3 = stablehlo.broadcast_in_dim @from, dims = [] : (tensor<i32>) -> %s", ids)
	v("@row = stablehlo.add @id, @from3 : %s", ids)
	p.merge(s, v, side, lists, keep*group, found, ids)
}

// merge takes the best of the lists so far and of new scores.
func (p *printer) merge(s shape, v func(string, ...any), side string, lists, added int, found, ids string) {
	flat, flatIDs := tensor("f32", lists, added), tensor("i32", lists, added)
	old, oldIDs := tensor("f32", lists, s.keep), tensor("i32", lists, s.keep)
	all, allIDs := tensor("f32", lists, s.keep+added), tensor("i32", lists, s.keep+added)
	v("@value2 = stablehlo.reshape @value : (%s) -> %s", found, flat)
	v("@row2 = stablehlo.reshape @row : (%s) -> %s", ids, flatIDs)
	v("@all = stablehlo.concatenate %%"+side+"scores, @value2, dim = 1 : (%s, %s) -> %s", old, flat, all)
	v("@allids = stablehlo.concatenate %%"+side+"ids, @row2, dim = 1 : (%s, %s) -> %s", oldIDs, flatIDs, allIDs)
	v("@scores, @taken = chlo.top_k(@all, k = %d) : %s -> (%s, %s)", s.keep, all, old, oldIDs)
	one, two := tensor("i32", lists, s.keep, 1), tensor("i32", lists, s.keep, 2)
	v("@list = stablehlo.iota dim = 0 : %s", one)
	v("@taken1 = stablehlo.reshape @taken : (%s) -> %s", oldIDs, one)
	v("@pairs = stablehlo.concatenate @list, @taken1, dim = 2 : (%s, %s) -> %s", one, one, two)
	v(`@ids = "stablehlo.gather"(@allids, @pairs) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1>, indices_are_sorted = false}> : (%s, %s) -> %s`, allIDs, two, oldIDs)
}
