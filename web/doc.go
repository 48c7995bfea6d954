// Package web is the page that mine serve shows of a run: its overview, search, its pairs with their reasons, why a
// pair has its score, and review by keyboard. mine report writes the overview as one file.
//
// Everything that a page needs is in the program; a page asks no other machine for anything. Reading needs no token, so
// the server listens on this machine alone unless it is told otherwise. A decision needs the token that is made at the
// start. Requests with the name of another host are refused, so that a page of the internet whose name is made to lead
// here reads nothing (DNS rebinding), and so are decisions that another site sends.
package web
