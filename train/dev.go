package train

import (
	"context"
	"slices"
	"strings"

	"bitextmine/corpus"
	"bitextmine/encode"
	"bitextmine/eval"
	"bitextmine/eval/testset"
	"bitextmine/index"
	"bitextmine/internal/badinput"
	"bitextmine/train/data"
	"bitextmine/train/encoder"
)

// Dev is a test set that an encoder is evaluated on during training, by one of eval's protocols.
type Dev struct {
	Protocol string   `yaml:"protocol"` // tatoeba, xsim, sts, bucc-laser, bucc-cosine ...
	Dir      string   `yaml:"dir"`
	Split    string   `yaml:"split"` // split of FLORES
	Src      []string `yaml:"src"`
	Tgt      string   `yaml:"tgt"`
}

func (d Dev) validate() error {
	p, err := eval.ParseProtocol(d.Protocol)
	switch {
	case err != nil:
		return badinput.Errorf("dev: %w", err)
	case p.Name == eval.BUCCScored.Name:
		return badinput.Errorf("dev: %s needs more than vectors of sentences; take another protocol", p.Name)
	case p.Name == eval.STS.Name && d.Dir != "":
	case d.Dir == "" || d.Tgt == "":
		return badinput.Errorf("dev: %s needs dir and tgt", p.Name)
	}
	return nil
}

// Judges reports whether the dev sets give a metric.
func (c Config) Judges(metric string) bool {
	for _, d := range c.Dev {
		if strings.HasPrefix(metric, d.Protocol+" ") {
			return true
		}
	}
	return false
}

// Judge returns the percentages of every dev set under the names of eval's rows and columns, such as "bucc-laser de-en
// f1". A stop metric must be one that is better when it is higher, so it cannot be an error rate.
func Judge(ctx context.Context, dev []Dev, vectors eval.VectorSource, searcher index.Searcher) (map[string]float64, error) {
	figures := map[string]float64{}
	runner := &eval.Runner{Vectors: vectors, Searcher: searcher}
	for len(dev) > 0 {
		n := 1 // number of protocols with the same sentences, which are encoded once
		for n < len(dev) && dev[n].shares(dev[0]) {
			n++
		}
		reports, err := dev[0].reports(ctx, runner, dev[:n])
		if err != nil {
			return nil, err
		}
		for _, r := range reports {
			for _, row := range append(r.Rows, r.Means...) {
				for i, column := range r.Columns {
					if x, ok := row.Cells[i].(float64); ok && column.Kind == eval.Percentage {
						figures[r.Protocol.Name+" "+row.Name+" "+column.Name] = x
					}
				}
			}
		}
		dev = dev[n:]
	}
	return figures, nil
}

// shares reports whether two BUCC protocols use the same halves.
func (d Dev) shares(other Dev) bool {
	bucc := strings.HasPrefix(d.Protocol, "bucc") && strings.HasPrefix(other.Protocol, "bucc")
	return bucc && d.Dir == other.Dir && d.Tgt == other.Tgt && slices.Equal(d.Src, other.Src)
}

// reports evaluates with the protocols of all, which have the same sentences as d.
func (d Dev) reports(ctx context.Context, runner *eval.Runner, all []Dev) ([]*eval.Report, error) {
	var protocols []eval.Protocol
	for _, one := range all {
		protocol, err := eval.ParseProtocol(one.Protocol)
		if err != nil {
			return nil, err
		}
		protocols = append(protocols, protocol)
	}
	switch {
	case d.Protocol == eval.STS.Name:
		sets, err := testset.FindSTS(d.Dir)
		if err != nil {
			return nil, err
		}
		report, err := runner.STS(ctx, sets)
		return []*eval.Report{report}, err
	case !strings.HasPrefix(d.Protocol, "bucc"):
		target, sources, err := d.languages()
		if err != nil {
			return nil, err
		}
		sets, err := testset.FindAligned(d.Dir, d.Split, sources, target)
		if err != nil {
			return nil, err
		}
		return runner.Aligned(ctx, protocols, sets, eval.AlignedOptions{})
	}
	var pairs []testset.LanguagePair
	for _, source := range d.Src {
		pair, err := testset.ParsePair(source, d.Tgt)
		if err != nil {
			return nil, err
		}
		pairs = append(pairs, pair)
	}
	return runner.BUCC(ctx, protocols, d.Dir, pairs)
}

// languages returns the names by which line-aligned sets are found.
func (d Dev) languages() (target string, sources []string, err error) {
	if target, err = corpus.ParseLanguage(d.Tgt); err != nil {
		return "", nil, badinput.Errorf("dev: tgt: %w", err)
	}
	for _, code := range d.Src {
		source, err := corpus.ParseLanguage(code)
		if err != nil {
			return "", nil, badinput.Errorf("dev: src: %w", err)
		}
		sources = append(sources, source)
	}
	return target, sources, nil
}

// live makes the encoder in training available to eval.
type live struct {
	name    string
	encoder encoder.Encoder
	bitext  data.Config
	options data.Options
}

func (l live) Name() string { return l.name }

func (l live) Dim() int { return l.encoder.Dim() }

// together is the number of sentences that are encoded at once.
const together = 128

// Encode writes unit vectors [len(texts), dim], as the exported graph does.
func (l live) Encode(ctx context.Context, language string, texts []string, dst []float32) error {
	dim := l.Dim()
	for part, err := range l.bitext.Parts(l.options, language, texts, together) {
		if err != nil {
			return err
		}
		vectors, err := l.encoder.Forward(ctx, part.Side, 0)
		if err != nil {
			return err
		}
		for i, row := range part.Rows {
			v := dst[row*dim : (row+1)*dim]
			copy(v, vectors[i*dim:])
			if err := encode.Unit(v); err != nil {
				return badinput.Errorf("the vector that the encoder in training gives %q %w: lower the learning rate", texts[row], err)
			}
		}
	}
	return nil
}
