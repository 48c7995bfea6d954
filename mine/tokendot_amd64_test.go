package mine

// kernels lists the implementations of dotRows that this CPU can run.
func kernels() map[string]func(out []int32, a, table []int16, rows []int32) {
	all := map[string]func(out []int32, a, table []int16, rows []int32){"generic": dotRowsGeneric, "chosen": dotRows}
	if hasAVX2 {
		all["avx2"] = func(out []int32, a, table []int16, rows []int32) {
			dotRowsAVX2(&out[0], &a[0], &table[0], &rows[0], len(rows), len(a))
		}
	}
	if hasVNNI {
		all["vnni"] = func(out []int32, a, table []int16, rows []int32) {
			dotRowsVNNI(&out[0], &a[0], &table[0], &rows[0], len(rows), len(a))
		}
	}
	return all
}
