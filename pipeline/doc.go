// Package pipeline runs mining from text to bitext: it reads the settings, plans, executes the plan's tasks and
// delivers what they made.
//
// The folders below have the parts: plan (what is to do, as data), stage (what a task is, one folder a stage), store
// (outputs by content key), engine (where tasks run), view (what is computed, read-only), record (run.json, history,
// locks), admin (status, sweeping, differences), setting (the settings, each declared once).
package pipeline
