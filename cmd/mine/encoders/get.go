package encoders

import (
	"context"
	"fmt"
	"io"
	"os"
	"path"
	"strings"

	"github.com/spf13/cobra"

	"bitextmine/cmd/mine/flags"
	"bitextmine/cmd/mine/program"
	"bitextmine/encode/model"
	"bitextmine/internal/badinput"
	"bitextmine/model/hub"
	"bitextmine/model/importer"
	"bitextmine/pipeline/progress"
)

// newGet makes mine model get.
func newGet() *cobra.Command {
	var s flags.Settings
	var o importer.Options
	revision := ""
	cmd := &cobra.Command{
		Use:   "get NAME|ORG/REPO",
		Short: "Download a published model from the Hugging Face hub and import it",
		Long: `Download a published model from the Hugging Face hub and import it: a known encoder by its name
(configs/models lists them), or any repository. Only the files that are needed are downloaded, of one commit; a
transfer that was interrupted is resumed, and every file is verified by its digest. No code of the model is run.
HF_ENDPOINT names another hub, HF_TOKEN is the token of your account, HTTPS_PROXY the proxy.`,
		Example: `  mine model get multilingual-e5-small
  mine model get intfloat/multilingual-e5-small --revision main --out e5`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return badinput.Errorf("mine model get: name one encoder, or one repository as ORG/REPO; the known "+
					"encoders are %s", knownNames())
			}
			cfg, _, err := s.Load()
			if err != nil {
				return err
			}
			o.Library = cfg.ONNXRuntime
			return runGet(cmd.Context(), hub.FromEnvironment(), args[0], revision, o, cmd.OutOrStdout())
		},
	}
	s.RegisterSome(cmd, flags.Declared("onnxruntime"))
	registerImport(cmd, &o)
	cmd.Flags().StringVar(&revision, "revision", "", "a commit, a branch or a tag (default: the known encoder's, or main)")
	cmd.Flags().Lookup("out").Usage = "directory of the encoder (default: its name)"
	return program.GoesOn(cmd)
}

func knownNames() string {
	all, err := importer.Known()
	if err != nil {
		return err.Error()
	}
	var names []string
	for _, m := range all {
		if m.Source.Hub != "" {
			names = append(names, m.Name)
		}
	}
	return strings.Join(names, ", ")
}

// repository is the repository of a name.
func repository(name string) (string, *model.Manifest, error) {
	m, err := importer.FindKnown(name)
	switch {
	case err != nil:
		return "", nil, err
	case m != nil && m.Source.Hub == "":
		return "", nil, importer.NotOnHub(m)
	case m != nil:
		return m.Source.Hub, m, nil
	case !strings.Contains(name, "/"):
		return "", nil, badinput.Errorf("%q is neither a known encoder (%s) nor a repository, ORG/REPO", name, knownNames())
	}
	return name, nil, nil
}

func runGet(ctx context.Context, client *hub.Client, name, revision string, o importer.Options, out io.Writer) error {
	repo, m, err := repository(name)
	if err != nil {
		return err
	}
	o.Known = m
	if m != nil && revision == "" {
		revision = m.Source.Revision
	}
	if o.Name == "" {
		o.Name = path.Base(repo)
		if m != nil {
			o.Name = m.Name
		}
	}
	if o.Out == "" {
		o.Out = o.Name
	}
	r, err := client.List(ctx, repo, revision)
	if err != nil {
		return err
	}
	licence := r.Licence
	if licence == "" {
		licence = "the repository names none"
	}
	fmt.Fprintf(out, "%s at %s\n  licence  %s\n  to       %s\n", r.Name, r.Commit, licence, o.Out)
	if err := download(ctx, client, r, o); err != nil {
		return err
	}
	dir := o.Out
	o.Out = ""
	return runImport(ctx, dir, "", o, out)
}

// download shows the progress of each file in bytes.
func download(ctx context.Context, client *hub.Client, r *hub.Repository, o importer.Options) error {
	shown := &progress.Transfers{Reporter: progress.New(os.Stderr)}
	defer shown.Done()
	return client.Get(ctx, r, o.Out, o.ONNX, func(f hub.File, done int64) { shown.Show(path.Base(f.Path), done, f.Size) })
}
