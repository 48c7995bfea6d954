package feature

import "golang.org/x/sys/cpu"

var (
	hasVNNI = cpu.X86.HasAVX512F && cpu.X86.HasAVX512BW && cpu.X86.HasAVX512VL && cpu.X86.HasAVX512VNNI
	hasAVX2 = cpu.X86.HasAVX2
)

// dotRows is dotRowsGeneric for two rows at once: u gets the products with a, v those with b.
func dotRows(u, v []int32, a, b, table []int16, rows []int32) {
	switch {
	case len(rows) == 0:
	case hasVNNI:
		dotRowsVNNI(&u[0], &v[0], &a[0], &b[0], &table[0], &rows[0], len(rows), len(a))
	case hasAVX2:
		dotRowsAVX2(&u[0], &v[0], &a[0], &b[0], &table[0], &rows[0], len(rows), len(a))
	default:
		dotRowsGeneric(u, a, table, rows)
		dotRowsGeneric(v, b, table, rows)
	}
}

// dotRowsAVX2 and dotRowsVNNI are dotRows over n rows of dim values.
//
//go:noescape
func dotRowsAVX2(u, v *int32, a, b, table *int16, rows *int32, n, dim int)

//go:noescape
func dotRowsVNNI(u, v *int32, a, b, table *int16, rows *int32, n, dim int)
