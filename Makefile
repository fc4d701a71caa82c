# Targets for developers. `make test` needs Go and make, nothing else.

GO ?= go
FUZZTIME ?= 30s
# The packages of the nested module, which tests against programs of others.
PEERS = cd test/peers &&
# Debian keeps servers where the PATH of a user may not lead.
FIND = PATH="$$PATH:/usr/sbin:/usr/local/sbin" command -v
APT = apt-get install -y --no-install-recommends

.PHONY: test skips build vet lint race fuzz proof plain policies stable planted soak bench
.PHONY: cells scripts corpora mutants mochi

# All tests. Both modules are tested, also when the first fails.
test: skips
	@status=0; \
	$(GO) test -timeout 40m ./... || status=1; \
	($(PEERS) $(GO) test -timeout 10m ./...) || status=1; \
	exit $$status

# What the tests leave out for want of a program, and the line that installs it.
# With MQTTCHECK_REQUIRE=all a test that misses its program fails instead.
skips:
	@$(FIND) mosquitto >/dev/null || echo "without mosquitto: the suite on a real broker is skipped. $(APT) mosquitto"
	@$(FIND) mosquitto_pub >/dev/null || echo "without mosquitto_pub and mosquitto_sub: the reference broker is not tried with them. $(APT) mosquitto-clients"
	@$(FIND) cc >/dev/null || echo "without a C compiler: no race detector (make race). $(APT) gcc libc6-dev"

build:
	$(GO) build -o mqttcheck ./cmd/mqttcheck

vet:
	@files=$$(gofmt -l .); test -z "$$files" || { echo "run gofmt -w on"; echo "$$files"; exit 1; }
	$(GO) vet ./...
	$(PEERS) $(GO) vet ./...

# Needs the network once. Its settings are in staticcheck.conf.
STATICCHECK = $(GO) run honnef.co/go/tools/cmd/staticcheck@v0.8.2
lint: vet
	$(STATICCHECK) ./...
	$(PEERS) $(STATICCHECK) ./...

# The proof, the null brokers and mosquitto meet the suite without the race
# detector, in `make test`: they take many whole runs. A broken database makes
# memory faults, which the instrumented runtime does not survive.
race:
	$(GO) test -race -short -timeout 20m -skip 'TestProof|TestNull|TestMosquitto|TestPolicies|TestBrokenFiles' ./...
	$(PEERS) $(GO) test -race -short -timeout 10m ./...

# Every native fuzz target in turn, FUZZTIME each: a time, or a number of inputs
# such as 15000x. Minimising is bounded: the engine fails a target whose time runs
# out meanwhile.
fuzz:
	@for p in $$($(GO) list -f '{{if or .TestGoFiles .XTestGoFiles}}{{.ImportPath}}{{end}}' ./...); do \
	  for f in $$($(GO) test -list '^Fuzz' $$p | grep '^Fuzz'); do \
	    echo "== $$p $$f"; $(GO) test -run '^$$' -fuzz "^$$f$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 20x $$p || exit 1; \
	  done; \
	done

# The network fuzzer on each fault that was planted for it, with a fixed seed: how
# many conversations it takes, the smallest script, and ten playings of it.
# PLANTED=NAME runs those whose names hold NAME.
planted:
	MQTTCHECK_PLANTED=$${PLANTED:-all} $(GO) test -timeout 1h -count=1 -run 'TestPlantedFaultsAreFound' -v ./fuzz/campaign

# The network fuzzer on the healthy reference broker, under several policies: a
# finding is a fault of the model. SOAK is the time of all campaigns.
soak:
	MQTTCHECK_SOAK=$${SOAK:-10m} $(GO) test -timeout 2h -count=1 -run 'TestSoak' -v ./fuzz/campaign

# To which share of the situations a campaign on the reference broker comes in CELLS: a
# time, or a number of conversations such as 200000x, which are made and not played.
cells:
	MQTTCHECK_CELLS=$${CELLS:-10m} $(GO) test -timeout 2h -count=1 -run 'Cells' -v ./fuzz/campaign

# The text of SCRIPTS conversations is read back.
scripts:
	MQTTCHECK_SCRIPTS=$${SCRIPTS:-1000000} $(GO) test -timeout 1h -count=1 -run 'TestConversationsAreReadBack' -v ./fuzz/generate

# How much of the decoder and the matcher the corpora of the native targets run.
corpora:
	$(GO) test -count=1 -run '^Fuzz' -coverpkg ./reference/packet ./reference/packet
	$(GO) test -count=1 -run '^Fuzz' -coverpkg ./reference/topic ./reference/topic

# Faults made by hand in the code that a property guards: each is killed by it.
mutants:
	MQTTCHECK_MUTANTS=all $(GO) test -timeout 30m -count=1 -run 'TestMutantsAreKilled' -v ./fuzz

# The fuzzer on mochi-mqtt, which a SUBSCRIBE without options fells, with SEEDS seeds.
mochi:
	$(PEERS) MQTTCHECK_MOCHI_SEEDS=$${SEEDS:-20} $(GO) test -timeout 1h -count=1 -run 'TestFuzzerFellsMochi' -v .

# What the codecs, the store and the fuzzer do in a second; of the fuzzer with all its
# oracles which share of a bare sender's packets that is, on the same broker. It is
# printed, and fails nothing.
bench:
	$(GO) test -p 1 -timeout 30m -run '^$$' -bench . ./reference/store ./fuzz/...

# Each defect against the whole suite; PROOF=i/n runs a share of them. What is
# caught by what is written to docs/proof.tsv.
proof:
	MQTTCHECK_PROOF=$${PROOF:-all} $(GO) test -timeout 3h -run 'TestProof' ./cmd/mqttcheck -update

# The suite under every value of every policy: it fails no broker for a freedom.
policies:
	MQTTCHECK_POLICIES=$${POLICIES:-all} $(GO) test -timeout 1h -run 'TestPolicies' ./cmd/mqttcheck -v

# Ten runs in different orders come to the same, on the broker at URL or, without
# one, on the embedded reference and on mosquitto.
stable:
	MQTTCHECK_STABLE=$${URL:-all} $(GO) test -timeout 1h -count=1 -run 'TestRunsAreStable' ./cmd/mqttcheck -v

# Each defect that a plain run shows, against `mqttcheck run URL` alone, in real
# seconds: caught within 30. One at a time; PLAIN=i/n runs a share of them.
plain:
	MQTTCHECK_PLAIN=$${PLAIN:-all} $(GO) test -timeout 3h -count=1 -run 'TestPlainRun' -v ./cmd/mqttcheck
