package record

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"bitextmine/internal/badinput"
	"bitextmine/pipeline/store"
)

// ReadLedger returns what earlier runs left under a name: a [plan.Ledger] or [plan.Earlier]; nil: nothing. A ledger is
// a hint, so callers go on without one that is damaged.
func ReadLedger[T any](ctx context.Context, st *store.Store, name string) (*T, error) {
	data, err := st.ReadNote(ctx, LedgerNote, name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	ledger := new(T)
	if err := json.Unmarshal(data, ledger); err != nil {
		return nil, fmt.Errorf("ledger %s: %w", name, err)
	}
	return ledger, nil
}

// WriteLedger leaves a ledger for the next run.
func WriteLedger(ctx context.Context, st *store.Store, name string, ledger any) error {
	data, err := json.Marshal(ledger)
	if err != nil {
		return err
	}
	return st.WriteNote(ctx, LedgerNote, name, data)
}

// PlanPath is the location of a plan in a store. The options of a bucket stay behind it.
func PlanPath(work, id string) string {
	place, options := splitOptions(work)
	return strings.TrimSuffix(place, "/") + "/" + PlansNote + "/" + id + ".json" + options
}

func splitOptions(location string) (place, options string) {
	if at := strings.IndexByte(location, '?'); at >= 0 && store.Remote(location) {
		return location[:at], location[at:]
	}
	return location, ""
}

// SplitPlanPath returns a plan's store and id.
func SplitPlanPath(location string) (work, id string, err error) {
	place, options := splitOptions(location)
	dir, file := path.Split(place)
	work, inPlans := strings.CutSuffix(dir, "/"+PlansNote+"/")
	id, isJSON := strings.CutSuffix(file, ".json")
	if !inPlans || !isJSON || work == "" || id == "" {
		return "", "", badinput.Errorf("%q is not the place of a plan; it has the form WORK/%s/ID.json, as mine plan prints it", location, PlansNote)
	}
	return work + options, id, nil
}

// StartSpan begins a span of the program's tracer, which by default keeps and sends nothing.
func StartSpan(ctx context.Context, name string, attributes ...attribute.KeyValue) (context.Context, trace.Span) {
	return otel.Tracer("bitextmine/pipeline").Start(ctx, name, trace.WithAttributes(attributes...))
}

// EndSpan ends a span; err is how its work ended.
func EndSpan(span trace.Span, err error) {
	if err != nil {
		span.RecordError(err)
		span.SetStatus(codes.Error, err.Error())
	}
	span.End()
}
