package feature

// dotBlock is the number of rows that the kernels process at a time. Lists of rows are padded to a multiple of it.
const dotBlock = 4

// dotWidth: the rows of a token table are padded with zeros to a multiple of it.
const dotWidth = 32

// dotRowsGeneric sets out[j] to the inner product of a [dim] with row rows[j] of table [n, dim]. len(rows) must be a
// multiple of dotBlock and dim a multiple of dotWidth. Sums of int16 products in int32 are exact in any order, so all
// implementations give the same numbers. None overflows, because the length of a row is at most tokenScale.
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
