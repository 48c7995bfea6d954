package run

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"bitextmine/cmd/mine/flags"
	"bitextmine/cmd/mine/program"
	"bitextmine/pipeline"
	"bitextmine/pipeline/admin"
)

// NewDoctor makes mine doctor.
func NewDoctor() *cobra.Command {
	var s flags.Settings
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Report what this machine has and lacks for a run",
		Long: `Report what this machine has and lacks for mine run with the same flags: its settings, the CPU's instructions, BLAS, FAISS,
GPUs, ONNX Runtime, with --device cuda the driver and each library that GPUs need, the encoder, the search, the
directories. Exit code 2 if something other than text is missing without which such a run would stop.`,
		Args: flags.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, _, err := s.Load()
			if err != nil {
				return err
			}
			found := admin.Examine(cmd.Context(), doctorOptions(cfg), slog.Default())
			if err := printFindings(cmd.OutOrStdout(), found, asJSON); err != nil {
				return err
			}
			return admin.Verdict(found)
		},
	}
	s.Register(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	flags.Output.AddFirst(cmd.Flags(), "json")
	return cmd
}

func doctorOptions(cfg *pipeline.Config) admin.ExamineOptions {
	return admin.ExamineOptions{
		Encoder: cfg.Encoder, Refine: cfg.Refine, Judge: cfg.Judge, Resources: cfg.Resources, Work: cmp.Or(cfg.Work,
			filepath.Join(cfg.Out, "work")),
		Search:  append([]string{cfg.Search}, cfg.Approximate()...),
		Backend: cfg.SearchOptions(), Settings: program.MissingEncoder(check(cfg)), Out: cfg.Out,
		Explain: program.MissingEncoder,
	}
}

func printFindings(out io.Writer, found []admin.Finding, asJSON bool) error {
	if asJSON {
		return printJSON(out, found)
	}
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, f := range found {
		fmt.Fprintf(table, "%s\t%s\t%s\n", f.Name, f.State, f.Text)
	}
	return table.Flush()
}

// printJSON prints a value as indented JSON.
func printJSON(out io.Writer, value any) error {
	enc := json.NewEncoder(out)
	enc.SetIndent("", "  ")
	return enc.Encode(value)
}
