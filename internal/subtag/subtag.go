// Package subtag takes the program's language codes apart: zh-Hant is the language zh and the script Hant.
package subtag

import "strings"

// Language is a code without its script and region: zh for zh-Hant.
func Language(code string) string {
	language, _, _ := strings.Cut(code, "-")
	return language
}
