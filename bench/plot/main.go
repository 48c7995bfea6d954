// Command plot draws the precision-recall curves of `mine eval --curve` (.tsv), or the losses and dev figures by step
// of a training's train.jsonl: scripts/bench plot FILE OUT.svg. OUT may end in .png, too.
package main

import (
	"bufio"
	"encoding/json"
	"log"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/plotutil"
	"gonum.org/v1/plot/vg"

	"bitextmine/train"
)

func main() {
	log.SetFlags(0)
	if len(os.Args) != 3 {
		log.Fatal("usage: scripts/bench plot FILE.tsv|FILE.jsonl OUT.svg|OUT.png")
	}
	if err := draw(os.Args[1], os.Args[2]); err != nil {
		log.Fatal(err)
	}
}

func draw(from, to string) error {
	f, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // it is only read
	p, curves := plot.New(), map[string]plotter.XYs{}
	p.X.Label.Text, p.Y.Label.Text, p.Legend.Top = "recall (%)", "precision (%)", true
	add := curvePoint
	if filepath.Ext(from) == ".jsonl" {
		p.X.Label.Text, p.Y.Label.Text, add = "step", "loss, dev (%)", logPoint
	}
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		if err := add(curves, lines.Text()); err != nil {
			return err
		}
	}
	if err := lines.Err(); err != nil {
		return err
	}
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
	return p.Save(18*vg.Centimeter, 12*vg.Centimeter, to)
}

// curvePoint adds a row of mine eval --curve: protocol, pair, score, extracted, correct, precision, recall, F1.
func curvePoint(curves map[string]plotter.XYs, row string) error {
	cells := strings.Split(row, "\t")
	if len(cells) != 8 || cells[0] == "protocol" {
		return nil
	}
	precision, err := strconv.ParseFloat(cells[5], 64)
	if err != nil {
		return err
	}
	recall, err := strconv.ParseFloat(cells[6], 64)
	name := cells[0] + " " + cells[1]
	curves[name] = append(curves[name], plotter.XY{X: recall, Y: precision})
	return err
}

// logPoint adds a line of a training's log.
func logPoint(curves map[string]plotter.XYs, row string) error {
	var line train.JournalLine
	if err := json.Unmarshal([]byte(row), &line); err != nil {
		return err
	}
	if line.Terms != nil {
		line.Terms["loss"] = line.Loss
	}
	for _, figures := range []map[string]float64{line.Terms, line.Dev} {
		for name, y := range figures {
			curves[name] = append(curves[name], plotter.XY{X: float64(line.Step), Y: y})
		}
	}
	return nil
}
