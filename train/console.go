package train

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"
)

// Console shows a training as one live line on a terminal, and otherwise as plain lines.
type Console struct {
	out      io.Writer
	terminal bool

	mutex sync.Mutex
	width int // width of the live line
}

// NewConsole returns a Console that writes to out.
func NewConsole(out io.Writer, terminal bool) *Console { return &Console{out: out, terminal: terminal} }

// Report shows the next action of a training.
func (c *Console) Report(what string) { c.show(what, false) }

// Progress shows a line of the log, and the time that is left. On a terminal, evaluations stay and steps replace each
// other.
func (c *Console) Progress(l JournalLine, left time.Duration) {
	if l.Dev != nil {
		var parts []string
		for _, name := range slices.Sorted(maps.Keys(l.Dev)) {
			parts = append(parts, fmt.Sprintf("%s %.2f", name, l.Dev[name]))
		}
		c.show(fmt.Sprintf("step %d: %s", l.Step, strings.Join(parts, ", ")), true)
		return
	}
	var terms strings.Builder
	if len(l.Terms) > 1 {
		for _, name := range slices.Sorted(maps.Keys(l.Terms)) {
			fmt.Fprintf(&terms, ", %s %.4f", name, l.Terms[name])
		}
	}
	c.show(fmt.Sprintf("step %d, epoch %.2f: loss %.4f%s, %.0f sentences/s, %s left",
		l.Step, l.Epoch, l.Loss, terms.String(), l.Sentences, left.Round(time.Second)), false)
}

// Close ends the live line.
func (c *Console) Close() { c.show("", true) }

func (c *Console) show(text string, stays bool) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if !c.terminal {
		if text != "" {
			_, _ = fmt.Fprintln(c.out, text) // errors of the console are ignored
		}
		return
	}
	end := ""
	if stays && (text != "" || c.width > 0) {
		end = "\n"
	}
	_, _ = fmt.Fprintf(c.out, "\r%-*s%s", c.width, text, end)
	if c.width = len(text); stays {
		c.width = 0
	}
}
