package page

import (
	"fmt"
	"math"
	"strconv"

	"bitextmine/web/overview"
)

// Places on charts: across in percent of the width, down in pixels of a fixed height.
const (
	plotTop    = 24.0 // above it the threshold's name
	plotHeight = 180.0
	plotBottom = plotTop + plotHeight
)

// Chart is a histogram as it is drawn.
type Chart struct {
	Name           string // distinguishes the identifiers of two charts on a page
	Logarithmic    bool
	Bars           []Bar
	Across, Up     []Tick
	Threshold      string // place across
	ThresholdValue float64
	NameBefore     bool // the threshold's name stands left of its line
}

// Bar is a rectangle.
type Bar struct {
	Left, Width string
	Top, Height string
	Kept        bool
	Title       string
}

// Tick is a place on an axis with its label.
type Tick struct {
	At, Label, Anchor string
}

func newChart(h overview.Histogram, logarithmic bool) *Chart {
	c := &Chart{Name: "linear", Logarithmic: logarithmic, ThresholdValue: h.Threshold}
	if logarithmic {
		c.Name = "logarithmic"
	}
	low, high := h.Bins[0].Low, h.Bins[len(h.Bins)-1].High
	across := func(v float64) float64 { return (v - low) / (high - low) }
	c.Threshold = place(min(1, max(0, across(h.Threshold))))
	c.NameBefore = across(h.Threshold) > 0.6
	height := c.scale(h.Most())
	width := across(h.Bins[0].High)
	for _, b := range h.Bins {
		c.bars(b, across(b.Low), width, height)
	}
	ticks := 5
	for i := range ticks + 1 {
		v := low + (high-low)*float64(i)/float64(ticks)
		c.Across = append(c.Across, Tick{place(across(v)), strconv.FormatFloat(v, 'f', 2, 64),
			[...]string{"start", "middle", "end"}[min(i, 1)+i/ticks]})
	}
	return c
}

// scale sets the ticks of the axis that goes up, and returns how high a number of pairs is.
func (c *Chart) scale(most int) func(n int) float64 {
	tick := func(at float64, n int) {
		c.Up = append(c.Up, Tick{At: down(plotBottom - at), Label: count(n)})
	}
	if c.Logarithmic {
		top := max(1, math.Ceil(math.Log10(float64(most))))
		height := func(n int) float64 {
			// The axis begins below 1, so that a bin of one pair is seen.
			return plotHeight * (math.Log10(float64(n)) + 0.3) / (top + 0.3)
		}
		for power := range int(top) + 1 {
			n := int(math.Pow10(power))
			tick(height(n), n)
		}
		return height
	}
	step := max(1, int(overview.Round(float64(most)/4)))
	top := (most + step - 1) / step * step
	height := func(n int) float64 { return plotHeight * float64(n) / float64(max(1, top)) }
	for n := 0; n <= top; n += step {
		tick(height(n), n)
	}
	return height
}

// bars draws a bin: kept pairs below the others or, on a logarithmic axis, where heights do not add up, beside them.
func (c *Chart) bars(b overview.Bin, left, width float64, height func(int) float64) {
	const gap = 0.12 // share of the width
	base := plotBottom
	for i, n := range [2]int{b.Kept, b.Rejected} {
		if n == 0 {
			continue
		}
		bar := Bar{Left: place(left + width*gap/2), Width: place(width * (1 - gap)), Kept: i == 0}
		if c.Logarithmic {
			bar.Left, bar.Width = place(left+width*gap/2+float64(i)*width*(1-gap)/2), place(width*(1-gap)/2)
			base = plotBottom
		}
		tall := max(1, height(n)) // a bin with pairs is always visible
		base -= tall
		bar.Top, bar.Height = down(base), down(tall)
		bar.Title = fmt.Sprintf("%.2f to %.2f: %s %s", b.Low, b.High, count(n), [2]string{"kept", "not kept"}[i])
		c.Bars = append(c.Bars, bar)
	}
}

func place(share float64) string { return strconv.FormatFloat(100*share, 'f', 2, 64) + "%" }

func down(pixels float64) string { return strconv.FormatFloat(pixels, 'f', 1, 64) }

// Diagram is a reliability diagram as it is drawn.
type Diagram struct {
	Points     []Point
	Across, Up []Tick
}

// Point is a band: its mean probability, the share of its judged pairs that are right as mined, and that share's
// interval.
type Point struct {
	X, Y, Low, High string
	Title           string
}

func newDiagram(r overview.Reliability) *Diagram {
	d := &Diagram{}
	up := func(share float64) string { return down(plotBottom - plotHeight*share) }
	for i := range 6 {
		v := float64(i) / 5
		label := strconv.FormatFloat(v, 'f', 1, 64)
		d.Across = append(d.Across, Tick{place(v), label, [...]string{"start", "middle", "end"}[min(i, 1)+i/5]})
		d.Up = append(d.Up, Tick{At: up(v), Label: label})
	}
	for _, b := range r.Bands {
		if b.Judged() == 0 {
			continue
		}
		low, high := b.Interval()
		d.Points = append(d.Points, Point{
			X: place(b.Probability), Y: up(b.Share()), Low: up(low), High: up(high),
			Title: fmt.Sprintf("%.1f to %.1f: %s of %s right as mined", b.Low, b.High, count(b.Accepted), count(b.Judged())),
		})
	}
	return d
}
