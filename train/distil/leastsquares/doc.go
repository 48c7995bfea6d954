// Package leastsquares fits a table of subword vectors so that sums of its rows come near features of sentences: a
// linear map from what a teacher says of each piece alone, as the prior, and on it each piece's own part, by conjugate
// gradients on the sparse matrix of which pieces stand in which sentence.
package leastsquares
