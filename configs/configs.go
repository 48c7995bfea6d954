// Package configs holds the presets and the default scorer that come with the program.
package configs

import "embed"

// Files are the presets, by file name.
//
//go:embed *.yaml
var Files embed.FS

// Scorers holds the default scorer.
//
//go:embed scorers
var Scorers embed.FS
