// Package exporting takes pairs from a table of bitext by conditions, divides them into training, development and test
// sets, and writes them in a format of package bitext/export.
//
// Memory does not grow with the table. Sorting reads the table once for the values and then once for every half a
// million rows that are exported.
package exporting
