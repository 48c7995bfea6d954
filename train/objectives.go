// This file links the objectives that a preset may name. A new one is a package of its own and a line here.

package train

import (
	_ "bitextmine/train/objective/contrastive" // contrastive, muse
	_ "bitextmine/train/objective/ems"         // ems, labse-joint, labse-mlp, labse-vanilla
	_ "bitextmine/train/objective/imascl"      // imascl, mse-distill
	_ "bitextmine/train/objective/mexma"       // mexma, mexma-contrastive
	_ "bitextmine/train/objective/vmsst"       // vmsst, bitranslation, vmsst-contrastive
	_ "bitextmine/train/objective/wacse"
)
