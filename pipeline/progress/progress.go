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

// New returns bars if out is a terminal, plain lines otherwise.
func New(out *os.File) Reporter {
	if term.IsTerminal(int(out.Fd())) {
		return bars{out}
	}
	return lines{out: out}
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

type bars struct{ out io.Writer }

func (b bars) Start(stage string, total int64, unit string) Meter {
	options := []progressbar.Option{
		progressbar.OptionSetWriter(b.out),
		progressbar.OptionSetDescription(fmt.Sprintf("%-8s", stage)),
		progressbar.OptionSetItsString(unit),
		progressbar.OptionShowBytes(unit == Bytes),
		progressbar.OptionShowCount(),
		progressbar.OptionSetPredictTime(true),
		progressbar.OptionSetElapsedTime(true),
		progressbar.OptionFullWidth(),
		progressbar.OptionUseANSICodes(true),
		progressbar.OptionThrottle(100 * time.Millisecond),
		progressbar.OptionSetTheme(progressbar.ThemeASCII),
	}
	if unit != Bytes { // a rate in bytes is shown by the bar itself
		options = append(options, progressbar.OptionShowIts())
	}
	return bar{b.out, progressbar.NewOptions64(total, options...)}
}

type bar struct {
	out io.Writer
	*progressbar.ProgressBar
}

// An error from the terminal is no reason to stop mining, so a bar's errors are ignored.
func (b bar) Add(n int64)  { _ = b.Add64(n) }
func (b bar) Skip(n int64) { _ = b.Add64(n) }
func (b bar) Done()        { _ = b.Finish(); fmt.Fprintln(b.out) }

type lines struct {
	out   io.Writer
	dated bool
}

func (l lines) Start(stage string, total int64, unit string) Meter {
	m := &line{out: l.out, dated: l.dated, stage: stage, unit: unit, total: total, begin: time.Now(), stop: make(chan struct{})}
	m.stopped.Go(m.tick)
	return m
}

type line struct {
	out         io.Writer
	dated       bool
	stage, unit string
	total       int64
	done        atomic.Int64
	skipped     atomic.Int64 // the part of done that was there before
	begin       time.Time
	stop        chan struct{}
	stopped     sync.WaitGroup
}

func (m *line) Add(n int64) { m.done.Add(n) }

func (m *line) Skip(n int64) {
	m.skipped.Add(n)
	m.done.Add(n)
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
	done, elapsed := m.done.Load(), time.Since(m.begin)
	now := done - m.skipped.Load()
	rate := float64(now) / max(elapsed.Seconds(), 1e-9)
	left := ""
	if now > 0 && elapsed >= minElapsed && done < m.total {
		left = fmt.Sprintf(", %s left", time.Duration(float64(m.total-done)/rate*float64(time.Second)).Round(time.Second))
	}
	date := ""
	if m.dated {
		date = time.Now().Format("2006-01-02 15:04:05 ")
	}
	pace := ""
	switch {
	case now > 0:
		pace = fmt.Sprintf(", %s/s%s", Short(rate), left)
	case done > 0:
		pace = ", done before"
	}
	fmt.Fprintf(m.out, "%s%-8s %d/%d %s%s\n", date, m.stage, done, m.total, m.unit, pace)
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
