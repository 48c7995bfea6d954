// Package sentences reads the text of a distillation as its teacher's ids, invents sentences for pieces that the text
// has seldom, and asks the teacher for its vectors.
package sentences
