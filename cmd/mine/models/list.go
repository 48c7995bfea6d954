package models

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"bitextmine/cmd/mine/flags"
	"bitextmine/encode/model"
	"bitextmine/model/importer"
)

// listed is an encoder that the program knows by name.
type listed struct {
	Name      string   `json:"name"`
	Dim       int      `json:"dim"`
	Languages []string `json:"languages"`
}

func newList() *cobra.Command {
	asJSON := false
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the encoders that the program knows by name, with their languages",
		Args:  flags.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			all, err := known()
			if err != nil {
				return err
			}
			return printModels(cmd.OutOrStdout(), all, asJSON)
		},
	}
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
		all = append(all, listed{m.Name, m.Dim, m.Languages})
	}
	published, err := importer.Known()
	for _, m := range published {
		all = append(all, listed{m.Name, m.Dim, m.Languages})
	}
	return all, err
}

func printModels(out io.Writer, all []listed, asJSON bool) error {
	if asJSON {
		return json.NewEncoder(out).Encode(all)
	}
	for _, m := range all {
		if _, err := fmt.Fprintf(out, "%-24s %5d dimensions  %s\n", m.Name, m.Dim, strings.Join(m.Languages, " ")); err != nil {
			return err
		}
	}
	return nil
}
