package statistic

import (
	"cmp"
	"context"
	"errors"

	"gopkg.in/yaml.v3"

	"bitextmine/bench/reproduce/analysis"
	"bitextmine/encode"
	"bitextmine/encode/model"
	"bitextmine/train"
	"bitextmine/train/data"
)

// OwnShare is the share of a label of IMASCL's that lies on the pair itself, in percent, over the first batches of a
// training's bitext. library is the path of ONNX Runtime's.
func OwnShare(ctx context.Context, c train.Config, library string) (percent float64, err error) {
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
		return 0, err
	}
	loaded, err := model.Load(of.Teacher)
	if err != nil {
		return 0, err
	}
	teacher, err := encode.Open(loaded, encode.Options{Library: library})
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, teacher.Close()) }()
	languages, texts := []string{"en"}, [][]string{nil}
	if of.Label == "average" {
		languages, texts = append(languages, c.Bitext.Sources[0].Tgt), append(texts, nil)
	}
	const enough = 1024
	for pair, err := range data.Pairs(ctx, c.Bitext, &data.Stats{}) {
		if err != nil {
			return 0, err
		}
		for i := range texts {
			texts[i] = append(texts[i], []string{pair.Source, pair.Target}[i])
		}
		if len(texts[0]) == enough {
			break
		}
	}
	l, err := analysis.Soften(ctx, teacher, languages, texts, c.Bitext.BatchSize, cmp.Or(of.TeacherTemperature, of.Temperature))
	return 100 * l.Own, err
}
