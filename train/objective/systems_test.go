package objective_test

import (
	_ "bitextmine/train/objective/imascl"
	_ "bitextmine/train/objective/mexma"
	_ "bitextmine/train/objective/vmsst"
	_ "bitextmine/train/objective/wacse"
)
