package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
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
	plain := out.Len()
	k.Pod = podOfAUser
	for _, engine := range []Engine{k, Argo{k}} {
		if err := engine.Run(t.Context(), job(1)); err != nil {
			t.Fatal(err)
		}
	}
	got, err := validate(out.Bytes())
	want := "mine-encode-01234567 3\nmine-search-01234567 1000\nmine-match-01234567 1\nmine-01234567 4\nmine-encode-01234567 1\nmine-01234567 2\n"
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
		if out, err := validate(bytes.Replace(out.Bytes()[:plain], []byte(change[0]), []byte(change[1]), 1)); err == nil {
			t.Errorf("%s: read %s", name, out)
		}
	}
}

// podOfAUser has what clusters ask for most.
const podOfAUser = `
nodeSelector: {disk: ssd}
tolerations: [{key: batch, operator: Exists, effect: NoSchedule}]
imagePullSecrets: [{name: registry}]
volumes: [{name: certificates, configMap: {name: company-ca}}]
containers:
  - name: mine
    env: [{name: AWS_ACCESS_KEY_ID, valueFrom: {secretKeyRef: {name: bucket, key: id}}}]
    volumeMounts: [{name: certificates, mountPath: /certificates, readOnly: true}]
    resources: {limits: {ephemeral-storage: 20Gi}}
`

// TestPodOfAUser: what is given comes to the volume, the container and the limits of the run.
func TestPodOfAUser(t *testing.T) {
	k := kubernetes(nil)
	file := filepath.Join(t.TempDir(), "pod.yaml")
	if err := os.WriteFile(file, []byte(podOfAUser), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, k.Pod = range []string{podOfAUser, file} {
		manifest, err := k.Manifest(job(1), 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{
			"nodeSelector:\n        disk: ssd\n", "configMap:\n            name: company-ca\n", "claimName: corpora\n", "name: AWS_ACCESS_KEY_ID\n",
			"mountPath: /certificates\n", "mountPath: /data\n", "ephemeral-storage: 20Gi\n", "memory: 8192Mi\n", "- mine\n            - task\n",
		} {
			if !strings.Contains(manifest, want) {
				t.Errorf("no %q in\n%s", want, manifest)
			}
		}
		if n := strings.Count(manifest, "name: mine\n"); n != 3 {
			t.Errorf("%d names, want those of two labels and a container:\n%s", n, manifest)
		}
	}
	workflow, err := (Argo{k}).Manifest(job(1))
	if err != nil || !strings.Contains(workflow, `podSpecPatch: "{\"containers\":[{\"env\":`) || !strings.Contains(workflow, `\"name\":\"main\"`) {
		t.Errorf("error %v, workflow\n%s", err, workflow)
	}
}

// TestPodIsRefused: what is no part of a pod's spec, and what would keep the pods from running the tasks.
func TestPodIsRefused(t *testing.T) {
	for pod, says := range map[string]string{
		"nowhere.yaml":                  "neither a mapping of YAML nor a file",
		"[a]":                           "is no mapping of YAML",
		"nodeselector: {disk: ssd}":     "is nodeSelector meant?",
		"env: []":                       "env is no key of a pod's spec",
		"restartPolicy: Always":         "restartPolicy is no key",
		"containers: [{name: sidecar}]": "add `name: mine`",
		"containers: [{name: mine}, {name: other}]":   "the one container mine",
		"containers: [{name: mine, command: [bash]}]": "command of the container is set by the run",
		"nodeSelector: {1: a}":                        "put it in quotation marks",
	} {
		k := kubernetes(nil)
		k.Pod = pod
		if err := k.Check("/data/out", "/data/work"); !badinput.Is(err) || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: error %v, want one that says %q", pod, err, says)
		}
	}
}

// TestPodsSeeTheirFiles: a work directory or text that no pod sees is refused before anything is submitted.
func TestPodsSeeTheirFiles(t *testing.T) {
	for name, c := range map[string]struct {
		claim, pod, work string
		text             []string
		says             string
	}{
		"in the claim":                    {"corpora", "", "/data/work", []string{"/data/de/*.gz", "/data/en"}, ""},
		"the default":                     {"corpora", "", "", nil, ""},
		"a bucket and text in the image":  {"", "", "s3://corpus/work", []string{"/text/de"}, ""},
		"a volume of the user's":          {"", "containers: [{name: mine, volumeMounts: [{name: nfs, mountPath: /nfs}]}]", "/nfs/work", []string{"/nfs/de"}, ""},
		"neither claim nor bucket":        {"", "", "/data/work", nil, "kubernetes_claim, or a bucket with --work"},
		"work outside the claim":          {"corpora", "", "/database/work", nil, "pods do not see /database/work"},
		"text outside the claim":          {"corpora", "", "/data/work", []string{"/data/../home/de"}, "pods do not see /data/../home/de"},
		"a bucket, text outside":          {"corpora", "", "s3://corpus/work", []string{"de.txt"}, "pods do not see de.txt"},
		"relative, and not in the volume": {"corpora", "", "work", nil, "kubernetes_mount = /data"},
	} {
		k := kubernetes(&bytes.Buffer{})
		k.Claim, k.Pod, k.Text = c.claim, c.pod, c.text
		err := k.Check("/data/out", c.work)
		if c.says == "" && err != nil || c.says != "" && (!badinput.Is(err) || !strings.Contains(err.Error(), c.says)) {
			t.Errorf("%s: error %v, want one that says %q", name, err, c.says)
		}
	}
}

// TestPodsBeginInTheCurrentDirectory where the claim has it, as relative paths start there.
func TestPodsBeginInTheCurrentDirectory(t *testing.T) {
	k := kubernetes(nil)
	k.Mount = t.TempDir()
	dir := filepath.Join(k.Mount, "project")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	manifest, err := k.Manifest(job(1), 0)
	if err != nil || !strings.Contains(manifest, fmt.Sprintf("workingDir: %q\n", dir)) {
		t.Errorf("error %v, manifest\n%s", err, manifest)
	}
}

// fakeKubectl puts a kubectl first in PATH that notes its calls in DIR/calls. A script answers in the cases of a shell.
func fakeKubectl(t *testing.T, cases string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	script := fmt.Sprintf("#!/bin/sh\ncd %s\necho \"$@\" >>calls\ncase \"$*\" in\n%s\nesac\nexit 0\n", dir, cases)
	if err := os.WriteFile(filepath.Join(dir, "kubectl"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	return dir
}

// TestObjectsRunToTheirEnd drives a kubectl that answers as a cluster does.
func TestObjectsRunToTheirEnd(t *testing.T) {
	k := kubernetes(nil)
	k.DryRun, k.Poll, k.Log = nil, time.Millisecond, slog.New(slog.DiscardHandler)
	for state, c := range map[string]struct {
		engine Engine
		kind   string
		runs   int
		fails  bool
	}{
		"Complete": {k, "Job", 3, false}, "Failed": {k, "Job", 1, true}, "Succeeded": {Argo{k}, "Workflow", 1, false}, "Error": {Argo{k}, "Workflow", 1, true},
	} {
		dir := fakeKubectl(t, fmt.Sprintf(`*apply*) cat >>applied; echo job created; rm -f polled ;;
*pods*) ;;
*get*) [ -e polled ] && echo "%s because"; touch polled ;;`, state))
		j := job(3, 2, 0, 1)
		j.Out = t.TempDir()
		err := c.engine.Run(t.Context(), j)
		if failed := (*podFailure)(nil); errors.As(err, &failed) != c.fails || !c.fails && err != nil {
			t.Errorf("%s: error %v", state, err)
		}
		applied, err := os.ReadFile(filepath.Join(dir, "applied"))
		if got := strings.Count(string(applied), "kind: "+c.kind+"\n"); err != nil || got != c.runs {
			t.Errorf("%s: %d of kind %s, error %v", state, got, c.kind, err)
		}
	}
}

// TestJobThatAnotherRunRemoved: a run whose Job is gone goes on if the outputs are there, as another run of the same
// plan made them, and else ends and says so.
func TestJobThatAnotherRunRemoved(t *testing.T) {
	k := kubernetes(nil)
	k.DryRun, k.Poll, k.Log = nil, time.Millisecond, slog.New(slog.DiscardHandler)
	for _, made := range []bool{true, false} {
		fakeKubectl(t, `*apply*) cat >/dev/null; rm -f polled ;;
*pods*) ;;
*get*) [ -e polled ] && { echo 'Error from server (NotFound): jobs.batch "mine" not found' >&2; exit 1; }; touch polled ;;`)
		j := job(3, 2)
		j.Out = t.TempDir()
		j.Done = func(context.Context) (func(stage, key string) bool, error) {
			return func(string, string) bool { return made }, nil
		}
		err := k.Run(t.Context(), j)
		if ended := (*podFailure)(nil); errors.As(err, &ended) == made || made && err != nil || !made && !strings.Contains(err.Error(), "was removed") {
			t.Errorf("made %v: error %v", made, err)
		}
	}
}

// TestWhatFailedPodsSaid is kept before their Job is removed.
func TestWhatFailedPodsSaid(t *testing.T) {
	k := kubernetes(nil)
	k.DryRun, k.Poll, k.Log = nil, time.Millisecond, slog.New(slog.DiscardHandler)
	dir := fakeKubectl(t, `*delete*) touch removed ;;
*apply*) cat >/dev/null; rm removed ;;
*phase=Failed*) [ -e removed ] || cat pods ;;
*logs*) [ -e removed ] || { echo "out of room in $4"; echo "the last line"; } ;;
*get*) echo Failed ;;`)
	killed := `{"metadata": {"name": "pod-%d"}, "status": {"containerStatuses": [{"state": {"terminated": {"exitCode": %d, "reason": %q}}}]}}`
	pods := fmt.Sprintf(`{"items": [%s, %s, %s, {"metadata": {"name": "pod-4"}, "status": {"reason": "Evicted", "message": "low on disk"}}]}`,
		fmt.Sprintf(killed, 1, 1, "Error"), fmt.Sprintf(killed, 2, 137, "OOMKilled"), fmt.Sprintf(killed, 3, 137, "OOMKilled"))
	if err := os.WriteFile(filepath.Join(dir, "pods"), []byte(pods), 0o600); err != nil {
		t.Fatal(err)
	}
	j := job(3)
	j.Out = t.TempDir()
	ended := (*podFailure)(nil)
	if err := k.Run(t.Context(), j); !errors.As(err, &ended) {
		t.Fatalf("error %v", err)
	}
	path := filepath.Join(j.Out, "kubernetes", "mine-encode-01234567.txt")
	for _, want := range []string{"2 pods ended with OOMKilled (exit code 137), which more --max-memory prevents, 1 pods ended with Error (exit code 1)", "Evicted: low on disk", path} {
		if !strings.Contains(ended.Error(), want) {
			t.Errorf("the error %q does not say %q", ended, want)
		}
	}
	said, err := os.ReadFile(path)
	for _, want := range []string{"pod-1: Error (exit code 1)\n    out of room in pod-1\n    the last line\n", "pod-2: OOMKilled", "pod-3: OOMKilled", "out of room in pod-4"} {
		if err != nil || !strings.Contains(string(said), want) {
			t.Errorf("error %v, the file does not say %q:\n%s", err, want, said)
		}
	}
	if strings.Contains(string(said), "out of room in pod-3") {
		t.Errorf("a second pod with the same end is there:\n%s", said)
	}
	tasks := badinput.Errorf("1 of 3 encode tasks (0) failed")
	if err := afterFailure(tasks, ended); !badinput.Is(err) || !strings.HasPrefix(err.Error(), tasks.Error()+"; job mine-encode-01234567 failed: ") {
		t.Errorf("error %v", err)
	}
}

// TestPodsThatDoNotStart: for a reason that lasts until somebody changes something the run ends, and the others are
// warned of; pods that wait while one runs are not.
func TestPodsThatDoNotStart(t *testing.T) {
	waiting := `{"metadata": {"name": "pod-1"}, "status": {"containerStatuses": [{"state": {"waiting": {"reason": %q, "message": "so it is"}}}]}}`
	unscheduled := `{"status": {"conditions": [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "0/3 nodes\nare available"}]}}`
	for name, c := range map[string]struct {
		pending, running string
		says, warns      string
	}{
		"no such image":       {fmt.Sprintf(waiting, "ImagePullBackOff"), "", "cannot start: ImagePullBackOff (so it is); set kubernetes_image", ""},
		"no such secret":      {unscheduled + ", " + fmt.Sprintf(waiting, "CreateContainerConfigError"), "", "CreateContainerConfigError (so it is); correct kubernetes_pod", ""},
		"no room":             {unscheduled, "", "", "0/3 nodes are available"},
		"being created":       {fmt.Sprintf(waiting, "ContainerCreating"), "", "", "ContainerCreating"},
		"no pod":              {"", "", "", "no pod is there"},
		"another one runs":    {fmt.Sprintf(waiting, "ImagePullBackOff"), `{"metadata": {"name": "pod-2"}}`, "", ""},
		"not all of them fit": {unscheduled, `{"metadata": {"name": "pod-2"}}`, "", ""},
	} {
		dir := fakeKubectl(t, `*apply*) cat >/dev/null ;;
*phase=Running*) cat running ;;
*phase=Pending*) cat pending ;;
*get*) n=$(grep -c phase=Running calls); [ "$n" -lt 12 ] || echo Complete ;;`)
		for file, items := range map[string]string{"running": c.running, "pending": c.pending} {
			if err := os.WriteFile(filepath.Join(dir, file), []byte(`{"items": [`+items+`]}`), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		var log bytes.Buffer
		k := kubernetes(nil)
		k.DryRun, k.Poll, k.Log = nil, 2*time.Millisecond, slog.New(slog.NewTextHandler(&log, nil))
		err := k.Run(t.Context(), job(3))
		if c.says == "" && err != nil || c.says != "" && (!badinput.Is(err) || !strings.Contains(err.Error(), c.says)) {
			t.Errorf("%s: error %v, want one that says %q", name, err, c.says)
		}
		if c.says == "" && (log.Len() > 0) != (c.warns != "") || !strings.Contains(log.String(), c.warns) {
			t.Errorf("%s: the log says, but not %q:\n%s", name, c.warns, log.String())
		}
		calls, err := os.ReadFile(filepath.Join(dir, "calls"))
		if err != nil || !strings.HasSuffix(strings.TrimSpace(string(calls)), "delete job mine-encode-01234567 --ignore-not-found --wait") {
			t.Errorf("%s: the job was not removed, error %v:\n%s", name, err, calls)
		}
	}
}
