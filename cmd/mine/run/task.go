package run

import (
	"os"
	"strconv"

	"github.com/spf13/cobra"

	"bitextmine/cmd/mine/flags"
	"bitextmine/cmd/mine/program"
	"bitextmine/internal/badinput"
	"bitextmine/pipeline"
	"bitextmine/pipeline/progress"
)

// NewTask makes mine task.
func NewTask() *cobra.Command {
	var s flags.Settings
	var cfg pipeline.TaskConfig
	cmd := &cobra.Command{
		Use:   "task PLAN INDEX",
		Short: "Run one task of a plan, or every n-th",
		Long: `Run one task of a plan, or with --step and --end every n-th: all that an engine ever calls. PLAN is what mine
plan prints. A task whose output is there is done; what a task used is in the log. Exit codes: 0 done; 1 failed and worth a retry; 2 failed for good.`,
		Example: `  mine task mined/work/plans/3f2a.json 17
  mine task s3://bucket/work/plans/3f2a.json 3 --step 100 --end 1600`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 2 {
				return badinput.Errorf("mine task takes a plan and an index, not %d arguments", len(args))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			index, err := strconv.Atoi(args[1])
			if err != nil {
				return badinput.Errorf("the index of a task is a number, not %q", args[1])
			}
			run, _, err := s.Load()
			if err != nil {
				return err
			}
			cfg.Plan, cfg.Index, cfg.Resources = args[0], index, run.Resources
			return pipeline.RunTasks(cmd.Context(), cfg, program.RunOptions(progress.New(os.Stderr)))
		},
	}
	s.RegisterSome(cmd, flags.Declared("onnxruntime", "threads", "device", "max_memory"))
	f := cmd.Flags()
	f.IntVar(&cfg.Offset, "offset", 0, "count INDEX from this task")
	f.IntVar(&cfg.Step, "step", 0, "go on with every n-th task after INDEX")
	f.IntVar(&cfg.End, "end", 0, "with --step: stop before this task")
	return program.GoesOn(cmd)
}
