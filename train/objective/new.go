package objective

import (
	"strings"

	"bitextmine/internal/badinput"
)

// New makes the objective of that name. Settings that cannot be used, a preset's and the trainer's, are badinput errors.
func New(s Settings) (Objective, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	switch s.Name {
	case "contrastive":
		return contrastive{s}, nil
	}
	return nil, badinput.Errorf("objective.name is %q: take one of %s", s.Name, strings.Join(Names(), ", "))
}
