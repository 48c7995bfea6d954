package mine

import "golang.org/x/sys/cpu"

var (
	hasVNNI = cpu.X86.HasAVX512F && cpu.X86.HasAVX512BW && cpu.X86.HasAVX512VL && cpu.X86.HasAVX512VNNI
	hasAVX2 = cpu.X86.HasAVX2
)

func dotRows(out []int32, a, table []int16, rows []int32) {
	switch {
	case len(rows) == 0:
	case hasVNNI:
		dotRowsVNNI(&out[0], &a[0], &table[0], &rows[0], len(rows), len(a))
	case hasAVX2:
		dotRowsAVX2(&out[0], &a[0], &table[0], &rows[0], len(rows), len(a))
	default:
		dotRowsGeneric(out, a, table, rows)
	}
}

// dotRowsAVX2 and dotRowsVNNI are dotRowsGeneric over n rows of dim values.
//
//go:noescape
func dotRowsAVX2(out *int32, a, table *int16, rows *int32, n, dim int)

//go:noescape
func dotRowsVNNI(out *int32, a, table *int16, rows *int32, n, dim int)
