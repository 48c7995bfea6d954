package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/plotutil"
	"gonum.org/v1/plot/vg"

	"bitextmine/internal/atomicfile"
)

// plots draws, for a part, each figure of the first table by system: its mean and standard deviation over seeds.
func plots(dir string, b budget, part []string, rows map[string][]*result) error {
	for _, f := range columns(b, part, rows, false) {
		p := plot.New()
		p.Title.Text = fmt.Sprintf("%s, English with %s", f.name, strings.Join(part, ", "))
		p.Y.Label.Text = "%"
		points, names := spread{}, []string{}
		for _, system := range b.systems() {
			if s := of(rows[system], f.name); s.N > 0 {
				points.XYs = append(points.XYs, plotter.XY{X: float64(len(names)), Y: s.Mean})
				points.YErrors = append(points.YErrors, struct{ Low, High float64 }{s.Spread, s.Spread})
				names = append(names, system)
			}
		}
		if err := plotutil.AddScatters(p, points.XYs); err != nil {
			return err
		}
		bars, err := plotter.NewYErrorBars(points)
		if err != nil {
			return err
		}
		p.Add(plotter.NewGrid(), bars)
		p.NominalX(names...)
		p.X.Tick.Label.Rotation, p.X.Tick.Label.XAlign, p.X.Tick.Label.YAlign = 0.8, -1, -0.5
		w, err := p.WriterTo(20*vg.Centimeter, 12*vg.Centimeter, "svg")
		if err != nil {
			return err
		}
		name := strings.ReplaceAll(strings.ToLower(strings.Join(append([]string{f.name}, part...), "-")), " ", "-")
		err = atomicfile.Write(filepath.Join(dir, name+".svg"), func(f *os.File) error {
			_, err := w.WriteTo(f)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// spread is points with errors.
type spread struct {
	plotter.XYs
	plotter.YErrors
}
