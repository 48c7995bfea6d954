// Package amx asks Linux for the tile registers of AMX, which a process has only after it asked for them: 8 KiB for
// each thread that uses them.
package amx
