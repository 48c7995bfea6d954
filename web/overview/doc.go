// Package overview gathers what a person wants to know of a run at a glance: how many sentences became how many pairs,
// how the scores are spread, how far they can be trusted, why pairs were rejected, and what the nights before brought.
package overview
