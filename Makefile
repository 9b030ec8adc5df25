# Everything a person does with this repository. "make help" lists it.
# What a machine can't run is named in one line and counted as skipped; under CI=true it fails.

SHELL       := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
MAKEFLAGS   += --no-print-directory
.DEFAULT_GOAL := help

GO       ?= go
# As the control plane's programs are built: what all have in common is compiled once, and a machine without gcc builds the same.
export CGO_ENABLED := 0
# Root in somebody else's checkout builds too: git tells a stranger nothing of it, and go wouldn't build without. And paths are trimmed as those
# of packages are, so that tests, packages and all checkouts share what is compiled.
export GOFLAGS := $(strip $(GOFLAGS) -buildvcs=false -trimpath)
# The linter's cache holds paths of the checkout that it saw, so each checkout has its own.
LINT     := GOLANGCI_LINT_CACHE=$(or $(XDG_CACHE_HOME),$(HOME)/.cache)/provider-baremetal/lint-$(shell echo $(CURDIR) | cksum | cut -d' ' -f1) $(GO) tool -modfile=tools/lint/go.mod golangci-lint
# Programs that people interrupt run by themselves, not below "go run", which doesn't pass signals on.
CACHE    := $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/provider-baremetal/bin
# Tests are listed as JSON and shown as plain "go test" does, with one line for each test that was skipped.
VERDICT  := $(GO) run ./test/verdict
# Vetting is lint's: go test would vet all dependencies again on a fresh machine.
TEST     := $(GO) test -vet=off -json
UNIT     := $(GO) list ./... | grep -v -E '/(test/(e2e|vm|render|cluster|(docs|uptest)/on(lab|cluster))(/.*)?|cluster/(local|node))$$'
# End to end, cases mostly wait, so there are more of them than cores.
WAITS := -timeout 80m -parallel 6 -count 1
# Runs a stage: its name, packages and flags. Time passes by itself: what a busy machine made late gets a second try, said aloud, if it's three tests at most.
try = failed=$$(mktemp); trap 'rm -f '$$failed EXIT; \
	$(TEST) $(3) $(if $(RUN),-run '$(RUN)') $(2) | $(VERDICT) -failed $$failed $(1) || { \
	  n=$$(wc -l <$$failed); [ $$n -ge 1 ] && [ $$n -le 3 ] && ! grep -q ' [.]$$' $$failed || exit 1; \
	  while read -r pkg test; do echo "$(1): $$test failed; its second try (if it passes now it's flaky: please report it)"; \
	    $(TEST) -timeout 20m -count 1 -run "^$$test$$" $$pkg </dev/null | $(VERDICT) $(1)-again; done <$$failed; }
# Builds one of test/'s own programs. A first build takes minutes and go says nothing meanwhile: a line each five seconds does.
built = $(GO) build -v -o $(CACHE)/$(1) ./test/$(1) 2>&1 | { n=0; at=5; while :; do \
	  if IFS= read -r -t 1 line; then \
	    case "$$line" in "go: downloading "*) ;; *[[:space:]]*) echo "$$line" ;; *) n=$$((n+1)) ;; esac; \
	  elif [ $$? -le 128 ]; then break; fi; \
	  if [ $$SECONDS -ge $$at ]; then at=$$((SECONDS+5)); \
	    echo "$(1): building its own program: $$n packages of about 500 after $$SECONDS s (a first build takes about four minutes on two cores)"; fi; \
	done; }
# What users install is built by a module of its own, whose program knows by what it was compiled with which firmware this checkout takes: no other
# checkout's does it.
packaged = $(GO) build -C tools/packages -o ../../dist/tools/packages . && exec dist/tools/packages $(1) --root=. --dist=dist --version=$(or $(VERSION),v0.0.0-dev)
# A stage of STAGES, or nothing.
staged = $(filter $(1),$(STAGES))
# On processors that nobody else wants: most stages wait more than they work, and none shall wait for this.
IDLE := $(if $(shell command -v chrt),chrt --idle 0,nice -n 19)
# Fetches what later stages compile, while the first one compiles, and compiles it while they wait: on a fresh machine that's ten minutes otherwise.
ahead = for m in . tools/packages cluster/local/controlplane cluster/node/crank cluster/node/tools tools/helm tools/uptest; do $(GO) list -C $$m -e -tags tools -deps -test ./... tool || :; done; \
	$(if $(call staged,e2e),$(IDLE) $(GO) run ./cluster/local/cmd/localplane -build || :;) \
	$(if $(call staged,lint),$(IDLE) env $(LINT) version || :;) \
	$(if $(call staged,e2e-install),for arch in amd64 arm64; do GOARCH=$$arch $(IDLE) $(GO) list -export ./cmd/... || :; done;) \
	$(if $(call staged,e2e-install e2e-cluster uptest),$(IDLE) $(GO) run ./cluster/node/cmd/onenode -build || :;) \
	$(if $(call staged,lint),$(if $(filter-out lint,$(STAGES)),$(linted) || :;)) :
# The linter keeps what it found of each package, so that a run while others wait leaves its stage little to do.
linted = $(IDLE) env $(LINT) run --allow-serial-runners
# Modules with code of our own beside the root's: tools, whose dependencies the product doesn't have. Not tools/uptest, which is a dozen lines
# around a module that needs an overlay to compile.
MODULES := tools/packages cluster/node/tools
# What "make generate" writes.
GENERATED := find apis package -name 'zz_*' -o -path '*/crds/*.yaml'

##@ The two commands of the README

.PHONY: demo
demo: ## Four simulated machines from claim to Ready, without root. KEEP=1 leaves it running. VM=1: two with real firmware (root).
	@[ -z "$(VM)" ] || [ "$$(id -u)" = 0 ] || { \
	  echo 'demo: VM=1 makes virtual machines and a network for them: run "make demo VM=1" as root, or "make demo", which needs none'; exit 1; }
	@$(call built,demo)
	@exec $(CACHE)/demo $(if $(KEEP),-keep) $(if $(VM),-vm)

# In this order: what fails soonest comes first, but for lint, whose program takes five minutes to compile on a fresh machine and as long to run:
# both are done while others wait. What installs packages comes before what needs them in a cluster.
STAGES := unit e2e e2e-vm e2e-install e2e-cluster lint e2e-docs uptest

.PHONY: test
test: ## Everything. Each stage says how long it took. STAGES="lint unit e2e" runs some.
	@set -m; { $(ahead); } >/dev/null 2>&1 </dev/null & set +m; trap "kill -- -$$! 2>/dev/null || :" EXIT; \
	for stage in $(STAGES); do \
	  began=$$SECONDS; failed=; $(MAKE) $$stage || failed=$$?; \
	  echo "figure ci_$${stage//-/_} $$((SECONDS-began)) s"; [ -z "$$failed" ] || exit $$failed; \
	done; \
	echo "figure ci_all $$SECONDS s"; echo "test: everything passed: $(STAGES)"

##@ Parts

.PHONY: demo-down
demo-down: ## End what "make demo KEEP=1" left running.
	@$(call built,demo)
	@exec $(CACHE)/demo -down

.PHONY: generate
generate: ## Write deep copies, CRDs, accessors and XRDs anew.
	@$(GO) generate ./apis/...

.PHONY: lint
lint: ## golangci-lint, and that generated files are what "make generate" writes.
	@echo "lint: golangci-lint"
	@$(LINT) run --allow-serial-runners
	@for m in $(MODULES); do (cd $$m && $(subst -modfile=,-modfile=$(CURDIR)/,$(LINT)) run --allow-serial-runners --config $(CURDIR)/.golangci.yml); done
	@echo "lint: generated files"
	@before=$$($(GENERATED) | sort | xargs cat | sha256sum); \
	$(MAKE) generate; \
	after=$$($(GENERATED) | sort | xargs cat | sha256sum); \
	if [ "$$before" != "$$after" ]; then echo "lint: generated files were stale; they are right now: commit them"; exit 1; fi

.PHONY: unit
unit: ## Unit and contract tests, and the rule of who imports whom. RUN=REGEX runs some.
	@$(call try,unit,$$($(UNIT)),-timeout 25m)
	@$(GO) test -C tools/packages -vet=off -json ./... | $(VERDICT) packages

.PHONY: e2e
e2e: ## Rendered compositions, and end to end on a local control plane, with emulated NetBox, BMCs and machines. RUN=REGEX runs some.
	@$(call try,e2e,./cluster/local ./test/render ./test/e2e ./test/e2e/platform,$(WAITS))

.PHONY: e2e-install
e2e-install: ## Packages and manifests as a real Crossplane and a real API server take them. Builds Helm and Crossplane's CLI.
	@$(call try,e2e-install,./test/e2e/install,$(WAITS))

# All of its cases but two wait for one place, and -parallel counts those that wait: the rack's shall begin with the first.
.PHONY: e2e-vm
e2e-vm: ## Real firmware: QEMU machines, BIOS and UEFI, in a network namespace of their own (root). And "make demo", as a reader types it.
	@$(call try,e2e-vm,-p 1 ./test/vm/...,$(WAITS) -parallel 16)

.PHONY: e2e-cluster
e2e-cluster: ## What users install, in a cluster with a real kubelet and stock Crossplane, to a machine that is Ready and back (root).
	@$(call try,e2e-cluster,-p 1 ./cluster/node ./test/cluster/...,$(WAITS))

.PHONY: e2e-docs
e2e-docs: ## Every command of docs/operations, as a reader types it: on the local control plane and, as root, on a real node.
	@$(call try,e2e-docs,./test/docs/onlab ./test/docs/oncluster,$(WAITS))

.PHONY: uptest
uptest: ## Every example with a managed resource or a claim, by uptest and chainsaw, in the cluster of e2e-cluster (root). RUN=REGEX runs some.
	@$(TEST) -timeout 80m -parallel 4 -count 1 $(if $(RUN),-run 'TestExamples/.*/($(RUN))') ./test/uptest/oncluster | $(VERDICT) uptest

.PHONY: fuzz
fuzz: ## Every fuzz target for TIME=10s each. RUN=REGEX runs some.
	@GO=$(GO) $(GO) run ./test/fuzz -time $(or $(TIME),10s) $(if $(RUN),-run '$(RUN)')

.PHONY: bench
bench: ## One line a figure: "figure NAME VALUE UNIT". ONLY=REGEX runs some.
	@$(call built,bench)
	@exec $(CACHE)/bench $(if $(ONLY),-only '$(ONLY)')

.PHONY: bench-peers
bench-peers: ## bootd beside the boot servers that people have, as root, by a harness in HARNESS=DIR, then "make bench ONLY=storm". SUITES=dhcp,tftp,http runs some of the former alone.
	@mkdir -p $(CACHE)/peers && $(GO) build -tags bootd -o $(CACHE)/peers/ ./cmd/bootd ./test/bench/peers ./test/bench/peers/nethttp
	@exec $(CACHE)/peers/peers -harness '$(or $(HARNESS),../shared/bench)' -scratch $(CACHE)/../bench-peers -programs $(CACHE)/peers $(if $(SUITES),-suites '$(SUITES)')
	@$(if $(SUITES),:,$(MAKE) bench ONLY=storm)

.PHONY: build
build: ## The three programs, static, into bin/.
	@mkdir -p bin
	@$(GO) build -trimpath -o bin/ ./cmd/...

.PHONY: packages
packages: ## Images, Crossplane packages and bootd's chart for amd64 and arm64, into dist/. VERSION=v0.1.0 REGISTRY=HOST/PATH.
	@$(call packaged,build) $(if $(REGISTRY),--registry=$(REGISTRY))

.PHONY: push
push: ## The same, pushed. REGISTRY=HOST/PATH VERSION=v0.1.0. FROM=dist/release/v0.1.0 builds nothing: what was released, byte for byte.
	@$(call packaged,push) --registry=$(or $(REGISTRY),$(error where to? make push REGISTRY=HOST/PATH VERSION=v0.1.0)) $(if $(FROM),--from=$(FROM))

.PHONY: release
release: ## The same, with manifests, sums and the changelog's section in dist/release/. VERSION=v0.1.0 REGISTRY=HOST/PATH. PUSH=no: files alone.
	@$(call packaged,release) --registry=$(or $(REGISTRY),$(error where to? make release VERSION=v0.1.0 REGISTRY=HOST/PATH; with PUSH=no nothing is sent there, and the files name it)) \
	  --changelog=CHANGELOG.md $(if $(PUSH),$(if $(filter no,$(PUSH)),--no-push,$(error PUSH is no, or isn't there: "$(PUSH)" is neither, and a release can't be taken back))) $(if $(DIRTY),--dirty) $(if $(VERSION),,$(error which version? make release VERSION=v0.1.0 REGISTRY=HOST/PATH))

.PHONY: run
run: ## The provider against the cluster of KUBECONFIG. ARGS="--help" shows its flags.
	@$(GO) run ./cmd/provider $(ARGS)

.PHONY: help
help: ## This list.
	@awk 'BEGIN {FS = ":.*## "} /^##@/ {printf "\n%s\n", substr($$0, 5)} /^[a-z0-9-]+:.*## / {printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)
