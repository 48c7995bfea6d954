package surface

import "strings"

// eliding are the languages whose articles and other short words are written together with the next word.
var eliding = map[string]bool{"ca": true, "fr": true, "it": true}

// elided are such words, without their apostrophe.
var elided = func() map[string]bool {
	words := map[string]bool{}
	for _, word := range strings.Fields("c d j l m n s t v qu jusqu lorsqu puisqu quoiqu all dall dell nell sull un quest quell anch sant") {
		words[word] = true
	}
	return words
}()
