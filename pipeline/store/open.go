package store

import (
	"context"
	"log/slog"
)

// Open opens the store at a location.
func Open(_ context.Context, location string, log *slog.Logger) (*Store, error) {
	back, err := OpenDirectory(location)
	if err != nil {
		return nil, err
	}
	return New(back, log), nil
}
