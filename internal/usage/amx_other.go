//go:build !(linux && amd64)

package usage

// AMXPermitted returns false: AMX is used on x86-64 under Linux only.
func AMXPermitted() bool { return false }
