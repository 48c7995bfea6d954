package engine

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"bitextmine/internal/badinput"
	"bitextmine/internal/spelling"
	"bitextmine/internal/yamlbound"
)

// podSpec is what is merged into the spec of every pod, as decoded from YAML; nil: nothing.
type podSpec map[string]any

// podKeys are the keys of a pod's spec that may be given: restartPolicy and what belongs to a running pod may not.
var podKeys = strings.Fields(`activeDeadlineSeconds affinity automountServiceAccountToken containers dnsConfig dnsPolicy
	enableServiceLinks hostAliases hostIPC hostNetwork hostPID hostUsers imagePullSecrets initContainers nodeName nodeSelector os
	overhead preemptionPolicy priority priorityClassName resourceClaims resources runtimeClassName schedulerName securityContext
	serviceAccountName setHostnameAsFQDN shareProcessNamespace subdomain terminationGracePeriodSeconds tolerations
	topologySpreadConstraints volumes`)

// listKeys are the keys by which members of lists are the same: those of one list have one of them.
var listKeys = map[string]string{"volumeMounts": "mountPath"}

// readPod reads the setting kubernetes_pod: a YAML mapping, or the path of a file with one.
func readPod(value string) (podSpec, error) {
	if value == "" {
		return nil, nil
	}
	name, data := "kubernetes_pod", []byte(value)
	var node yaml.Node
	if yaml.Unmarshal(data, &node) != nil || len(node.Content) == 0 || node.Content[0].Kind == yaml.ScalarNode {
		f, err := os.Open(value)
		if err != nil {
			return nil, badinput.Errorf("kubernetes_pod is neither a mapping of YAML nor a file with one: %w", err)
		}
		defer func() { _ = f.Close() }() // it was only read
		name = "kubernetes_pod = " + value
		if data, err = yamlbound.Read(f, name); err != nil {
			return nil, err
		}
	}
	// Decoded as a podSpec, the mappings in it would be such, too.
	var pod map[string]any
	if err := yaml.Unmarshal(data, &pod); err != nil {
		return nil, badinput.Errorf("%s is no mapping of YAML with keys of a pod's spec, such as {nodeSelector: {disk: ssd}}: %s", name, oneLine(err.Error()))
	}
	return pod, podSpec(pod).check(name)
}

// check refuses keys that a pod's spec does not have, and what would not let the pods run the tasks.
func (p podSpec) check(name string) error {
	for _, key := range slices.Sorted(maps.Keys(p)) {
		if !slices.Contains(podKeys, key) {
			hint := "give others of a pod's spec, such as nodeSelector, tolerations, volumes and containers"
			if meant := spelling.Close(key, podKeys); meant != "" {
				hint = "is " + meant + " meant?"
			}
			return badinput.Errorf("%s: %s is no key of a pod's spec that can be given; %s", name, key, hint)
		}
	}
	if _, err := json.Marshal(p); err != nil {
		return badinput.Errorf("%s has a key that is no text; put it in quotation marks", name)
	}
	containers, isList := p["containers"].([]any)
	if p["containers"] != nil && (!isList || len(containers) > 1) {
		return badinput.Errorf("%s: containers is no list of the one container %s", name, containerName)
	}
	for _, one := range containers {
		container, _ := one.(map[string]any)
		if container["name"] != containerName {
			return badinput.Errorf("%s: the container of a pod is named %s; add `name: %s`", name, containerName, containerName)
		}
		for _, key := range []string{"command", "args", "image"} {
			if container[key] != nil {
				return badinput.Errorf("%s: %s of the container is set by the run; leave it out", name, key)
			}
		}
	}
	return nil
}

// mounts are the paths where the container has volumes.
func (p podSpec) mounts() (paths []string) {
	containers, _ := p["containers"].([]any)
	for _, one := range containers {
		container, _ := one.(map[string]any)
		mounts, _ := container["volumeMounts"].([]any)
		for _, mount := range mounts {
			fields, _ := mount.(map[string]any)
			if path, ok := fields["mountPath"].(string); ok {
				paths = append(paths, path)
			}
		}
	}
	return paths
}

// addTo merges what is given into the pods of a Job's manifest.
func (p podSpec) addTo(manifest string) (string, error) {
	if len(p) == 0 {
		return manifest, nil
	}
	var job map[string]any
	if err := yaml.Unmarshal([]byte(manifest), &job); err != nil {
		return "", fmt.Errorf("read the manifest: %w", err)
	}
	template, _ := job["spec"].(map[string]any)["template"].(map[string]any)
	template["spec"] = merged("", template["spec"], map[string]any(p))
	var out bytes.Buffer
	encoder := yaml.NewEncoder(&out)
	encoder.SetIndent(2)
	err := encoder.Encode(job)
	return out.String(), err
}

// patch is what is given as JSON for a container of another name.
func (p podSpec) patch(container string) (string, error) {
	if len(p) == 0 {
		return "", nil
	}
	all := maps.Clone(p)
	if containers, ok := p["containers"].([]any); ok && len(containers) == 1 {
		one := maps.Clone(containers[0].(map[string]any)) // check has seen it
		one["name"] = container
		all["containers"] = []any{one}
	}
	data, err := json.Marshal(all)
	return string(data), err
}

// merged puts one value of a manifest over another, which stands under a key: mappings are merged, and members are
// added to lists, in place of one of the same name.
func merged(key string, under, over any) any {
	switch over := over.(type) {
	case map[string]any:
		all, ok := under.(map[string]any)
		if !ok {
			return over
		}
		for k, value := range over {
			all[k] = merged(k, all[k], value)
		}
		return all
	case []any:
		list, _ := under.([]any)
		for _, member := range over {
			at := slices.IndexFunc(list, func(other any) bool { return same(key, member, other) })
			if at < 0 {
				list = append(list, member)
			} else {
				list[at] = merged("", list[at], member)
			}
		}
		return list
	}
	return over
}

// same says whether two members of the list of a key have one name.
func same(key string, one, other any) bool {
	by, ok := listKeys[key]
	if !ok {
		by = "name"
	}
	a, _ := one.(map[string]any)
	b, _ := other.(map[string]any)
	return a[by] != nil && a[by] == b[by]
}
