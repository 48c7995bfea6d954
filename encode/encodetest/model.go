package encodetest

import (
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"bitextmine/fixtures"
	"bitextmine/internal/badinput"
)

// manifest is model.FileName, which the tests of that package cannot import from here.
const manifest = "model.yaml"

// Changed is the built-in encoder with parts of its manifest replaced; oldnew holds old and new texts in turn.
func Changed(t testing.TB, oldnew ...string) fstest.MapFS {
	t.Helper()
	files := fstest.MapFS{}
	for _, name := range []string{manifest, "model.onnx", "spm.model"} {
		data, err := fs.ReadFile(fixtures.Models, "models/"+fixtures.Bag+"/"+name)
		if err != nil {
			t.Fatal(err)
		}
		files[name] = &fstest.MapFile{Data: data}
	}
	text := string(files[manifest].Data)
	for i := 0; i < len(oldnew); i += 2 {
		if !strings.Contains(text, oldnew[i]) {
			t.Fatalf("the manifest has no %q", oldnew[i])
		}
		text = strings.Replace(text, oldnew[i], oldnew[i+1], 1)
	}
	files[manifest] = &fstest.MapFile{Data: []byte(text)}
	return files
}

// Refused checks that an error is one line of a badinput error that says a text.
func Refused(t testing.TB, err error, says string) {
	t.Helper()
	if err == nil || !badinput.Is(err) || !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), "\n") {
		t.Errorf("got %v, want a badinput error with %q", err, says)
	}
}
