package train

// The objectives and kinds of encoders that a preset may name, beside those of package encoder. A new one is a package
// of its own and a line here.
import (
	_ "bitextmine/train/objective/contrastive" // contrastive, muse
	_ "bitextmine/train/objective/ems"         // ems, labse-joint, labse-mlp, labse-vanilla
	_ "bitextmine/train/objective/imascl"      // imascl, mse-distill
	_ "bitextmine/train/objective/judge"
	_ "bitextmine/train/objective/mexma" // mexma, mexma-contrastive
	_ "bitextmine/train/objective/vmsst" // vmsst, bitranslation, vmsst-contrastive
	_ "bitextmine/train/objective/wacse"
	_ "bitextmine/train/start"
)
