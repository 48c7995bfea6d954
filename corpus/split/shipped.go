package split

import (
	"crypto/sha256"
	_ "embed" // the shipped rules
	"encoding/hex"
	"slices"
	"sync"
)

//go:embed rules.srx
var shipped []byte

// Shipped returns the rules that are part of the program. They have rules for every language: at least those for full
// stops of its script.
var Shipped = sync.OnceValues(func() (*SRX, error) { return Parse("the shipped rules", shipped) })

// version is one more whenever the same rules divide a text otherwise.
const version = 1

// ShippedDigest stands for what divides a text by the shipped rules: it changes with them.
var ShippedDigest = sync.OnceValue(func() string {
	sum := sha256.Sum256(slices.Concat([]byte{version}, shipped, thai))
	return hex.EncodeToString(sum[:8])
})

// For returns the splitter of a language by the shipped rules.
func For(language string) (*Splitter, error) {
	rules, err := Shipped()
	if err != nil {
		return nil, err
	}
	return rules.Splitter(language)
}
