//go:build !(linux && amd64)

package amx

// Permitted says that there are no tile registers: AMX is used on x86-64 under Linux only.
func Permitted() bool { return false }
