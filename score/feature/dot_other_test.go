//go:build !amd64

package feature

type kernel func(u, v []int32, a, b, table []int16, rows []int32)

// kernels lists the implementations of dotRows that this CPU can run.
func kernels() map[string]kernel { return map[string]kernel{"chosen": dotRows} }
