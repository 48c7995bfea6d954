package corpus

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
)

// Key is a sentence's identity across shards and runs: the first 128 bits of the SHA-256 of its normalised text.
type Key [16]byte

// KeyOf hashes text, which must already be normalised.
func KeyOf(normalised string) Key {
	sum := sha256.Sum256([]byte(normalised))
	return Key(sum[:16])
}

// Compare orders keys by their bytes. All ties are broken in this order.
func (k Key) Compare(other Key) int { return bytes.Compare(k[:], other[:]) }

func (k Key) String() string { return hex.EncodeToString(k[:]) }
