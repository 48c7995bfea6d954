package statistic

import (
	"cmp"
	"context"
	"errors"
	"math"

	"gopkg.in/yaml.v3"

	"bitextmine/encode"
	"bitextmine/encode/embedding"
	"bitextmine/encode/model"
	"bitextmine/train"
	"bitextmine/train/data"
)

// Labels are the teacher's cosines that IMASCL's labels of a training are made of, in batches [size, size].
type Labels struct {
	size        int
	cosines     [][]float64
	Temperature float64 // the preset's
}

// LabelsOf computes the cosines of the first 1,024 pairs of a training's bitext. library is the path of ONNX Runtime's.
func LabelsOf(ctx context.Context, c train.Config, library string) (l Labels, err error) {
	var of struct {
		Label              string
		Teacher            string
		Temperature        float64
		TeacherTemperature float64 `yaml:"teacher_temperature"`
	}
	text, err := yaml.Marshal(c.Objective)
	if err == nil {
		err = yaml.Unmarshal(text, &of)
	}
	if err != nil {
		return l, err
	}
	loaded, err := model.Load(of.Teacher)
	if err != nil {
		return l, err
	}
	teacher, err := encode.Open(loaded, encode.Options{Library: library})
	if err != nil {
		return l, err
	}
	defer func() { err = errors.Join(err, teacher.Close()) }()
	languages, texts := []string{"en"}, make([][]string, 1, 2)
	if of.Label == "average" {
		languages, texts = append(languages, c.Bitext.Sources[0].Tgt), append(texts, nil)
	}
	const enough = 1024
	for pair, err := range data.Pairs(ctx, c.Bitext, &data.Stats{}) {
		if err != nil {
			return l, err
		}
		for i := range texts {
			texts[i] = append(texts[i], []string{pair.Source, pair.Target}[i])
		}
		if len(texts[0]) == enough {
			break
		}
	}
	l = Labels{size: c.Bitext.BatchSize, Temperature: cmp.Or(of.TeacherTemperature, of.Temperature)}
	sides := make([][]float32, len(texts))
	for i := range texts {
		sides[i] = make([]float32, len(texts[i])*teacher.Dim())
		if err := teacher.Encode(ctx, languages[i], texts[i], sides[i]); err != nil {
			return l, err
		}
	}
	l.add(sides, teacher.Dim())
	return l, nil
}

// add adds the cosines of full batches of unit vectors; those of several sides, which are translations, are averaged.
func (l *Labels) add(sides [][]float32, dim int) {
	for i := range len(sides[0]) / dim / l.size * l.size {
		row := make([]float64, l.size)
		for j := range row {
			at := i/l.size*l.size + j
			for _, side := range sides {
				row[j] += float64(embedding.Dot(side[i*dim:(i+1)*dim], side[at*dim:(at+1)*dim])) / float64(len(sides))
			}
		}
		l.cosines = append(l.cosines, row)
	}
}

// Own is the mean share of a label at a temperature, in percent, that lies on the pair itself.
func (l Labels) Own(temperature float64) (percent float64) {
	for i, row := range l.cosines {
		sum := 0.0
		for _, x := range row {
			sum += math.Exp((x - row[i%l.size]) / temperature)
		}
		percent += 100 / sum / float64(len(l.cosines))
	}
	return percent
}

// Soft is the temperature with a share of the pair itself, in percent, to two digits. The higher it is, the lower the
// share.
func (l Labels) Soft(percent float64) float64 {
	low, high := 1e-3, 10.0
	for high/low > 1.0001 {
		if middle := math.Sqrt(low * high); l.Own(middle) > percent {
			low = middle
		} else {
			high = middle
		}
	}
	digits := math.Pow(10, 1-math.Floor(math.Log10(low)))
	return math.Round(low*digits) / digits
}
