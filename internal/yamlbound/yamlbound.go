// Package yamlbound reads YAML that people write: settings, manifests, rules. A file that is larger or more deeply
// nested than anybody writes is refused before it is decoded, because decoders take a time that grows with the square
// of the keys, or of the depth.
package yamlbound

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"syscall"

	"gopkg.in/yaml.v3"

	"bitextmine/internal/badinput"
)

// What a file may have at most.
const (
	maxBytes   = 4 << 20
	maxNodes   = 50_000 // keys and values
	maxKeys    = 5_000  // keys of a map
	maxDepth   = 32
	maxAliases = 1_000
)

// Read reads a file to its end and checks it. Errors name the file; those of Check are badinput.
func Read(r io.Reader, name string) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxBytes+1))
	if errors.Is(err, syscall.EISDIR) {
		return nil, badinput.Errorf("%s is a directory: name a file of settings", name)
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	return data, Check(data, name)
}

// Check refuses YAML that is too large, with a badinput error that names the file. What is no YAML passes: its decoder
// says why.
func Check(data []byte, name string) error {
	if len(data) > maxBytes {
		return badinput.Errorf("%s is larger than %d MiB: name a file of settings", name, maxBytes>>20)
	}
	d := yaml.NewDecoder(bytes.NewReader(data))
	var document yaml.Node
	if d.Decode(&document) != nil {
		return nil
	}
	c := counter{}
	c.add(&document, 0)
	if c.excess != "" {
		return badinput.Errorf("%s has %s: that is no file of settings, shorten it", name, c.excess)
	}
	var second yaml.Node
	err := d.Decode(&second)
	if errors.Is(err, io.EOF) || err == nil && len(second.Content) == 1 && second.Content[0].Tag == "!!null" {
		return nil
	}
	return badinput.Errorf("%s has a second document, after a line ---, which would not be read: remove that line", name)
}

// counter counts the nodes of a document until there are too many.
type counter struct {
	nodes, aliases int
	excess         string
}

func (c *counter) add(node *yaml.Node, depth int) {
	c.nodes++
	if node.Kind == yaml.AliasNode {
		c.aliases++ // what it stands for is counted where it is
	}
	for _, limit := range []struct {
		n, max int
		what   string
	}{
		{depth, maxDepth, "maps or lists nested more than %d deep"}, {c.nodes, maxNodes, "more than %d keys and values"},
		{c.aliases, maxAliases, "more than %d aliases"},
	} {
		if limit.n > limit.max {
			c.excess = fmt.Sprintf(limit.what, limit.max)
		}
	}
	if node.Kind == yaml.MappingNode && len(node.Content) > 2*maxKeys {
		c.excess = fmt.Sprintf("a map of more than %d keys", maxKeys)
	}
	for _, child := range node.Content {
		if c.excess != "" {
			return
		}
		c.add(child, depth+1)
	}
}
