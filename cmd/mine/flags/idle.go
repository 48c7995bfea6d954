package flags

import "bitextmine/internal/badinput"

// Idle are flags that change nothing unless what they are for is asked for, too.
type Idle struct {
	Used  bool
	For   string
	Flags []string
}

// RefuseIdle refuses flags of a command that were given and change nothing.
func RefuseIdle(command string, given func(flag string) bool, all ...Idle) error {
	for _, idle := range all {
		for _, flag := range idle.Flags {
			if !idle.Used && given(flag) {
				return badinput.Errorf("%s: --%s changes nothing without %s: leave it out, or give that, too", command, flag, idle.For)
			}
		}
	}
	return nil
}
