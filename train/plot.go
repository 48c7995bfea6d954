package train

import (
	"maps"
	"os"
	"path/filepath"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/plotutil"
	"gonum.org/v1/plot/vg"

	"bitextmine/internal/atomicfile"
)

// PlotJournal draws a training log as two plots beside it, each as SVG and PNG: the loss with its terms, and the dev
// figures, by step.
func PlotJournal(dir string) error {
	lines, err := ReadJournal(dir)
	if err != nil {
		return err
	}
	losses, dev := map[string]plotter.XYs{}, map[string]plotter.XYs{}
	for _, l := range lines {
		x := float64(l.Step)
		if l.Terms != nil {
			losses["loss"] = append(losses["loss"], plotter.XY{X: x, Y: l.Loss})
			for name, y := range l.Terms {
				losses[name] = append(losses[name], plotter.XY{X: x, Y: y})
			}
		}
		for name, y := range l.Dev {
			dev[name] = append(dev[name], plotter.XY{X: x, Y: y})
		}
	}
	if err := draw(filepath.Join(dir, "loss"), "loss", losses); err != nil {
		return err
	}
	return draw(filepath.Join(dir, "dev"), "%", dev)
}

// draw writes path.svg and path.png, or nothing if there are no points.
func draw(path, label string, curves map[string]plotter.XYs) error {
	if len(curves) == 0 {
		return nil
	}
	p := plot.New()
	p.X.Label.Text, p.Y.Label.Text = "step", label
	p.Legend.Top = true
	p.Add(plotter.NewGrid())
	for i, name := range slices.Sorted(maps.Keys(curves)) {
		line, err := plotter.NewLine(curves[name])
		if err != nil {
			return err
		}
		line.Color = plotutil.Color(i)
		p.Add(line)
		p.Legend.Add(name, line)
	}
	for _, ext := range []string{"svg", "png"} {
		w, err := p.WriterTo(18*vg.Centimeter, 12*vg.Centimeter, ext)
		if err != nil {
			return err
		}
		err = atomicfile.Write(path+"."+ext, func(f *os.File) error {
			_, err := w.WriteTo(f)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}
