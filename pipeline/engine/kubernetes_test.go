package engine

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"bitextmine/internal/badinput"
)

func kubernetes(out *bytes.Buffer) Kubernetes {
	return Kubernetes{Image: "registry.example/mine:0.1.0", Namespace: "mining", Claim: "corpora", Mount: "/data", GPUs: 1, Cores: 8, MaxMemory: 8 << 30, DryRun: out}
}

func TestKubernetesManifests(t *testing.T) {
	var out bytes.Buffer
	if err := kubernetes(&out).Run(t.Context(), job(3, 2500, 0, 1)); err != nil {
		t.Fatal(err)
	}
	golden(t, "kubernetes.golden.yaml", out.String())
	if err := (Kubernetes{}).Run(t.Context(), job(1)); !badinput.Is(err) || !strings.Contains(err.Error(), "kubernetes_image") {
		t.Errorf("error %v without an image", err)
	}
}

// TestKubernetesLeavesPathsAlone: Kubernetes replaces $(NAME) in a command by a variable's value, and $$ by $.
func TestKubernetesLeavesPathsAlone(t *testing.T) {
	j := job(1)
	j.PlanPath = "/data/$(HOME)/$$x/plans/0123.json"
	manifest, err := kubernetes(nil).Manifest(j, 0)
	if err != nil || !strings.Contains(manifest, `"/data/$$(HOME)/$$$$x/plans/0123.json", "$(JOB_COMPLETION_INDEX)"]`) {
		t.Errorf("error %v, manifest\n%s", err, manifest)
	}
}

func TestArgoWorkflow(t *testing.T) {
	var out bytes.Buffer
	if err := (Argo{kubernetes(&out)}).Run(t.Context(), job(3, 2500, 0, 1)); err != nil {
		t.Fatal(err)
	}
	golden(t, "argo.golden.yaml", out.String())
	out.Reset()
	if err := (Argo{kubernetes(&out)}).Run(t.Context(), job(0, 0)); err != nil || out.Len() > 0 {
		t.Errorf("error %v of a plan that is done, manifest\n%s", err, out.String())
	}
	if err := (Argo{}).Run(t.Context(), job(1)); !badinput.Is(err) || !strings.Contains(err.Error(), "kubernetes_image") {
		t.Errorf("error %v without an image", err)
	}
	j := job(1)
	j.PlanPath = "/data/{{workflow.name}}/plans/0123.json"
	if _, err := (Argo{kubernetes(nil)}).Manifest(j); !badinput.Is(err) || !strings.Contains(err.Error(), "--work") {
		t.Errorf("error %v of a path that Argo would replace a part of", err)
	}
}

// TestManifestsAreValid validates what is generated and what deploy/ holds as Kubernetes' API server does, and decodes
// Argo's into its types, by a program of its own module.
func TestManifestsAreValid(t *testing.T) {
	if testing.Short() {
		t.Skip("the validator is built from source; not in -short")
	}
	program := filepath.Join(t.TempDir(), "strict")
	build := exec.Command("go", "build", "-o", program, ".")
	build.Dir = filepath.Join("testdata", "strict")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build the validator: %v\n%s", err, out)
	}
	validate := func(manifests []byte) (string, error) {
		cmd := exec.Command(program)
		cmd.Stdin = bytes.NewReader(manifests)
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	cron, err := os.ReadFile(filepath.Join("..", "..", "deploy", "cronjob.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if out, err := validate(cron); err != nil {
		t.Errorf("deploy/cronjob.yaml: %s", out)
	}
	var out bytes.Buffer
	k := kubernetes(&out)
	k.Image, k.Mount = `"quoted":image`, "/with spaces and # signs"
	for _, engine := range []Engine{k, Argo{k}} {
		if err := engine.Run(t.Context(), job(3, 2500, 0, 1)); err != nil {
			t.Fatal(err)
		}
	}
	got, err := validate(out.Bytes())
	want := "mine-encode-01234567 3\nmine-search-01234567 1000\nmine-match-01234567 1\nmine-01234567 4\n"
	if err != nil || got != want {
		t.Errorf("read %q, want %q", got, want)
	}
	for name, change := range map[string][2]string{
		"a field that Kubernetes does not have": {"parallelism:", "paralelism:"},
		"a field that Argo does not have":       {"withSequence:", "withSequences:"},
		"a value that Kubernetes refuses":       {"parallelism: 3", "parallelism: -3"},
		"indices without their mode":            {"completionMode: Indexed", "completionMode: NonIndexed"},
		"a container that is not there":         {"containerName: mine", "containerName: another"},
		"a volume that is not there":            {"- name: data\n              mountPath", "- name: another\n              mountPath"},
	} {
		if out, err := validate(bytes.Replace(out.Bytes(), []byte(change[0]), []byte(change[1]), 1)); err == nil {
			t.Errorf("%s: read %s", name, out)
		}
	}
}

// TestObjectsRunToTheirEnd drives a kubectl that answers as a cluster does.
func TestObjectsRunToTheirEnd(t *testing.T) {
	k := kubernetes(nil)
	k.DryRun, k.Poll = nil, time.Millisecond
	for state, c := range map[string]struct {
		engine Engine
		kind   string
		runs   int
	}{
		"Complete": {k, "Job", 3}, "Failed": {k, "Job", 1}, "Succeeded": {Argo{k}, "Workflow", 1}, "Error": {Argo{k}, "Workflow", 1},
	} {
		dir := t.TempDir()
		script := fmt.Sprintf(`#!/bin/sh
echo "$@" >>%[1]s/calls
case "$*" in
*apply*) cat >>%[1]s/applied; echo job created; rm -f %[1]s/polled ;;
*get*) [ -e %[1]s/polled ] && echo "%[2]s because"; touch %[1]s/polled ;;
esac
exit 0
`, dir, state)
		if err := os.WriteFile(filepath.Join(dir, "kubectl"), []byte(script), 0o700); err != nil {
			t.Fatal(err)
		}
		t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
		if err := c.engine.Run(t.Context(), job(3, 2, 0, 1)); err != nil {
			t.Fatal(err)
		}
		applied, err := os.ReadFile(filepath.Join(dir, "applied"))
		if got := strings.Count(string(applied), "kind: "+c.kind+"\n"); err != nil || got != c.runs {
			t.Errorf("%s: %d of kind %s, error %v", state, got, c.kind, err)
		}
	}
}
