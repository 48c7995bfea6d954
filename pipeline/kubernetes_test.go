package pipeline

import (
	"bytes"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"bitextmine/pipeline/record"
)

// kubernetes is a cluster of this machine alone: etcd, Kubernetes' API server, controllers and scheduler, and a node of
// kubelet and containerd.
type kubernetes struct {
	daemons
	programs string
	node     func() // starts kubelet
}

// kubeletConfig keeps to the machine's free memory and disk as they are, and asks for what the test waits for often.
const kubeletConfig = `apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
authentication: {anonymous: {enabled: true}, webhook: {enabled: false}}
authorization: {mode: AlwaysAllow}
cgroupDriver: cgroupfs
failSwapOn: false
failCgroupV1: false
containerRuntimeEndpoint: unix://%[1]s/containerd.sock
evictionHard: {memory.available: 50Mi, nodefs.available: 1%%, imagefs.available: 1%%}
imageGCHighThresholdPercent: 100
enforceNodeAllocatable: []
makeIPTablesUtilChains: false
podLogsDir: %[1]s/logs
port: %[2]d
readOnlyPort: 0
healthzPort: 0
nodeStatusUpdateFrequency: 1s
syncFrequency: 2s
`

const containerdConfig = `version = 2
root = "%[1]s/containerd"
state = "%[1]s/state"
disabled_plugins = ["io.containerd.internal.v1.opt"]
[grpc]
  address = "%[1]s/containerd.sock"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "docker.io/library/pause:test"
  disable_apparmor = true
  restrict_oom_score_adj = true
  netns_mounts_under_state_dir = true
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "/usr/lib/cni"
    conf_dir = "%[1]s/cni"
`

// podNetwork lets pods reach nothing but the node, which has the address that Kubernetes gives its API server.
const podNetwork = `{"cniVersion": "0.4.0", "name": "pods", "plugins": [{"type": "ptp", "ipam": {
"type": "host-local", "ranges": [[{"subnet": "10.244.0.0/24"}]], "dataDir": "%s/addresses", "routes": [{"dst": "0.0.0.0/0"}]}}]}`

const kubeconfig = `apiVersion: v1
kind: Config
clusters: [{name: test, cluster: {server: "https://10.96.0.1", insecure-skip-tls-verify: true}}]
users: [{name: admin, user: {token: a-token-of-a-test}}]
contexts: [{name: test, context: {cluster: test, user: admin}}]
current-context: test
`

// volume is a folder of the machine as a claim, which all pods may mount.
const volume = `apiVersion: v1
kind: PersistentVolume
metadata: {name: %[1]s}
spec:
  capacity: {storage: 1Gi}
  accessModes: [ReadWriteMany]
  claimRef: {namespace: default, name: %[1]s}
  hostPath: {path: %[2]q}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: %[1]s}
spec:
  storageClassName: ""
  volumeName: %[1]s
  accessModes: [ReadWriteMany]
  resources: {requests: {storage: 1Gi}}
`

func newKubernetes(t *testing.T) *kubernetes {
	t.Helper()
	programs := os.Getenv("MINE_TEST_KUBERNETES")
	if programs == "" {
		t.Skip("needs Kubernetes' programs, Debian's containerd, and root; make test-kubernetes sets MINE_TEST_KUBERNETES")
	}
	dir, err := os.MkdirTemp("", "kube") // paths of sockets must be short
	if err != nil {
		t.Fatal(err)
	}
	k := &kubernetes{daemons: newDaemons(t, dir), programs: programs}
	t.Cleanup(k.remove)
	etcd, peers, node := freePort(t), freePort(t), freePort(t)
	in := func(name string) string { return filepath.Join(dir, name) }
	private, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{
		"tokens.csv":        "a-token-of-a-test,admin,admin,system:masters\n",
		"accounts.key":      string(pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(private)})),
		"kubeconfig":        kubeconfig,
		"kubelet.yaml":      fmt.Sprintf(kubeletConfig, dir, node),
		"containerd.toml":   fmt.Sprintf(containerdConfig, dir),
		"cni/pods.conflist": fmt.Sprintf(podNetwork, dir),
	} {
		if err := os.MkdirAll(filepath.Dir(in(name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(in(name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := exec.Command("ip", "address", "add", "10.96.0.1/32", "dev", "lo").CombinedOutput(); err != nil {
		t.Fatalf("the address of Kubernetes' API server: %v\n%s", err, out)
	}
	t.Setenv("KUBECONFIG", in("kubeconfig"))
	t.Setenv("PATH", programs+":"+os.Getenv("PATH"))
	address := func(port int) string { return fmt.Sprintf("http://127.0.0.1:%d", port) }
	k.start("etcd", "--data-dir", in("etcd"), "--unsafe-no-fsync", "--listen-client-urls", address(etcd), "--advertise-client-urls", address(etcd),
		"--listen-peer-urls", address(peers), "--initial-advertise-peer-urls", address(peers), "--initial-cluster", "default="+address(peers))
	k.start("kube-apiserver", "--etcd-servers", address(etcd), "--bind-address", "10.96.0.1", "--secure-port", "443", "--cert-dir", in("certs"), "--token-auth-file", in("tokens.csv"),
		"--authorization-mode", "RBAC", "--service-cluster-ip-range", "10.96.0.0/16", "--service-account-issuer", "https://kubernetes.default.svc",
		"--service-account-key-file", in("accounts.key"), "--service-account-signing-key-file", in("accounts.key"))
	k.await("the API server", func() bool { return exec.Command("kubectl", "get", "--raw", "/readyz").Run() == nil })
	for _, name := range []string{"kube-controller-manager", "kube-scheduler"} {
		args := []string{"--kubeconfig", in("kubeconfig"), "--leader-elect=false", "--bind-address", "127.0.0.1", "--secure-port", fmt.Sprint(freePort(t))}
		if name == "kube-controller-manager" {
			args = append(args, "--service-account-private-key-file", in("accounts.key"), "--root-ca-file", in("certs/apiserver.crt"))
		}
		k.start(name, args...)
	}
	k.start("containerd", "--config", in("containerd.toml"))
	k.await("containerd", func() bool { return k.ctr("version") == nil })
	t.Cleanup(func() { // else what runs in pods, and their addresses, would outlive the cluster
		for _, id := range strings.Fields(k.tasks()) {
			if err := k.ctr("tasks", "kill", "--signal", "SIGKILL", id); err != nil {
				t.Log(err)
			}
		}
	})
	k.pause()
	if err := k.ctr("images", "import", os.Getenv("MINE_TEST_IMAGE")); err != nil {
		t.Fatal(err)
	}
	k.node = func() {
		k.start("kubelet", "--kubeconfig", in("kubeconfig"), "--config", in("kubelet.yaml"), "--hostname-override", "node", "--root-dir", in("kubelet"),
			"--cert-dir", in("kubelet-certs"))
	}
	k.node()
	k.await("a node that is ready", func() bool {
		out, err := k.kubectl("", "get", "nodes", "--no-headers")
		return err == nil && strings.Contains(out, " Ready ")
	})
	t.Cleanup(func() {
		if t.Failed() {
			events, _ := k.kubectl("", "get", "events", "--no-headers")
			t.Log(events)
		}
	})
	k.await("the pods' account", func() bool { _, err := k.kubectl("", "get", "serviceaccount", "default"); return err == nil })
	return k
}

// remove ends what containerd left running when it ended, and removes the folder.
func (k *kubernetes) remove() {
	script := `ip address del 10.96.0.1/32 dev lo
		pkill -9 -f "containerd-shim.* -address $0/containerd.sock"; sleep 1
		sort -r /proc/mounts | cut -d' ' -f2 | grep "^$0/" | xargs -r umount -l; rm -rf "$0"`
	if out, err := exec.Command("sh", "-c", script, k.dir).CombinedOutput(); err != nil {
		k.t.Errorf("remove the cluster: %v\n%s", err, out)
	}
}

func (k *kubernetes) kubectl(input string, args ...string) (string, error) {
	cmd := exec.Command("kubectl", args...)
	cmd.Stdin = strings.NewReader(input)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func (k *kubernetes) ctr(args ...string) error {
	out, err := exec.Command("ctr", append([]string{"--address", filepath.Join(k.dir, "containerd.sock"), "--namespace", "k8s.io"}, args...)...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("ctr %s: %w\n%s", args[0], err, out)
	}
	return nil
}

// tasks are the ids of the containers that run.
func (k *kubernetes) tasks() string {
	out, _ := exec.Command("ctr", "--address", filepath.Join(k.dir, "containerd.sock"), "--namespace", "k8s.io", "tasks", "list", "--quiet").Output()
	return string(out)
}

// image is the name of the image, whose file has its version in its own.
func (k *kubernetes) image() string {
	return "mine:" + strings.Split(filepath.Base(os.Getenv("MINE_TEST_IMAGE")), "-")[1]
}

// mount makes a folder a claim of that name.
func (k *kubernetes) mount(name, dir string) {
	k.t.Helper()
	if out, err := k.kubectl(fmt.Sprintf(volume, name, dir), "apply", "--filename", "-"); err != nil {
		k.t.Fatal(out)
	}
}

// mine makes a folder the claim of the program's pods.
func (k *kubernetes) mine(claim, dir string) {
	k.t.Helper()
	k.mount(claim, dir)
	for name, value := range map[string]string{"IMAGE": k.image(), "CLAIM": claim, "MOUNT": dir} {
		k.t.Setenv("MINE_KUBERNETES_"+name, value)
	}
}

// TestKubernetes runs on a real cluster: as it is, with tasks killed, with the node drained, and with kubelet killed.
// The bytes are those of a local run.
func TestKubernetes(t *testing.T) {
	k := newKubernetes(t)
	shared := filepath.Join(t.TempDir(), "a claim")
	if err := os.Mkdir(shared, 0o755); err != nil {
		t.Fatal(err)
	}
	k.mine("corpora", shared)
	k.sameBytes(buildProgram(t), "mine", shared, 2, []string{"--engine", "kubernetes", "--max-memory", "1GiB"}, map[string]func(){
		"node drained": func() {
			if out, err := k.kubectl("", "drain", "node", "--force", "--ignore-daemonsets", "--timeout=60s"); err != nil {
				t.Error(out)
			}
			if out, err := k.kubectl("", "uncordon", "node"); err != nil {
				t.Error(out)
			}
		},
		"kubelet killed": func() {
			k.kill("kubelet")
			killTasks(t, "mine")
			time.Sleep(2 * time.Second)
			k.node()
		},
	})
}

// TestKubernetesNightly runs a Job of deploy/cronjob.yaml, with less memory.
func TestKubernetesNightly(t *testing.T) {
	k := newKubernetes(t)
	data := t.TempDir()
	k.mount("mine", data)
	text := text{t, [2]string{filepath.Join(data, "de"), filepath.Join(data, "en")}}
	for side, contents := range mineNights(t, 1) {
		if err := os.Mkdir(text.dirs[side], 0o755); err != nil {
			t.Fatal(err)
		}
		text.put(side, nightText(0), contents[0])
	}
	settings := "src_text: [/data/de]\ntgt_text: [/data/en]\nout: /data/mined\n"
	if err := os.WriteFile(filepath.Join(data, "nightly.yaml"), []byte(settings), 0o600); err != nil {
		t.Fatal(err)
	}
	manifest, err := os.ReadFile(filepath.Join("..", "deploy", "cronjob.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	image := regexp.MustCompile(`\bmine:\d[\w.-]*`).FindString(string(manifest))
	if image == "" {
		t.Fatal("deploy/cronjob.yaml names no image of a version of mine")
	}
	for _, change := range [][2]string{{image, k.image()}, {`cpu: "8"`, `cpu: "1"`}, {"16Gi", "2Gi"}, {"12GiB", "1GiB"}} {
		if !bytes.Contains(manifest, []byte(change[0])) {
			t.Fatalf("deploy/cronjob.yaml has no %s", change[0])
		}
		manifest = bytes.ReplaceAll(manifest, []byte(change[0]), []byte(change[1]))
	}
	for _, step := range [][]string{
		{"apply", "--filename", "-"},
		{"create", "job", "tonight", "--from", "cronjob/mine-nightly"},
		{"wait", "--for", "condition=complete", "job/tonight", "--timeout", "2m"},
	} {
		if out, err := k.kubectl(string(manifest), step...); err != nil {
			t.Fatal(out)
		}
	}
	report, err := record.ReadReport(filepath.Join(data, "mined", "latest"))
	if err != nil || report.Counts.Kept == 0 {
		t.Errorf("the night's report is %+v, %v", report, err)
	}
}

// TestArgo runs a plan as a Workflow of Argo's controller, as it is and with tasks killed: the bytes are those of a
// local run.
func TestArgo(t *testing.T) {
	k := newKubernetes(t)
	k.importImage(filepath.Join(k.programs, "argoexec"))
	module, err := exec.Command("go", "-C", filepath.Join("engine", "testdata", "strict"), "list", "-m", "-f", "{{.Dir}}", "github.com/argoproj/argo-workflows/v3").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range [][]string{
		{"apply", "--server-side", "--kustomize", filepath.Join(strings.TrimSpace(string(module)), "manifests", "base", "crds", "minimal")},
		{"create", "configmap", "workflow-controller-configmap"},
		{"create", "clusterrolebinding", "pods", "--clusterrole", "cluster-admin", "--serviceaccount", "default:default"},
	} {
		if out, err := k.kubectl("", step...); err != nil {
			t.Fatal(out)
		}
	}
	t.Setenv("LEADER_ELECTION_DISABLE", "true")
	k.start(filepath.Join(k.programs, "workflow-controller"), "--kubeconfig", filepath.Join(k.dir, "kubeconfig"), "--namespaced", "--executor-image", "argoexec:test")
	shared := filepath.Join(t.TempDir(), "a claim")
	if err := os.Mkdir(shared, 0o755); err != nil {
		t.Fatal(err)
	}
	k.mine("corpora", shared)
	k.sameBytes(buildProgram(t), "/usr/bin/mine", shared, 2, []string{"--engine", "argo", "--max-memory", "1GiB"}, nil)
}
