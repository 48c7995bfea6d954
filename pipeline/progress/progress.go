// Package progress shows the progress of a stage: a live bar on a terminal, otherwise a plain line every few seconds.
package progress

import (
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// Bytes is the unit that is printed as KiB, MiB and so on.
const Bytes = "B"

// Every is the interval between plain lines.
const Every = 5 * time.Second

// Reporter starts one meter for each stage. It may be used concurrently.
type Reporter interface {
	Start(stage string, total int64, unit string) Meter
}

// Meter counts the items of one stage. Add and Skip may be called concurrently. Done ends the stage and must be called
// once.
type Meter interface {
	Add(n int64)
	Skip(n int64) // items whose output was there already: they are done, but say nothing of the rate
	Done()
}

// minBarColumns is the narrowest terminal with bars: in a narrower one they wrap, and each redraw leaves a line behind.
const minBarColumns = 60

// New returns bars if out is a terminal that is wide enough, plain lines otherwise.
func New(out *os.File) Reporter {
	columns, _, err := term.GetSize(int(out.Fd()))
	return reporter(out, columns, err == nil)
}

func reporter(out io.Writer, columns int, terminal bool) Reporter {
	if !terminal || columns < minBarColumns {
		return lines{out: out}
	}
	return bars{out, columns}
}

// Dated shows plain lines with date and time, for a log.
func Dated(out io.Writer) Reporter { return lines{out: out, dated: true} }

// Silent shows nothing.
var Silent Reporter = silent{}

type silent struct{}

func (silent) Start(string, int64, string) Meter { return silent{} }
func (silent) Add(int64)                         {}
func (silent) Skip(int64)                        {}
func (silent) Done()                             {}

type bars struct {
	out     io.Writer
	columns int
}

func (b bars) Start(stage string, total int64, unit string) Meter {
	m := &bar{counted: counted{stage: stage, unit: unit, total: total, begin: time.Now()}, of: b}
	m.drawn = progressbar.NewOptions64(total,
		progressbar.OptionSetWriter(b.out),
		progressbar.OptionSetDescription(m.text()),
		progressbar.OptionSetPredictTime(false),
		progressbar.OptionSetElapsedTime(false),
		progressbar.OptionFullWidth(),
		progressbar.OptionUseANSICodes(true),
		progressbar.OptionSetTheme(progressbar.ThemeASCII),
	)
	return m
}

// bar says what a line says, before a bar: the library's rates are means of bursts, with what was there before.
type bar struct {
	counted
	of    bars
	drawn *progressbar.ProgressBar
	at    atomic.Int64 // nanoseconds from the beginning to the last drawing
}

const (
	barColumns = 16 // left for what the library draws beside the description
	redraw     = 100 * time.Millisecond
)

func (m *bar) text() string {
	text := []rune(m.counted.text(Short))
	return string(text[:min(len(text), m.of.columns-barColumns)])
}

func (m *bar) Add(n int64) {
	m.counted.Add(n)
	m.draw()
}

func (m *bar) Skip(n int64) {
	m.counted.Skip(n)
	m.draw()
}

// draw leaves the end to Done, as the library draws a full bar only once. An error from the terminal is no reason to
// stop mining, so a bar's errors are ignored.
func (m *bar) draw() {
	last, now := m.at.Load(), int64(time.Since(m.begin))
	if now-last < int64(redraw) || !m.at.CompareAndSwap(last, now) {
		return
	}
	_ = m.drawn.Set64(min(m.done.Load(), max(m.total-1, 0)))
	m.drawn.Describe(m.text())
}

func (m *bar) Done() {
	m.drawn.Describe(m.text())
	_ = m.drawn.Finish()
	fmt.Fprintln(m.of.out)
}

type lines struct {
	out   io.Writer
	dated bool
}

func (l lines) Start(stage string, total int64, unit string) Meter {
	m := &line{counted: counted{stage: stage, unit: unit, total: total, begin: time.Now()}, of: l, stop: make(chan struct{})}
	m.stopped.Go(m.tick)
	return m
}

type line struct {
	counted
	of      lines
	stop    chan struct{}
	stopped sync.WaitGroup
}

func (m *line) Done() {
	close(m.stop)
	m.stopped.Wait()
	m.print()
}

func (m *line) tick() {
	ticker := time.NewTicker(Every)
	defer ticker.Stop()
	for {
		select {
		case <-m.stop:
			return
		case <-ticker.C:
			m.print()
		}
	}
}

func (m *line) print() {
	date := ""
	if m.of.dated {
		date = time.Now().Format("2006-01-02 15:04:05 ")
	}
	whole := func(n float64) string { return fmt.Sprintf("%.0f", n) }
	fmt.Fprintf(m.of.out, "%s%s\n", date, m.text(whole))
}

// counted are the items of a stage, and its rate.
type counted struct {
	stage, unit string
	total       int64
	done        atomic.Int64
	skipped     atomic.Int64 // the part of done that was there before
	begin       time.Time
}

func (c *counted) Add(n int64) { c.done.Add(n) }

func (c *counted) Skip(n int64) {
	c.skipped.Add(n)
	c.done.Add(n)
}

// text says how far the stage is, with its counts in the given form.
func (c *counted) text(count func(float64) string) string {
	done, elapsed := c.done.Load(), time.Since(c.begin)
	now := done - c.skipped.Load()
	rate := float64(now) / max(elapsed.Seconds(), 1e-9)
	left := ""
	if now > 0 && elapsed >= minElapsed && done < c.total {
		left = fmt.Sprintf(", %s left", time.Duration(float64(c.total-done)/rate*float64(time.Second)).Round(time.Second))
	}
	pace := ""
	switch {
	case now > 0:
		pace = fmt.Sprintf(", %s/s%s", Short(rate), left)
	case done > 0:
		pace = ", done before"
	}
	return fmt.Sprintf("%-8s %s/%s %s%s", c.stage, count(float64(done)), count(float64(c.total)), c.unit, pace)
}

// minElapsed is how long a stage must have run for the time left to be told: before, it is a guess.
const minElapsed = time.Second

// Short is a number in about three digits: 950, 12.3k, 4.56M.
func Short(n float64) string {
	for _, unit := range []struct {
		size, from float64
		name       string
	}{{1e12, 1e12, "T"}, {1e9, 1e9, "G"}, {1e6, 1e6, "M"}, {1e3, 1e4, "k"}} {
		if n < 0.9995*unit.from {
			continue
		}
		switch n /= unit.size; {
		case n >= 99.95:
			return fmt.Sprintf("%.0f%s", n, unit.name)
		case n >= 9.995:
			return fmt.Sprintf("%.1f%s", n, unit.name)
		}
		return fmt.Sprintf("%.2f%s", n, unit.name)
	}
	return fmt.Sprintf("%.0f", n)
}

// Transfers shows a meter for each of several files, one after another.
type Transfers struct {
	Reporter
	meter  Meter
	file   string
	before int64
}

// Show reports how many bytes of a file are there. Another name, or fewer bytes than before, starts another meter.
func (t *Transfers) Show(file string, done, size int64) {
	if file != t.file || done < t.before || t.meter == nil {
		t.Done()
		t.meter, t.file, t.before = t.Start(file, size, Bytes), file, 0
	}
	t.meter.Add(done - t.before)
	t.before = done
}

// Done ends the last meter.
func (t *Transfers) Done() {
	if t.meter != nil {
		t.meter.Done()
		t.meter = nil
	}
}
