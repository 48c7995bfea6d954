package train

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"
)

// truncated returns the first number of a preset with a fraction where a whole one is asked for, and its setting;
// empty: there is none. The YAML library drops such fractions, so that they are not in what was read.
func truncated(at string, preset, read *yaml.Node) string {
	if preset.Kind == yaml.AliasNode {
		preset = preset.Alias
	}
	switch {
	case preset.Kind == yaml.ScalarNode && preset.Tag == "!!float":
		value, err := strconv.ParseFloat(preset.Value, 64)
		if err == nil && value != math.Trunc(value) && (read == nil || read.Tag == "!!int") {
			return fmt.Sprintf("%s is %s but must be a whole number", strings.TrimPrefix(at, "."), preset.Value)
		}
	case preset.Kind == yaml.DocumentNode && len(preset.Content) > 0:
		return truncated(at, preset.Content[0], read)
	case preset.Kind == yaml.SequenceNode:
		for i, item := range preset.Content {
			if read != nil && read.Kind == yaml.SequenceNode && i < len(read.Content) {
				if wrong := truncated(fmt.Sprintf("%s[%d]", at, i), item, read.Content[i]); wrong != "" {
					return wrong
				}
			}
		}
	case preset.Kind == yaml.MappingNode:
		for i := 0; i+1 < len(preset.Content); i += 2 {
			key, value := preset.Content[i].Value, preset.Content[i+1]
			below, of := at+"."+key, setting(read, key)
			if key == "<<" {
				below, of = at, read
			}
			if wrong := truncated(below, value, of); wrong != "" {
				return wrong
			}
		}
	}
	return ""
}

// setting is the value of a key of a mapping; nil if it is not there, as zeros that are left out.
func setting(of *yaml.Node, key string) *yaml.Node {
	if of == nil || of.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i+1 < len(of.Content); i += 2 {
		if of.Content[i].Value == key {
			return of.Content[i+1]
		}
	}
	return nil
}

// checkWhole refuses a preset whose fractions are lost in the settings that were read of it.
func (c *Config) checkWhole(text []byte) error {
	var preset, read yaml.Node
	if err := yaml.Unmarshal(text, &preset); err != nil {
		return err
	}
	if err := read.Encode(c); err != nil {
		return err
	}
	if wrong := truncated("", &preset, &read); wrong != "" {
		return fmt.Errorf("%s", wrong)
	}
	return nil
}
