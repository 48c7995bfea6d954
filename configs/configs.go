// Package configs holds the presets that come with the program.
package configs

import "embed"

// Files are the presets, by file name.
//
//go:embed *.yaml
var Files embed.FS
