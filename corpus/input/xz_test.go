package input

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"testing"
	"testing/fstest"

	"github.com/ulikunitz/xz"

	"bitextmine/internal/badinput"
)

// packXZ packs data as one stream.
func packXZ(t *testing.T, data []byte, c xz.WriterConfig) []byte {
	t.Helper()
	var out bytes.Buffer
	w, err := c.NewWriter(&out)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// unpackXZ reads a file of these bytes.
func unpackXZ(t *testing.T, raw []byte) ([]byte, error) {
	t.Helper()
	f, err := OpenDecompressed(File{FS: fstest.MapFS{"a.xz": {Data: raw}}, Path: "a.xz"})
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	return io.ReadAll(f)
}

// TestXZContainer: every check, one block and many, streams with padding between them.
func TestXZContainer(t *testing.T) {
	var text []byte
	for i := range 3000 {
		text = fmt.Appendf(text, "sentence %d %x\n", i, i*i*7919)
	}
	for _, check := range []xz.WriterConfig{{NoCheckSum: true}, {CheckSum: xz.CRC32}, {CheckSum: xz.CRC64}, {CheckSum: xz.SHA256}} {
		check.DictCap = 1 << 16
		for _, block := range []int64{0, 5000, 20_001} {
			check.BlockSize = block
			one := packXZ(t, text, check)
			for name, raw := range map[string][]byte{"one": one, "padded": append(one[:len(one):len(one)], make([]byte, 8)...)} {
				raw = append(raw, one...)
				got, err := unpackXZ(t, raw)
				if err != nil || !bytes.Equal(got, append(text[:len(text):len(text)], text...)) {
					t.Errorf("check %d, blocks of %d, %s: %d bytes of %d, %v", check.CheckSum, block, name, len(got), 2*len(text), err)
				}
			}
		}
	}
}

// TestHostileXZDictionary: no block's header may ask for a large dictionary, wherever the block is.
func TestHostileXZDictionary(t *testing.T) {
	small := packXZ(t, []byte("one sentence\n"), xz.WriterConfig{DictCap: 1 << 16})
	hostile := bytes.Clone(small)
	header := hostile[12:][:(int(hostile[12])+1)*4]
	at := bytes.Index(header, []byte{0x21, 1})
	for _, size := range []byte{30, 40} { // 128 MiB, 4 GiB
		header[at+2] = size
		binary.LittleEndian.PutUint32(header[len(header)-4:], crc32.ChecksumIEEE(header[:len(header)-4]))
		for name, raw := range map[string][]byte{"first": hostile, "second stream": append(bytes.Clone(small), hostile...),
			"second block": bytes.Join([][]byte{small[:len(small)-12-8], hostile[12:]}, nil)} {
			_, err := unpackXZ(t, raw)
			if !badinput.Is(err) || !bytes.Contains([]byte(err.Error()), []byte("xz -9")) {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	header[at+2] = 28 // 64 MiB: xz -9
	binary.LittleEndian.PutUint32(header[len(header)-4:], crc32.ChecksumIEEE(header[:len(header)-4]))
	if got, err := unpackXZ(t, hostile); err != nil || string(got) != "one sentence\n" {
		t.Errorf("a dictionary of 64 MiB: %q, %v", got, err)
	}
}
