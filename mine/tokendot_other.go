//go:build !amd64

package mine

func dotRows(out []int32, a, table []int16, rows []int32) { dotRowsGeneric(out, a, table, rows) }
