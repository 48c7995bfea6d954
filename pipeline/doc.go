// Package pipeline runs mining from text to bitext, in steps: a session opens what the settings name; the text is cut
// into shards; the rest is planned, which runs no task; the plan is executed; the bitext is delivered.
//
// The folders below have the parts: plan (the tasks, as data), stage (the kinds of tasks, one folder each), cut (the
// text as it was cut, and its defects), scorer (the scorer of a run, fitted if need be), store (outputs by content
// key), engine (where tasks run), view (what is computed, read-only), record (run.json, history, locks), night (nightly
// runs), admin (status, sweeping, differences), setting (the settings, each declared once).
package pipeline
