package train

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// card returns the model card of an export: its kind, its data, its figures and its settings.
func (x exported) card(step int, figures map[string]float64) []byte {
	var b bytes.Buffer
	c := &x.config
	fmt.Fprintf(&b, "# %s\n\n", c.Name)
	if c.Export.Notes != "" {
		fmt.Fprintf(&b, "%s\n\n", c.Export.Notes)
	}
	fmt.Fprintf(&b, "A %s encoder of %d dimensions for %s, trained with the objective %s: step %d of %d, %d pairs a step",
		c.Encoder.Kind, x.encoder.Dim(), strings.Join(x.set.Languages, ", "), c.Objective.Name, step, c.Steps,
		c.Bitext.BatchSize*c.Accumulate)
	if c.Encoder.Start != "" {
		fmt.Fprintf(&b, ", from the weights of %s", c.Encoder.Start)
	}
	fmt.Fprintf(&b, ", by `mine train` of commit %s.\n\n", commit())
	if c.Export.Licence != "" {
		fmt.Fprintf(&b, "Licence: %s.\n\n", c.Export.Licence)
	}
	fmt.Fprintf(&b, "## Data\n\n%d pairs: ", x.set.Len())
	for i, g := range x.set.Groups {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%s %d", x.set.GroupName(i), g.Pairs)
	}
	b.WriteString(".\n\n| file | licence | pairs |\n| --- | --- | --- |\n")
	for _, f := range x.set.Stats.Files {
		fmt.Fprintf(&b, "| %s | %s | %d |\n", filepath.Base(f.Path), cmp.Or(f.Licence, "not stated"), f.Kept)
	}
	if len(figures) > 0 {
		b.WriteString("\n## Figures\n\n| | |\n| --- | --- |\n")
		for _, name := range slices.Sorted(maps.Keys(figures)) {
			fmt.Fprintf(&b, "| %s | %.2f |\n", name, figures[name])
		}
	}
	settings, err := yaml.Marshal(c)
	if err != nil {
		settings = []byte(err.Error())
	}
	fmt.Fprintf(&b, "\n## Settings\n\n```yaml\n%s```\n", settings)
	return b.Bytes()
}

// commit is the program's commit, as recorded by the build.
func commit() string {
	info, ok := debug.ReadBuildInfo()
	if ok {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				return s.Value
			}
		}
	}
	return "unknown"
}
