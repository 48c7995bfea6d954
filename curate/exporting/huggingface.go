package exporting

import (
	"cmp"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"bitextmine/internal/atomicfile"
)

// HuggingFace is the format of a folder that Hugging Face datasets loads: Parquet files in data/ and README.md with a
// description in YAML.
const HuggingFace = "hf"

// huggingFaceName are the sets' names there.
var huggingFaceName = map[string]string{"train": "train", "dev": "validation", "test": "test"}

// card is the description at the beginning of README.md.
type card struct {
	Language       []string `yaml:"language,omitempty"`
	License        string   `yaml:"license,omitempty"`
	TaskCategories []string `yaml:"task_categories"`
	SizeCategories []string `yaml:"size_categories"`
	Configs        []config `yaml:"configs"`
}

type config struct {
	Name  string     `yaml:"config_name"`
	Files []dataFile `yaml:"data_files"`
}

type dataFile struct {
	Split string `yaml:"split"`
	Path  string `yaml:"path"`
}

func (e *exporter) descriptionPath() string { return filepath.Join(e.opts.Out, "README.md") }

// describe writes README.md, when all data is published: a folder with it is complete.
func (e *exporter) describe(sets []*set) error {
	source, target := e.languages()
	pairs, known := uint64(0), slices.DeleteFunc([]string{source, target}, func(code string) bool { return code == "" })
	c := card{Language: known, License: e.opts.Licence, TaskCategories: []string{"translation"}}
	files := config{Name: "default"}
	for _, s := range sets {
		pairs += s.pairs
		name := huggingFaceName[s.name]
		files.Files = append(files.Files, dataFile{name, "data/" + name + "-*.parquet"})
	}
	c.Configs, c.SizeCategories = []config{files}, []string{sizeCategory(pairs)}
	front, err := yaml.Marshal(c)
	if err != nil {
		return fmt.Errorf("write the description of the data set: %w", err)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "---\n%s---\n\n# %s-%s bitext\n\n%d pairs of sentences, mined by `mine`.\n",
		front, cmp.Or(source, "src"), cmp.Or(target, "tgt"), pairs)
	if len(sets) > 1 {
		fmt.Fprintf(&b, "The sets are divided by the column `%s`: what has the same value is in the same set.\n", e.report.SplitBy)
	}
	if len(e.metadata) > 0 {
		b.WriteString("\n## Provenance\n\n| | |\n| --- | --- |\n")
		for _, key := range slices.Sorted(maps.Keys(e.metadata)) {
			value := strings.NewReplacer("|", `\|`, "\n", "<br>").Replace(e.metadata[key])
			fmt.Fprintf(&b, "| %s | %s |\n", key, value)
		}
	}
	return atomicfile.WriteBytes(e.descriptionPath(), []byte(b.String()))
}

// sizeCategory is the hub's name for a number of rows.
func sizeCategory(rows uint64) string {
	names := []string{"n<1K", "1K<n<10K", "10K<n<100K", "100K<n<1M", "1M<n<10M", "10M<n<100M", "100M<n<1B", "1B<n<10B", "10B<n<100B"}
	at := 0
	for limit := uint64(1000); rows >= limit && at < len(names)-1; limit *= 10 {
		at++
	}
	return names[at]
}
