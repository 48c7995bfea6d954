package plan

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"bitextmine/bitext/label"
)

// Key is the content key of a task: the SHA-256 of the stage's name and version, and of the JSON of spec, a struct that
// lists exactly the parameters and inputs that change the output.
func Key(stage string, version int, spec any) string {
	data, err := json.Marshal(spec)
	if err != nil {
		panic(fmt.Sprintf("spec of stage %s: %v", stage, err)) // specs are our own plain structs
	}
	h := sha256.New()
	fmt.Fprintf(h, "%s\x00%d\x00", stage, version)
	h.Write(data)
	return hex.EncodeToString(h.Sum(nil))[:32]
}

// Digest is the digest of a value's JSON: of settings, of a run's inputs.
func Digest(value any) string {
	data, err := json.Marshal(value)
	if err != nil {
		panic(err) // our own plain structs
	}
	return digest(data)
}

// DigestLabels is the digest of labels; empty if there are none.
func DigestLabels(labels []label.Label) string {
	if len(labels) == 0 {
		return ""
	}
	return Digest(labels)
}

func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:16])
}
