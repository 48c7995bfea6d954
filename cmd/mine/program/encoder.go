package program

import (
	"errors"
	"slices"
	"strings"

	"bitextmine/encode"
	"bitextmine/encode/model"
	"bitextmine/internal/badinput"
	"bitextmine/internal/spelling"
	"bitextmine/model/draft"
	"bitextmine/pipeline"
	"bitextmine/pipeline/config"
)

// OpenEncoder opens the encoder that the settings name, with its manifest.
func OpenEncoder(cfg *pipeline.Config) (*model.Model, *encode.Encoder, error) {
	m, err := model.Load(cfg.Encoder)
	if err != nil {
		return nil, nil, err
	}
	options, err := config.OptionsOf(cfg, m)
	if err != nil {
		return nil, nil, err
	}
	e, err := encode.Open(m, options)
	return m, e, err
}

// MissingEncoder returns err, or if it says that there is no encoder of a name, how to get the one that was meant.
func MissingEncoder(err error) error {
	missing := (*model.Missing)(nil)
	if !errors.As(err, &missing) || strings.ContainsAny(missing.Ref, `/\`) || strings.HasSuffix(missing.Ref, ".yaml") {
		return err
	}
	all, failed := draft.Known()
	if failed != nil {
		return errors.Join(err, failed)
	}
	names := model.BuiltIn()
	for _, m := range all {
		switch {
		case !strings.EqualFold(m.Name, missing.Ref):
			names = append(names, m.Name)
		case m.Source.Hub == "":
			return draft.NotOnHub(&m)
		default:
			return badinput.Errorf("the encoder %s is not on this machine; `mine model get %s` downloads it into ./%s",
				m.Name, m.Name, m.Name)
		}
	}
	if meant := spelling.Close(missing.Ref, names); meant != "" {
		return badinput.Errorf("no encoder is called %q; did you mean %s?", missing.Ref, meant)
	}
	slices.Sort(names)
	return badinput.Errorf("no encoder is called %q; name the directory of one, or one of %s", missing.Ref,
		strings.Join(names, ", "))
}
