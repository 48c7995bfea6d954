package split

import (
	_ "embed" // the shipped rules
	"sync"
)

//go:embed rules.srx
var shipped []byte

// Shipped returns the rules that are part of the program. They have rules for every language: at least those for full
// stops of its script.
var Shipped = sync.OnceValues(func() (*SRX, error) { return Parse("the shipped rules", shipped) })
