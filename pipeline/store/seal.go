package store

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
)

// sealField begins the last field of a record: the SHA-256 of what is before it.
const sealField = ",\n  \"record_sha256\": "

func seal(content []byte) string {
	sum := sha256.Sum256(content)
	return fmt.Sprintf("%s%q\n}\n", sealField, hex.EncodeToString(sum[:]))
}

// sealed appends the seal to a record, which is an indented JSON object.
func sealed(record []byte) []byte {
	content := bytes.TrimSuffix(record, []byte("\n}"))
	return append(content, seal(content)...)
}

// unsealed returns a record without its seal, or an error if they do not agree. Records of versions before the seal
// have none.
func unsealed(data []byte) ([]byte, error) {
	at := bytes.LastIndex(data, []byte(sealField))
	if at < 0 {
		return data, nil
	}
	if content := data[:at]; string(data[at:]) != seal(content) {
		return nil, errors.New("is not what was published")
	}
	return append(data[:at:at], "\n}\n"...), nil
}
