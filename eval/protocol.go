package eval

import (
	"strings"

	"bitextmine/internal/badinput"
)

// Protocol is a measure with all its settings.
type Protocol struct {
	Name string
	// Definition is two lines that say what was measured. They are printed above every result.
	Definition [2]string
}

// Protocols lists every protocol, in the order of docs/evaluation.md.
var Protocols = []Protocol{BUCCLaser, BUCCST, BUCCCosine, BUCCScored, BUCCMTEB, Tatoeba, XSim, XSimPlusPlus, Retrieval, STS}

// ParseProtocol finds a protocol by its name.
func ParseProtocol(name string) (Protocol, error) {
	names := make([]string, len(Protocols))
	for i, p := range Protocols {
		if p.Name == name {
			return p, nil
		}
		names[i] = p.Name
	}
	return Protocol{}, badinput.Errorf("protocol %q is not known; choose one of %s", name, strings.Join(names, ", "))
}
