// Package page makes the pages of mine serve and the file of mine report from the same templates. It computes nothing
// about pairs: it sets numbers and sentences, each sentence with its language and direction, and draws charts as SVG.
//
// A chart has no size of its own: places are percentages of the width it is given, so that its letters are as large on
// a telephone as on a wide screen.
package page
