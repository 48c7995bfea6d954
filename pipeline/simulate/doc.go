// Package simulate says what a run over corpora that are not here would take on machines that are not here: hours,
// money, bytes moved, memory, and the work that failing machines have done again. The tasks are those that a run over
// such corpora would have, made by the stages themselves; only their text is missing.
package simulate
