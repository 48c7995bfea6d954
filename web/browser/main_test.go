package browser

import (
	"bufio"
	"context"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// program is the built program that MINE_TEST_PAGE names; without it there is nothing to test.
func program(t *testing.T) string {
	t.Helper()
	path := os.Getenv("MINE_TEST_PAGE")
	if path == "" {
		t.Skip("make test-page runs this with Chromium and a built program")
	}
	return path
}

// run mines the sample, once for all tests, with every candidate in the bitext; each test gets a copy.
func run(t *testing.T) (dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "run")
	if out, err := exec.Command("cp", "-r", mined(t), dir).CombinedOutput(); err != nil {
		t.Fatalf("copy the run: %v: %s", err, out)
	}
	return dir
}

var minedOnce = struct {
	sync.Once
	dir string
	err error
}{}

func mined(t *testing.T) string {
	t.Helper()
	minedOnce.Do(func() {
		if minedOnce.dir, minedOnce.err = os.MkdirTemp("", "mine-page-*"); minedOnce.err != nil {
			return
		}
		out, err := exec.Command(program(t), "run", "--src", "de", "--tgt", "en", "--keep-below", "--features", "--out", minedOnce.dir).CombinedOutput()
		if err != nil {
			minedOnce.err = fmt.Errorf("mine run: %w: %s", err, out)
		}
	})
	if minedOnce.err != nil {
		t.Fatal(minedOnce.err)
	}
	return minedOnce.dir
}

func TestMain(m *testing.M) {
	code := m.Run()
	if minedOnce.dir != "" {
		_ = os.RemoveAll(minedOnce.dir)
	}
	os.Exit(code)
}

// server is a mine serve of its own process.
type server struct {
	command *exec.Cmd
	url     string // address with the token
	address string
}

func serve(t *testing.T, dir string) *server {
	t.Helper()
	s := &server{command: exec.Command(program(t), "serve", dir, "--address", "127.0.0.1:0")}
	out, err := s.command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	s.command.Stderr = os.Stderr
	if err := s.command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.kill)
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("mine serve printed no address: %v", err)
	}
	s.url = strings.TrimSpace(line)
	s.address, _, _ = strings.Cut(s.url, "/#")
	return s
}

// kill ends the server without any warning.
func (s *server) kill() {
	if s.command.Process.Kill() == nil {
		_ = s.command.Wait()
	}
}

// tab is a tab of the browser, in which every request is noted.
type tab struct {
	*testing.T
	ctx context.Context

	mu       sync.Mutex
	requests []string
	failures []string // exceptions and what the console was told of as an error
}

// open starts a browser that resolves no name.
func open(t *testing.T) *tab {
	t.Helper()
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.Flag("host-resolver-rules", "MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"), chromedp.NoSandbox, chromedp.DisableGPU)
	allocated, cancel := chromedp.NewExecAllocator(t.Context(), options...)
	t.Cleanup(cancel)
	ctx, cancel := chromedp.NewContext(allocated)
	t.Cleanup(cancel)
	b := &tab{T: t, ctx: ctx}
	if err := chromedp.Listen(ctx, b.listen); err != nil { // it starts the browser, too
		t.Fatal(err)
	}
	return b
}

// patience is how long a step may take on a machine that has much else to do.
const patience = 30 * time.Second

// do runs actions, of which none may fail.
func (b *tab) do(actions ...chromedp.Action[chromedp.Void]) {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	if err := chromedp.Do(ctx, actions...); err != nil {
		b.Fatal(err)
	}
}

// eval evaluates an expression of JavaScript, or a promise.
func eval[T any](b *tab, expression string) T {
	b.Helper()
	result, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		b.Fatal(err)
	}
	return result
}

// text returns the text of an element.
func (b *tab) text(selector string) string {
	b.Helper()
	return eval[string](b, fmt.Sprintf("(document.querySelector(%q) || {textContent: ''}).textContent", selector))
}

// eventually waits until an expression is true.
func (b *tab) eventually(expression string) {
	b.Helper()
	for end := time.Now().Add(patience); ; time.Sleep(50 * time.Millisecond) {
		// While another page is loaded, evaluating fails.
		done, err := chromedp.Run(b.ctx, chromedp.Evaluate[bool]("Boolean("+expression+")", chromedp.EvalAwaitPromise))
		if err == nil && done {
			return
		}
		if time.Now().After(end) {
			b.Fatalf("it did not become so: %s (%v); the page is %s", expression, err, eval[string](b, "document.body.innerText"))
		}
	}
}

// screen sets the size, as of a telephone if it is narrow, and the colours.
func (b *tab) screen(width int64, scheme string) {
	b.Helper()
	var as []chromedp.EmulateViewportOption
	if width < 500 {
		as = append(as, chromedp.EmulateMobile)
	}
	b.do(chromedp.EmulateViewport(width, 900, as...), chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}},
		})
		return err
	}))
}

// stayed fails if a request went anywhere but to the server, or if a script failed.
func (b *tab) stayed(addresses ...string) {
	b.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.requests) == 0 {
		b.Error("no request was noted")
	}
	for _, one := range b.requests {
		at, err := url.Parse(one)
		if err != nil {
			b.Error(err)
			continue
		}
		known := false
		for _, address := range addresses {
			known = known || at.Scheme+"://"+at.Host == address
		}
		if !known {
			b.Errorf("a request went to %s", one)
		}
	}
	for _, failure := range b.failures {
		b.Error(failure)
	}
}
