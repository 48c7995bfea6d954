package evaluation

import (
	"slices"

	"github.com/spf13/cobra"

	"bitextmine/cmd/mine/flags"
	"bitextmine/index"
	"bitextmine/index/backend"
	"bitextmine/index/exact"
	"bitextmine/pipeline"
	"bitextmine/pipeline/setting"
)

// engine is the encoder and the search of the commands that evaluate: the same settings as a run's, in the same layers.
type engine struct {
	flags.Settings
	cfg *pipeline.Config // once loaded
}

// Register adds --config and the flags of what an encoder and a search are opened with, and of more settings.
func (e *engine) Register(cmd *cobra.Command, more ...string) {
	e.RegisterSome(cmd, slices.Concat(setting.List[setting.Encoding](), setting.List[setting.Searching](),
		flags.Declared("onnxruntime", "threads"), flags.Declared(more...)))
	e.RegisterPreset()
}

// Load merges the settings: defaults < --config < MINE_* environment < flags.
func (e *engine) Load() (err error) {
	if e.cfg, _, err = e.Settings.Load(); err != nil {
		return err
	}
	return e.cfg.Resolve()
}

// searcher opens the search; auto is exact, as what is evaluated must not depend on the machine.
func searcher(cfg *pipeline.Config) (index.Searcher, error) {
	name, opts := cfg.Search, cfg.SearchOptions()
	if name == backend.Auto {
		name, opts.Approximate = exact.Name, backend.Approximate{} // settings of searches that auto might take
	}
	return backend.Open(name, opts)
}
