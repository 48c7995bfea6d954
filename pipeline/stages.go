package pipeline

// The stages of the program. A stage registers itself when its package is imported.
import (
	_ "bitextmine/pipeline/stage/align"
	_ "bitextmine/pipeline/stage/encode"
	_ "bitextmine/pipeline/stage/fit"
	_ "bitextmine/pipeline/stage/judge"
	_ "bitextmine/pipeline/stage/match"
	_ "bitextmine/pipeline/stage/merge"
	_ "bitextmine/pipeline/stage/pairdocs"
	_ "bitextmine/pipeline/stage/refine"
	_ "bitextmine/pipeline/stage/search"
	_ "bitextmine/pipeline/stage/shard"
	_ "bitextmine/pipeline/stage/shortlist"
)
