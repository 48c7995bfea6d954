package faiss

import (
	gofaiss "github.com/DataIntelligenceCrew/go-faiss"

	"bitextmine/index"
	"bitextmine/index/kernel"
	"bitextmine/internal/badinput"
)

// cpu makes go-faiss's indexes.
type cpu struct{}

func (cpu) prefix() string { return Prefix }

func (cpu) slack(half *index.Half, _ Options) float64 {
	return kernel.Float32Slack(half.Queries.Kernel, half.Base.Kernel)
}

func (cpu) create(factory string, dim, _ int, opts Options) (native, error) {
	idx, err := gofaiss.IndexFactory(dim, factory, gofaiss.MetricInnerProduct)
	if err != nil {
		return nil, refused(factory, dim, err)
	}
	if err := set(idx, factory, opts); err != nil {
		idx.Delete()
		return nil, err
	}
	return idx, nil
}

func refused(factory string, dim int, err error) error {
	if outOfMemory(err) {
		return badinput.Errorf("not enough memory to make the index %q for %d dimensions; use fewer lists, or exact",
			factory, dim)
	}
	return badinput.Errorf(
		"FAISS cannot make an index %q for %d dimensions (%s); see the FAISS wiki on the index factory, or use exact",
		factory, dim, reason(err))
}

// set applies the search settings that are given. They are FAISS's: nprobe of an index with inverted lists, efSearch of
// a graph.
func set(idx gofaiss.Index, factory string, opts Options) error {
	space, err := gofaiss.NewParameterSpace()
	if err != nil {
		return failed("make a parameter space", err)
	}
	defer space.Delete()
	for _, p := range opts.searchSettings() {
		if err := space.SetIndexParameter(idx, p.name, float64(p.value)); err != nil {
			return settingRefused(factory, p.name, err)
		}
	}
	return nil
}

func settingRefused(factory, name string, err error) error {
	return badinput.Errorf("the index %q has no setting %s (%s); leave it out", factory, name, reason(err))
}

type setting struct {
	name  string
	value int
}

// searchSettings returns the options that are set, by FAISS's names.
func (o Options) searchSettings() []setting {
	var given []setting
	for _, s := range []setting{{"nprobe", o.NProbe}, {"efSearch", o.EfSearch}} {
		if s.value != 0 {
			given = append(given, s)
		}
	}
	return given
}
