// Package record is what runs leave to read besides bitext: run.json in the output directory, and in the store the
// history of runs, the notes of who works on which task, and locks.
package record
