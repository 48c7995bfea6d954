package statistic

import (
	"cmp"
	"context"
	"errors"
	"math"
	"strings"

	"gopkg.in/yaml.v3"

	"bitextmine/encode"
	"bitextmine/encode/embedding"
	"bitextmine/encode/model"
	"bitextmine/train"
	"bitextmine/train/data"
)

// Labels are the teacher's cosines that IMASCL's labels of a training are made of, each list [size, size] by rows.
type Labels struct {
	size  int         // pairs of a batch
	first [][]float64 // batches of the bitext's first pairs, in its order
	drawn [][]float64 // batches as training draws them
}

// enough is the number of pairs whose cosines are looked at.
const enough = 1024

// soft are the settings that IMASCL's labels depend on.
type soft struct {
	Label, Teacher     string
	Temperature        float64
	TeacherTemperature float64 `yaml:"teacher_temperature"`
}

func softOf(c train.Config) (of soft, err error) {
	text, err := yaml.Marshal(c.Objective)
	if err == nil {
		err = yaml.Unmarshal(text, &of)
	}
	return of, err
}

// Temperature is the temperature of a preset's labels.
func Temperature(c train.Config) (float64, error) {
	of, err := softOf(c)
	return cmp.Or(of.TeacherTemperature, of.Temperature), err
}

// Teachers computes labels, those of one teacher and bitext once.
type Teachers struct {
	Library string // path of ONNX Runtime's
	known   map[string]Labels
}

// Labels are those of a preset.
func (t *Teachers) Labels(ctx context.Context, c train.Config) (l Labels, err error) {
	of, err := softOf(c)
	if err != nil {
		return l, err
	}
	c.Bitext.Seed = 1 // one for all rows
	key, err := yaml.Marshal([]any{of.Label, of.Teacher, c.Bitext})
	if l, ok := t.known[string(key)]; ok || err != nil {
		return l, err
	}
	loaded, err := model.Load(of.Teacher)
	if err != nil {
		return l, err
	}
	teacher, err := encode.Open(loaded, encode.Options{Library: t.Library})
	if err != nil {
		return l, err
	}
	defer func() { err = errors.Join(err, teacher.Close()) }()
	languages := []string{"en"}
	if of.Label == "average" {
		languages = append(languages, c.Bitext.Sources[0].Tgt)
	}
	var lists [2][][]float64
	for i, texts := range []func(context.Context, data.Config) ([2][]string, error){first, drawn} {
		sides, err := texts(ctx, c.Bitext)
		if err != nil {
			return l, err
		}
		vectors := make([][]float32, len(languages))
		for j, language := range languages {
			vectors[j] = make([]float32, len(sides[j])*teacher.Dim())
			if err := teacher.Encode(ctx, language, sides[j], vectors[j]); err != nil {
				return l, err
			}
		}
		lists[i] = cosines(vectors, teacher.Dim(), c.Bitext.BatchSize)
	}
	l = Labels{c.Bitext.BatchSize, lists[0], lists[1]}
	if t.known == nil {
		t.known = map[string]Labels{}
	}
	t.known[string(key)] = l
	return l, nil
}

// first is the sources and the targets of a bitext's first pairs.
func first(ctx context.Context, c data.Config) (sides [2][]string, err error) {
	for pair, err := range data.Pairs(ctx, c, &data.Stats{}) {
		if err != nil {
			return sides, err
		}
		sides[0], sides[1] = append(sides[0], pair.Source), append(sides[1], pair.Target)
		if len(sides[0]) == enough {
			break
		}
	}
	return sides, nil
}

// drawn is the sources and the targets of the first batches that training draws.
func drawn(ctx context.Context, c data.Config) (sides [2][]string, err error) {
	set, err := data.Read(ctx, c, data.Options{Tokenizer: byWords{}, Texts: true})
	if err != nil {
		return sides, err
	}
	batches, err := set.Batches(nil)
	if err != nil {
		return sides, err
	}
	for len(sides[0]) < enough {
		for _, row := range batches.Next().Rows {
			source, target := set.Texts(int(row))
			sides[0], sides[1] = append(sides[0], source), append(sides[1], target)
		}
	}
	return sides, nil
}

// byWords has a token for each word. Batches of any length, which IMASCL's presets have, do not depend on tokens.
type byWords struct{}

func (byWords) Encode(texts []string, maxIDs int, yield func(i int, ids []int32)) error {
	for i, text := range texts {
		yield(i, make([]int32, min(max(len(strings.Fields(text)), 1), maxIDs)))
	}
	return nil
}

func (byWords) Unknown() int32 { return 0 }

// cosines are those of full batches of unit vectors; those of several sides, which are translations, are averaged.
func cosines(sides [][]float32, dim, size int) (rows [][]float64) {
	for i := range len(sides[0]) / dim / size * size {
		row := make([]float64, size)
		for j := range row {
			at := i/size*size + j
			for _, side := range sides {
				row[j] += float64(embedding.Dot(side[i*dim:(i+1)*dim], side[at*dim:(at+1)*dim])) / float64(len(sides))
			}
		}
		rows = append(rows, row)
	}
	return rows
}

// Own is the mean share of a label at a temperature, in percent, that lies on the pair itself in training's batches.
func (l Labels) Own(temperature float64) (percent float64) { return l.own(l.drawn, temperature) }

func (l Labels) own(rows [][]float64, temperature float64) (percent float64) {
	for i, row := range rows {
		sum := 0.0
		for _, x := range row {
			sum += math.Exp((x - row[i%l.size]) / temperature)
		}
		percent += 100 / sum / float64(len(rows))
	}
	return percent
}

// Soft is the temperature with a share of the pair itself, in percent, to two digits. The higher it is, the lower the
// share. It is of the bitext's first pairs, as rows that exist were made: where these are short, as in Tatoeba's files,
// more of a label lies on the pair itself in training's batches, which Own says.
func (l Labels) Soft(percent float64) float64 {
	low, high := 1e-3, 10.0
	for high/low > 1.0001 {
		if middle := math.Sqrt(low * high); l.own(l.first, middle) > percent {
			low = middle
		} else {
			high = middle
		}
	}
	digits := math.Pow(10, 1-math.Floor(math.Log10(low)))
	return math.Round(low*digits) / digits
}
