package feature

// dotBlock is how many rows the kernels take at a time: lists of rows are filled up to a multiple of it.
const dotBlock = 4

// dotWidth is the number of values that a row of a token table is filled up to a multiple of, with zeros.
const dotWidth = 32

// dotRowsGeneric sets out[j] to the inner product of a [dim] with row rows[j] of table [n, dim]. len(rows) is a
// multiple of dotBlock and dim of dotWidth. Products of int16 added in int32 are exact whatever the order, so every
// implementation gives the same numbers; none overflows, as rows have a length of at most tokenScale.
func dotRowsGeneric(out []int32, a, table []int16, rows []int32) {
	dim := len(a)
	for j, row := range rows {
		b := table[int(row)*dim:][:dim]
		sum := int32(0)
		for d, x := range a {
			sum += int32(x) * int32(b[d])
		}
		out[j] = sum
	}
}
