# Targets for developers. `make test` needs Go and make, nothing else.

GO ?= go
FUZZTIME ?= 30s

.PHONY: test vet lint race fuzz proof build

test: ## all tests; says first what it has to skip
	@command -v mosquitto >/dev/null || echo "skipped without mosquitto: apt-get install mosquitto mosquitto-clients"
	@command -v cc >/dev/null || echo "skipped without a C compiler (race detector): apt-get install gcc libc6-dev"
	$(GO) test -timeout 40m ./...
	cd test/peers && $(GO) test -timeout 10m ./...

build:
	$(GO) build -o mqttcheck ./cmd/mqttcheck

vet:
	@test -z "$$(gofmt -l .)" || { gofmt -l .; echo "run gofmt -w on these"; exit 1; }
	$(GO) vet ./...

lint: vet
	$(GO) run honnef.co/go/tools/cmd/staticcheck@v0.8.2 ./...

race:
	$(GO) test -race ./reference/... ./specs/... ./reports/...

# Every native fuzz target in turn, FUZZTIME each.
fuzz:
	@for p in $$($(GO) list ./...); do \
	  for f in $$($(GO) test -list '^Fuzz' $$p | grep '^Fuzz'); do \
	    echo "== $$p $$f"; $(GO) test -run '^$$' -fuzz "^$$f$$" -fuzztime $(FUZZTIME) $$p || exit 1; \
	  done; \
	done

# Each defect against the whole suite; PROOF=i/n runs a share of them.
proof:
	MQTTCHECK_PROOF=$${PROOF:-all} $(GO) test -timeout 3h -run 'TestProof' ./cmd/mqttcheck -update

