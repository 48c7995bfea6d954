package feature

type kernel func(u, v []int32, a, b, table []int16, rows []int32)

// kernels lists the implementations of dotRows that this CPU can run.
func kernels() map[string]kernel {
	all := map[string]kernel{"chosen": dotRows}
	if hasAVX2 {
		all["avx2"] = func(u, v []int32, a, b, table []int16, rows []int32) {
			dotRowsAVX2(&u[0], &v[0], &a[0], &b[0], &table[0], &rows[0], len(rows), len(a))
		}
	}
	if hasVNNI {
		all["vnni"] = func(u, v []int32, a, b, table []int16, rows []int32) {
			dotRowsVNNI(&u[0], &v[0], &a[0], &b[0], &table[0], &rows[0], len(rows), len(a))
		}
	}
	return all
}
