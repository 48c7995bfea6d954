package bitext

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"bitextmine/cmd/mine/flags"
	"bitextmine/cmd/mine/program"
	"bitextmine/internal/atomicfile"
	"bitextmine/internal/badinput"
	"bitextmine/pipeline/progress"
	"bitextmine/web"
)

// serveOptions are the flags of mine serve.
type serveOptions struct {
	flags.Settings
	address string
	hosts   []string
}

// NewServe makes mine serve.
func NewServe() *cobra.Command {
	var o serveOptions
	cmd := &cobra.Command{
		Use:   "serve RUN",
		Short: "Show a run in the browser: overview, search, pairs, review",
		Long: `Show a run in the browser: how many sentences became how many pairs, the scores, how far they can be trusted,
why pairs were rejected, what each night changed; search; every pair with the reasons for its score; and review by
keyboard. Decisions go to labels.jsonl of the output directory, as those of mine reject and mine accept, and every
later run obeys. RUN is the output directory of a run, of nightly runs, whose latest is shown, or of one night, or the
bitext file in it.

Only this machine reaches the page unless --address says otherwise, and then everybody who reaches the address can
read the run. Decisions need the token in the address that is printed. The page needs no network.`,
		Example: `  mine serve mined
  mine serve mined --address 127.0.0.1:0`,
		Args: oneRun("serve"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd.Context(), args[0], cmd.OutOrStdout())
		},
	}
	o.RegisterSome(cmd, flags.Declared("onnxruntime", "threads"))
	cmd.Flags().StringVar(&o.address, "address", "127.0.0.1:8077",
		"address and port to listen on; port 0: any that is free")
	cmd.Flags().StringSliceVar(&o.hosts, "host", nil,
		"further names that the server is called by, such as that of a proxy before it")
	return cmd
}

// oneRun refuses any number of arguments but one.
func oneRun(command string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) != 1 {
			return badinput.Errorf("mine %s takes one run, not %d arguments: give its output directory", command, len(args))
		}
		return nil
	}
}

func (o *serveOptions) run(ctx context.Context, dir string, out io.Writer) (err error) {
	if o.address == "" {
		return badinput.Errorf("--address is empty: give an address and port, such as 127.0.0.1:8077, or leave it out")
	}
	for _, host := range o.hosts {
		if strings.ContainsAny(host, "/ :") || host == "" {
			return badinput.Errorf("--host is %q: give a name alone, without a port, such as mine.example.org", host)
		}
	}
	cfg, _, err := o.Load()
	if err == nil {
		err = cfg.Resolve()
	}
	if err != nil {
		return err
	}
	l, err := web.Listen(ctx, o.address) // first, as reading the run may take a while
	if err != nil {
		return err
	}
	token := rand.Text()
	told, end := counting("read pairs")
	s, err := web.Open(ctx, web.Options{
		Dir: dir, Hosts: o.hosts, Token: token, Encoding: cfg.EncoderOptions(), Version: program.Version, Log: slog.Default(),
	}, told)
	end()
	if err != nil {
		return errors.Join(err, l.Close())
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if tcp, ok := l.Addr().(*net.TCPAddr); ok && !tcp.IP.IsLoopback() {
		slog.Warn("every machine that reaches this address can read the pairs, and sees the token of whoever decides: "+
			"there is no encryption", "address", l.Addr())
	}
	fmt.Fprintf(out, "http://%s/#token=%s\n", named(l.Addr()), token)
	fmt.Fprintln(program.Output(os.Stderr), "Open this address. The token in it lets you decide on pairs; Ctrl-C ends the server.")
	if err := s.Serve(ctx, l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// named is an address that a browser can open.
func named(a net.Addr) string {
	tcp, ok := a.(*net.TCPAddr)
	if ok && tcp.IP.IsUnspecified() {
		return fmt.Sprintf("localhost:%d", tcp.Port)
	}
	return a.String()
}

// counting shows a bar while something reads pairs, which calls told; end ends it.
func counting(name string) (told func(done, all int), end func()) {
	bar := progress.New(os.Stderr)
	var meter progress.Meter
	before := 0
	told = func(done, all int) {
		if meter == nil {
			meter = bar.Start(name, int64(all), "pairs")
		}
		meter.Add(int64(done - before))
		before = done
	}
	return told, func() {
		if meter != nil {
			meter.Done()
		}
	}
}

// NewReport makes mine report.
func NewReport() *cobra.Command {
	var file string
	cmd := &cobra.Command{
		Use:   "report RUN",
		Short: "Write the overview of a run as one HTML file",
		Long: `Write the overview of a run, as mine serve shows it, as one HTML file that needs nothing else: to keep, or to
send by mail. RUN is the output directory of a run, of nightly runs, whose latest is described, or of one night, or the
bitext file in it.`,
		Example: `  mine report mined -o report.html`,
		Args:    oneRun("report"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if file == "" {
				return badinput.Errorf("mine report: name the file to write with --output")
			}
			told, end := counting("read pairs")
			report, err := web.Report(cmd.Context(), args[0], program.Version, told)
			end()
			if err == nil {
				err = atomicfile.WriteBytes(file, report)
			}
			if err == nil {
				fmt.Fprintln(program.Told(cmd.OutOrStdout(), file), file)
			}
			return err
		},
	}
	cmd.Flags().StringVarP(&file, "output", "o", "report.html", "file to write")
	flags.Replaced.Mark(cmd.Flags(), "output")
	return cmd
}
