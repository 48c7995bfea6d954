package encode

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"bitextmine/encode/model"
	"bitextmine/encode/tokenizer"
	"bitextmine/internal/atomicfile"
	"bitextmine/internal/badinput"
)

// A token file is written beside an embedding file if the encoder's token vectors are static, so that the sentences
// need not be tokenised again. Its content, little-endian: the magic, the number of sentences and of ids (uint32), the
// end of each sentence's ids (uint32), and the ids (int32). A sentence's ids are distinct and in ascending order.
const tokenMagic = "MINETOKS"

// TokenPath is the path of the token file of an embedding file.
func TokenPath(embedding string) string { return strings.TrimSuffix(embedding, ".npy") + ".tokens" }

// tokenLog collects the token ids of sentences while they are encoded.
type tokenLog struct {
	tokenizer.Sequences
}

// add appends the ids of a window's sentences, without their special tokens.
func (l *tokenLog) add(v *tokenizer.Vocabulary, w *window, prefix model.Prefix) {
	for i := range w.texts {
		begin := len(l.IDs)
		own, _ := v.Own(w.tokens(i), prefix)
		l.IDs = append(l.IDs, own...)
		slices.Sort(l.IDs[begin:])
		l.IDs = l.IDs[:begin+len(slices.Compact(l.IDs[begin:]))]
		l.Ends = append(l.Ends, len(l.IDs))
	}
}

func (l *tokenLog) write(path string) error {
	out := make([]byte, 0, len(tokenMagic)+8+4*(len(l.Ends)+len(l.IDs)))
	out = append(out, tokenMagic...)
	out = binary.LittleEndian.AppendUint32(out, uint32(len(l.Ends)))
	out = binary.LittleEndian.AppendUint32(out, uint32(len(l.IDs)))
	for _, end := range l.Ends {
		out = binary.LittleEndian.AppendUint32(out, uint32(end))
	}
	for _, id := range l.IDs {
		out = binary.LittleEndian.AppendUint32(out, uint32(id))
	}
	return atomicfile.WriteBytes(path, out)
}

// ReadTokens reads the distinct token ids of an embedding file's n sentences. ok is false if there is no token file.
func ReadTokens(embedding string, n int) (ids tokenizer.Sequences, ok bool, err error) {
	path := TokenPath(embedding)
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return ids, false, nil
	}
	if err != nil {
		return ids, false, fmt.Errorf("open token file: %w", err)
	}
	if ids, err = decodeTokens(data); err == nil && len(ids.Ends) != n {
		err = fmt.Errorf("it has %d sentences instead of %d", len(ids.Ends), n)
	}
	if err != nil {
		return ids, false, badinput.Errorf("token file %s: %w; remove it and its embedding file and run again", path, err)
	}
	return ids, true, nil
}

func decodeTokens(data []byte) (tokenizer.Sequences, error) {
	var ids tokenizer.Sequences
	rest, ok := bytes.CutPrefix(data, []byte(tokenMagic))
	if !ok || len(rest) < 8 {
		return ids, fmt.Errorf("it does not begin with %s and two numbers", tokenMagic)
	}
	n, m := int(binary.LittleEndian.Uint32(rest)), int(binary.LittleEndian.Uint32(rest[4:]))
	rest = rest[8:]
	if len(rest) != 4*(n+m) {
		return ids, fmt.Errorf("it has %d bytes after its header instead of %d", len(rest), 4*(n+m))
	}
	ids.Ends, ids.IDs = make([]int, n), make([]int32, m)
	last := 0
	for i := range ids.Ends {
		ids.Ends[i] = int(binary.LittleEndian.Uint32(rest[4*i:]))
		if ids.Ends[i] < last || ids.Ends[i] > m {
			return ids, fmt.Errorf("sentence %d ends at token %d of %d", i, ids.Ends[i], m)
		}
		last = ids.Ends[i]
	}
	for i := range ids.IDs {
		if ids.IDs[i] = int32(binary.LittleEndian.Uint32(rest[4*(n+i):])); ids.IDs[i] < 0 {
			return ids, fmt.Errorf("token %d has the id %d", i, ids.IDs[i])
		}
	}
	return ids, nil
}
