package report

import (
	"bufio"
	"fmt"
	"image/color"
	"math"
	"os"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/plotutil"
	"gonum.org/v1/plot/vg"

	"bitextmine/internal/atomicfile"
	"bitextmine/internal/badinput"
)

// WriteCurves writes the precision-recall curves of reports as TSV: one line per extracted pair, best first.
func WriteCurves(path string, reports []*Report) error {
	if !slices.ContainsFunc(reports, func(r *Report) bool { return len(r.Curves) > 0 }) {
		return noCurve(path)
	}
	return atomicfile.Write(path, func(f *os.File) error {
		w := bufio.NewWriter(f)
		fmt.Fprintln(w, "protocol\tpair\tscore\textracted\tcorrect\tprecision\trecall\tf1")
		for _, r := range reports {
			for _, c := range r.Curves {
				for _, p := range c.Points {
					fmt.Fprintf(w, "%s\t%s\t%v\t%d\t%d\t%.4f\t%.4f\t%.4f\n", r.Protocol, c.Name, p.Score, p.Extracted,
						p.Correct, p.Precision(), p.Recall(), p.F1())
				}
			}
		}
		return w.Flush()
	})
}

func noCurve(path string) error {
	return badinput.Errorf(
		"%s: none of the protocols has a precision-recall curve: evaluate one with a threshold, such as bucc-laser",
		path)
}

// plotPoints is the maximum number of points of a drawn curve. More points than pixels show nothing.
const plotPoints = 2000

// PlotCurves draws the precision-recall curves of reports with a dot at each threshold. ext is "svg" or "png".
func PlotCurves(path, ext string, reports []*Report) error {
	if ext != "svg" && ext != "png" {
		return badinput.Errorf("%s: the file name of a plot must end in .svg or .png", path)
	}
	p := plot.New()
	p.X.Label.Text, p.Y.Label.Text = "recall (%)", "precision (%)"
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = 0, 100, 0, 100
	p.Legend.Top, p.Legend.Left = false, true
	p.Add(plotter.NewGrid())
	n := 0
	for _, r := range reports {
		for _, c := range r.Curves {
			name := fmt.Sprintf("%s %s", r.Protocol, c.Name)
			if err := addCurve(p, name, c, plotutil.Color(n)); err != nil {
				return fmt.Errorf("plot %s: %w", name, err)
			}
			n++
		}
	}
	if n == 0 {
		return noCurve(path)
	}
	drawing, err := p.WriterTo(16*vg.Centimeter, 12*vg.Centimeter, ext)
	if err != nil {
		return fmt.Errorf("plot curves: %w", err)
	}
	return atomicfile.Write(path, func(f *os.File) error {
		_, err := drawing.WriteTo(f)
		return err
	})
}

func addCurve(p *plot.Plot, name string, c Curve, colour color.Color) error {
	if len(c.Points) == 0 {
		return nil
	}
	step := max(1, int(math.Ceil(float64(len(c.Points))/plotPoints)))
	var xys plotter.XYs
	for i := 0; i < len(c.Points); i += step {
		xys = append(xys, plotter.XY{X: c.Points[i].Recall(), Y: c.Points[i].Precision()})
	}
	line, err := plotter.NewLine(xys)
	if err != nil {
		return err
	}
	line.Color = colour
	p.Add(line)
	p.Legend.Add(name, line)
	var at *CurvePoint
	for i := range c.Points {
		if c.Points[i].Score >= c.Threshold {
			at = &c.Points[i]
		}
	}
	if at == nil {
		return nil
	}
	dot, err := plotter.NewScatter(plotter.XYs{{X: at.Recall(), Y: at.Precision()}})
	if err != nil {
		return err
	}
	dot.Color = colour
	p.Add(dot)
	return nil
}
