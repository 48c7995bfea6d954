// Package admin looks after what runs leave behind: how far a run is, what may be removed, and what two runs differ in.
// It takes every stage from the registered descriptors.
package admin
