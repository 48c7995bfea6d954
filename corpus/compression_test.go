package corpus

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/ulikunitz/xz"

	"bitextmine/corpus/corpustest"
)

// packers are the compressions, each in two members if the format has members.
var packers = map[string]func(t testing.TB, data []byte) []byte{
	"plain": func(t testing.TB, data []byte) []byte { return data },
	"gz": func(t testing.TB, data []byte) []byte {
		return inHalves(t, data, func(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) })
	},
	"zst": func(t testing.TB, data []byte) []byte {
		return inHalves(t, data, func(w io.Writer) io.WriteCloser {
			e, err := zstd.NewWriter(w)
			if err != nil {
				t.Fatal(err)
			}
			return e
		})
	},
	"xz": func(t testing.TB, data []byte) []byte {
		return inHalves(t, data, func(w io.Writer) io.WriteCloser {
			e, err := xz.NewWriter(w)
			if err != nil {
				t.Fatal(err)
			}
			return e
		})
	},
	// Go has no bzip2 encoder.
	"bz2": func(t testing.TB, data []byte) []byte {
		if _, err := exec.LookPath("bzip2"); err != nil {
			t.Skip("no bzip2 program to make the test's file with")
		}
		var out bytes.Buffer
		for _, half := range halves(data) {
			cmd := exec.Command("bzip2", "-c")
			cmd.Stdin, cmd.Stdout = bytes.NewReader(half), &out
			if err := cmd.Run(); err != nil {
				t.Fatal(err)
			}
		}
		return out.Bytes()
	},
}

func halves(data []byte) [][]byte { return [][]byte{data[:len(data)/2], data[len(data)/2:]} }

func inHalves(t testing.TB, data []byte, open func(io.Writer) io.WriteCloser) []byte {
	var out bytes.Buffer
	for _, half := range halves(data) {
		w := open(&out)
		if _, err := w.Write(half); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return out.Bytes()
}

func TestTruncatedCompression(t *testing.T) {
	var text bytes.Buffer
	for i := range 20000 {
		fmt.Fprintf(&text, "sentence %d %x\n", i, i*i*7919)
	}
	for kind, pack := range packers {
		if kind == "plain" {
			continue
		}
		t.Run(kind, func(t *testing.T) {
			packed := pack(t, text.Bytes())
			flipped := slices.Clone(packed)
			flipped[len(flipped)/3] ^= 0xff
			for name, data := range map[string][]byte{"cut": packed[:len(packed)-5], "head only": packed[:12], "flipped": flipped} {
				_, _, err := readAll("a.txt."+kind, data, DefaultOptions())
				if err == nil {
					t.Errorf("%s: no error", name)
					continue
				}
				corpustest.BadInput(t, err, "a.txt."+kind+": ", "truncated or corrupt")
			}
		})
	}
}

// TestEveryTruncation truncates a compressed file at every byte after its magic number. No truncated file may be read
// as complete.
func TestEveryTruncation(t *testing.T) {
	text := []byte(strings.Repeat("one sentence of many\nanother\n", 20))
	for kind, pack := range packers {
		if kind == "plain" {
			continue
		}
		t.Run(kind, func(t *testing.T) {
			packed := pack(t, text)
			whole := 0
			for n := 10; n < len(packed); n++ {
				_, _, err := readAll("a."+kind, packed[:n], DefaultOptions())
				if err == nil {
					whole++
					continue
				}
				corpustest.BadInput(t, err, "truncated or corrupt")
			}
			if whole > 1 {
				t.Errorf("%d cuts passed, only the one between the two members may", whole)
			}
		})
	}
}
