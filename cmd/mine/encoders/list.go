package encoders

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"bitextmine/cmd/mine/flags"
	"bitextmine/corpus"
	"bitextmine/encode/model"
	"bitextmine/model/importer"
)

// listed is an encoder that the program knows by name.
type listed struct {
	Name       string   `json:"name"`
	Dim        int      `json:"dim"`
	Parameters string   `json:"parameters,omitempty"`
	Licence    string   `json:"licence,omitempty"`
	Tatoeba    float64  `json:"tatoeba,omitempty"` // published, MTEB's mean of 112 languages
	Gated      string   `json:"gated,omitempty"`   // the page where its terms are accepted
	Languages  []string `json:"languages"`
}

func describe(m model.Manifest) listed {
	l := listed{m.Name, m.Dim, m.Source.Parameters, m.Licence, m.Source.Tatoeba, "", m.Knows()}
	if m.Source.Gated {
		l.Gated = "https://huggingface.co/" + m.Source.Hub
	}
	return l
}

func newList() *cobra.Command {
	asJSON := false
	var languages []string
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the encoders that the program knows by name, with their size, licence and languages",
		Args:  flags.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			all, err := known()
			if err != nil {
				return err
			}
			for _, code := range languages {
				if _, err := corpus.ParseLanguage(code); err != nil {
					return err
				}
				all = slices.DeleteFunc(all, func(m listed) bool { return len(m.Languages) == 0 || !corpus.Lists(m.Languages, code) })
			}
			return printModels(cmd.OutOrStdout(), all, asJSON)
		},
	}
	cmd.Flags().StringSliceVar(&languages, "langs", nil, "list only encoders that say that they were trained on all of these languages")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// known lists the built-in encoders, and the published ones.
func known() (all []listed, err error) {
	for _, name := range model.BuiltIn() {
		m, err := model.Load(name)
		if err != nil {
			return nil, err
		}
		all = append(all, describe(m.Manifest))
	}
	published, err := importer.Known()
	for _, m := range published {
		all = append(all, describe(m))
	}
	return all, err
}

func printModels(out io.Writer, all []listed, asJSON bool) error {
	if asJSON {
		return json.NewEncoder(out).Encode(all)
	}
	for _, m := range all {
		score := ""
		if m.Tatoeba > 0 {
			score = fmt.Sprintf("Tatoeba %.1f", m.Tatoeba)
		}
		line := fmt.Sprintf("%-34s %5d dimensions  %5s  %-12s  %-20s  %s", m.Name, m.Dim, m.Parameters, score, m.Licence, inShort(m.Languages))
		if m.Gated != "" {
			line += "  accept its terms on " + m.Gated + " and set HF_TOKEN"
		}
		if _, err := fmt.Fprintln(out, strings.TrimRight(line, " ")); err != nil {
			return err
		}
	}
	return nil
}

// inShort lists languages, or counts them where they would fill lines.
func inShort(languages []string) string {
	if len(languages) > 20 {
		return fmt.Sprintf("%d languages", len(languages))
	}
	return strings.Join(languages, " ")
}
