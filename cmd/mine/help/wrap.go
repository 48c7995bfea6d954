package help

import (
	"strings"
	"unicode/utf8"
)

// writeText writes paragraphs. Lines that begin with a space are a table: each stays a line, and what does not fit
// continues under its last column.
func writeText(b *strings.Builder, text string) {
	var words []string
	flush := func() {
		if len(words) > 0 {
			fill(b, "", "", "", words)
			words = nil
		}
	}
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, " \n")
		switch {
		case line == "":
			flush()
			b.WriteString("\n")
		case line[0] == ' ' || line[0] == '\t':
			flush()
			writeRow(b, strings.ReplaceAll(line, "\t", "    "))
		default:
			words = append(words, strings.Fields(line)...)
		}
	}
	flush()
}

// writeRow writes a line of a table.
func writeRow(b *strings.Builder, line string) {
	if utf8.RuneCountInString(line) <= Width {
		b.WriteString(line + "\n")
		return
	}
	column := len(line) - len(strings.TrimLeft(line, " "))
	if gap := strings.LastIndex(line, "  "); gap >= 0 {
		column = gap + 2
	}
	fill(b, line[:column], strings.Repeat(" ", column), "", strings.Fields(line[column:]))
}

// writeEntry writes a name and, from a column on, words. A name that reaches the column has a line of its own.
func writeEntry(b *strings.Builder, name string, column int, words []string) {
	if len(name) >= column {
		b.WriteString(name + "\n")
		name = ""
	}
	name += strings.Repeat(" ", column-len(name))
	fill(b, name, strings.Repeat(" ", column), "", words)
}

// writeExample writes a command line. A backslash ends each line that continues, so that a shell takes all of them.
// A flag stays on the line of its value.
func writeExample(b *strings.Builder, line string) {
	var words []string
	for _, word := range strings.Fields(line) {
		if n := len(words); n > 0 && strings.HasPrefix(words[n-1], "--") && !strings.HasPrefix(word, "-") &&
			!strings.Contains(words[n-1], " ") {
			words[n-1] += " " + word
		} else {
			words = append(words, word)
		}
	}
	fill(b, "  ", "      ", ` \`, words)
}

// fill writes words in lines that begin with first, or rest after the first of them, and end with more where another
// follows.
func fill(b *strings.Builder, first, rest, more string, words []string) {
	line, empty := first, true
	for i, word := range words {
		room := Width - utf8.RuneCountInString(more)
		if i == len(words)-1 {
			room = Width
		}
		switch {
		case empty:
			line += word
		case utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) <= room:
			line += " " + word
		default:
			b.WriteString(line + more + "\n")
			line = rest + word
		}
		empty = false
	}
	b.WriteString(strings.TrimRight(line, " ") + "\n")
}
