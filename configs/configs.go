// Package configs holds the presets and the scorers that come with the program.
package configs

import "embed"

// Files are the presets, by file name.
//
//go:embed *.yaml
var Files embed.FS

// Scorers holds a scorer for each built-in encoder.
//
//go:embed scorers
var Scorers embed.FS

// Models holds the manifests of published encoders, models/NAME/model.yaml.
//
//go:embed models/*/model.yaml
var Models embed.FS

// Filters holds sets of rules for mine filter.
//
//go:embed filter
var Filters embed.FS
