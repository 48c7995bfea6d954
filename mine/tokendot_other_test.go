//go:build !amd64

package mine

// kernels lists the implementations of dotRows that this CPU can run.
func kernels() map[string]func(out []int32, a, table []int16, rows []int32) {
	return map[string]func(out []int32, a, table []int16, rows []int32){"generic": dotRowsGeneric}
}
