package badinput

import (
	"fmt"
	"strings"
)

// Problems are what is wrong with settings. All are refused together.
type Problems []string

// Unless adds a problem unless ok is true. The text names the setting, what is wrong, and what to do.
func (p *Problems) Unless(ok bool, format string, args ...any) {
	if !ok {
		*p = append(*p, fmt.Sprintf(format, args...))
	}
}

// Err is one permanent error of all problems, after a prefix; nil without any.
func (p Problems) Err(prefix string) error {
	if len(p) == 0 {
		return nil
	}
	return Errorf("%s%s", prefix, strings.Join(p, "; "))
}
