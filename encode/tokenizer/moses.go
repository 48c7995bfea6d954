package tokenizer

import (
	"regexp"
	"strings"
	"sync"
	"unicode"

	"bitextmine/encode/tokenizer/pattern"
)

// Moses writes a text's punctuation as LASER's program does: characters that cannot be printed become spaces, and the
// rules of Moses' normalize-punctuation.perl for English follow, as of its release 4.0.
func Moses(text string) string {
	printable := printable()
	text = mapped(text, func(r rune) rune {
		if printable.Has(r) {
			return r
		}
		return ' '
	})
	for _, rule := range mosesRules {
		if strings.Contains(text, rule.old) {
			if rule.pattern != nil {
				text = rule.pattern.ReplaceAllString(text, rule.new)
			} else {
				text = strings.ReplaceAll(text, rule.old, rule.new)
			}
		}
	}
	return strings.TrimSpace(text)
}

// printable are the letters of all categories but C.
var printable = sync.OnceValue(func() pattern.Class {
	return pattern.NewClass(pattern.RangesOf(unicode.L, unicode.M, unicode.N, unicode.P, unicode.S, unicode.Z))
})

// mosesRule replaces a text, or what a pattern finds if the text has old.
type mosesRule struct {
	old, new string
	pattern  *regexp.Regexp
}

// mosesRules stand in the order of the program. The rule of numbers writes a point between digits that a no-break space
// parts.
var mosesRules = func() []mosesRule {
	const space = "\u00a0"
	var all []mosesRule
	plain := func(pairs ...string) {
		for i := 0; i < len(pairs); i += 2 {
			all = append(all, mosesRule{old: pairs[i], new: pairs[i+1]})
		}
	}
	found := func(old, expression, new string) {
		all = append(all, mosesRule{old, new, regexp.MustCompile(expression)})
	}
	plain("(", " (", ")", ") ")
	found("  ", " +", " ")
	found(") ", `\) ([.!:?;,])`, ")$1")
	plain("( ", "(", " )", ")")
	found(" %", `(\p{Nd}) %`, "$1%")
	plain(" :", ":", " ;", ";", "`", "'", "''", ` " `)
	plain("„", `"`, "“", `"`, "”", `"`, "–", "-", "—", " - ")
	found("  ", " +", " ")
	plain("´", "'")
	found("‘", "([a-zA-Z])‘([a-zA-Z])", "$1'$2")
	found("’", "([a-zA-Z])’([a-zA-Z])", "$1'$2")
	plain("‘", `"`, "‚", `"`, "’", `"`, "''", `"`, "…", "...")
	plain(space+"«"+space, ` "`, "«"+space, `"`, "«", `"`, space+"»"+space, `" `, space+"»", `"`, "»", `"`)
	plain(space+"%", "%", "nº"+space, "nº ", space+":", ":", space+"ºC", " ºC", space+"cm", " cm", space+"?", "?",
		space+"!", "!", space+";", ";", ","+space, ", ")
	found("  ", " +", " ")
	found(`"`, `"([,.]+)`, `$1"`)
	found(space, `(\p{Nd})`+space+`(\p{Nd})`, "$1.$2")
	return all
}()
