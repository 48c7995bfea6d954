package split

import (
	"bytes"
	"crypto/sha256"
	_ "embed" // the shipped rules
	"encoding/hex"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"

	"bitextmine/internal/badinput"
)

// SRX is the rules of a file.
type SRX struct {
	name    string
	cascade bool
	rules   map[string][]rule // rules by the name of a language rule
	spaces  map[string]*SpaceModel
	maps    []languageMap
}

// languageMap says which rules languages have.
type languageMap struct {
	pattern *regexp.Regexp
	rules   string
}

// document is the XML of a file.
type document struct {
	XMLName xml.Name `xml:"srx"`
	Version string   `xml:"version,attr"`
	Header  struct {
		Cascade string `xml:"cascade,attr"`
	} `xml:"header"`
	Languages []struct {
		Name   string `xml:"languagerulename,attr"`
		Spaces string `xml:"spaces,attr"` // no part of SRX: the model that says which spaces end a sentence
		Rules  []struct {
			Break  string `xml:"break,attr"`
			Before string `xml:"beforebreak"`
			After  string `xml:"afterbreak"`
		} `xml:"rule"`
	} `xml:"body>languagerules>languagerule"`
	Maps []struct {
		Pattern string `xml:"languagepattern,attr"`
		Rules   string `xml:"languagerulename,attr"`
	} `xml:"body>maprules>languagemap"`
}

// maxFile is the size of a file of rules, at most.
const maxFile = 16 << 20

// Load reads a file of rules.
func Load(path string) (*SRX, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, badinput.Errorf("segmentation rules: %w", err)
	}
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, fmt.Errorf("read segmentation rules: %w", err)
	}
	if len(data) > maxFile {
		return nil, badinput.Errorf("%s is larger than %d MiB: name a file of segmentation rules", path, maxFile>>20)
	}
	return Parse(path, data)
}

// Parse reads rules. A rule that cannot be used is a badinput error that names it.
func Parse(name string, data []byte) (*SRX, error) {
	var d document
	if err := xml.NewDecoder(bytes.NewReader(data)).Decode(&d); err != nil {
		return nil, badinput.Errorf("%s is not SRX (%w): give segmentation rules in SRX 2.0", name, err)
	}
	if d.Version != "2.0" {
		return nil, badinput.Errorf("%s has version %q of SRX: convert it to 2.0", name, d.Version)
	}
	s := &SRX{name: name, cascade: d.Header.Cascade == "yes", rules: map[string][]rule{},
		spaces: map[string]*SpaceModel{}}
	size := 0
	for _, l := range d.Languages {
		if _, twice := s.rules[l.Name]; twice || l.Name == "" {
			return nil, badinput.Errorf("%s: the language rule %q has no name, or stands twice: give each its own",
				name, l.Name)
		}
		s.rules[l.Name] = nil
		switch l.Spaces {
		case "":
		case "thai":
			s.spaces[l.Name] = Thai()
		default:
			return nil, badinput.Errorf(
				"%s: the language rule %q has spaces=%q, but there is only the model \"thai\": correct or remove it",
				name, l.Name, l.Spaces)
		}
		for i, r := range l.Rules {
			made, err := newRule(r.Break != "no", r.Before, r.After)
			switch {
			case err != nil:
			case r.Break != "" && r.Break != "yes" && r.Break != "no":
				err = fmt.Errorf("break is %q, and must be yes or no", r.Break)
			case r.Break != "no" && r.Before == "" && r.After == "":
				err = errors.New("it has neither beforebreak nor afterbreak, and would break between all characters")
			}
			if err != nil {
				return nil, badinput.Errorf("%s: rule %d of %q: %w: correct the rule or remove it", name, i+1, l.Name,
					err)
			}
			if size += made.before.size + made.after.size + 1; size > maxSize {
				return nil, badinput.Errorf("%s: rule %d of %q: the rules have more than %d states: remove some", name, i+1,
					l.Name, maxSize)
			}
			s.rules[l.Name] = append(s.rules[l.Name], made)
		}
	}
	for _, m := range d.Maps {
		pattern, err := regexp.Compile("(?i)^(?:" + m.Pattern + ")$")
		if err != nil {
			return nil, badinput.Errorf("%s: language pattern %q: %w: correct it", name, m.Pattern, err)
		}
		if _, known := s.rules[m.Rules]; !known {
			return nil, badinput.Errorf("%s: the languages %q have the rules %q, which do not exist: add them", name,
				m.Pattern, m.Rules)
		}
		s.maps = append(s.maps, languageMap{pattern, m.Rules})
	}
	return s, nil
}

// Splitter returns the rules of a language: of the first pattern that matches it, or of all that do, in order, if the
// file says cascade. A language without rules is a badinput error.
func (s *SRX) Splitter(language string) (*Splitter, error) {
	var rules []rule
	var spaces *SpaceModel
	for _, m := range s.maps {
		if !m.pattern.MatchString(strings.ReplaceAll(language, "_", "-")) {
			continue
		}
		rules, spaces = append(rules, s.rules[m.rules]...), s.spaces[m.rules]
		if !s.cascade || spaces != nil { // the model decides what the rules leave open
			break
		}
	}
	if rules == nil && spaces == nil {
		return nil, badinput.Errorf("%s has no rules for the language %q: add a languagemap", s.name, language)
	}
	made := newSplitter(rules)
	made.spaces = spaces
	return made, nil
}

//go:embed rules.srx
var shipped []byte

// Shipped returns the rules that are part of the program. They have rules for every language: at least those for full
// stops of its script.
var Shipped = sync.OnceValues(func() (*SRX, error) { return Parse("the shipped rules", shipped) })

// version is one more whenever the same rules divide a text otherwise.
const version = 2

// ShippedDigest stands for what divides a text by the shipped rules: it changes with them.
var ShippedDigest = sync.OnceValue(func() string {
	sum := sha256.Sum256(slices.Concat([]byte{version}, shipped, thai))
	return hex.EncodeToString(sum[:8])
})

// made are the splitters of For by language: there may be thousands of files, and making one takes as long as reading
// a page.
var made sync.Map

// For returns the splitter of a language by the shipped rules.
func For(language string) (*Splitter, error) {
	if s, ok := made.Load(language); ok {
		return s.(*Splitter), nil
	}
	rules, err := Shipped()
	if err != nil {
		return nil, err
	}
	s, err := rules.Splitter(language)
	if err == nil {
		made.Store(language, s)
	}
	return s, err
}
