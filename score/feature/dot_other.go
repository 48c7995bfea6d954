//go:build !amd64

package feature

// dotRows is dotRowsGeneric for two rows at once: u gets the products with a, v those with b.
func dotRows(u, v []int32, a, b, table []int16, rows []int32) {
	dotRowsGeneric(u, a, table, rows)
	dotRowsGeneric(v, b, table, rows)
}
