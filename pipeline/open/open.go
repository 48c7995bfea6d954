// Package open makes what a search and an encoder are opened with from the settings: for every command and every task
// the same, so that no setting is left out in one of them.
package open

import (
	"bitextmine/encode"
	"bitextmine/index/backend"
	"bitextmine/index/faiss"
	"bitextmine/pipeline/setting"
)

// SearchOptions are the settings of whatever backend searches.
func SearchOptions(s setting.Searching, r setting.Resources) backend.Options {
	return backend.Options{Threads: r.Threads, FAISS: faiss.Options{NProbe: s.NProbe, EfSearch: s.EfSearch}}
}

// EncoderOptions are the settings that an encoder, or a scorer's token vectors, are opened with.
func EncoderOptions(r setting.Resources) encode.Options {
	return encode.Options{Threads: r.Threads, Library: r.ONNXRuntime}
}
