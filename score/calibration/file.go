package calibration

import (
	"encoding/json"
	"fmt"
	"math"
	"os"

	"bitextmine/internal/atomicfile"
	"bitextmine/internal/badinput"
)

// stored is Outcomes as a file has them: null is a pair that was not found.
type stored struct {
	Sources  int           `json:"sources"`
	Dropped  int           `json:"dropped"`
	Whole    [][2]*float64 `json:"whole"` // right, wrong
	Unpaired []*float64    `json:"unpaired"`
	Found    []float64     `json:"found"`
}

// Write publishes the outcomes as a file.
func (o *Outcomes) Write(path string) error {
	s := stored{Sources: o.Sources, Dropped: o.Dropped, Found: o.Found}
	for i := range o.Whole {
		s.Whole = append(s.Whole, [2]*float64{orNull(o.Whole[i].Right), orNull(o.Whole[i].Wrong)})
	}
	for _, score := range o.Unpaired {
		s.Unpaired = append(s.Unpaired, orNull(score))
	}
	data, err := json.Marshal(s)
	if err != nil {
		return fmt.Errorf("encode outcomes: %w", err)
	}
	return atomicfile.WriteBytes(path, append(data, '\n'))
}

// Read reads a file that Write wrote.
func Read(path string) (o Outcomes, err error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return o, fmt.Errorf("read outcomes: %w", err)
	}
	var s stored
	if err := json.Unmarshal(data, &s); err != nil {
		return o, badinput.Errorf("%s is not a file of outcomes (%w): remove it and run again", path, err)
	}
	o = Outcomes{Sources: s.Sources, Dropped: s.Dropped, Found: s.Found}
	for _, p := range s.Whole {
		o.Whole = append(o.Whole, Pair{Right: orNotFound(p[0]), Wrong: orNotFound(p[1])})
	}
	for _, score := range s.Unpaired {
		o.Unpaired = append(o.Unpaired, orNotFound(score))
	}
	return o, nil
}

func orNull(score float64) *float64 {
	if math.IsInf(score, -1) {
		return nil
	}
	return &score
}

func orNotFound(score *float64) float64 {
	if score == nil {
		return notFound
	}
	return *score
}
