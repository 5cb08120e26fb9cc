# make check   the fast inner loop: build, vet, unit tests of what changed (-short)
# make test    everything that has to pass before a change lands
# make demo    a real graph in a scratch repository (REAL=1: on your own agents)
# make bench   the benchmarks beside their peers; see bench/README.md
# make worker-scale  a batch of 500 items beside one of 50: memory, order, failures
# make e2e     the end-to-end tests with the real agents, simulated model
# make e2e-table  what each agent was seen to do in each cell of their matrix
# make pages   the report's page of real runs, in a real browser; SHOTS=1 takes pictures
# make odd     the table of odd repositories, each made and run in anew
# make skill   writes into the skill what the program owns: commands, fields, tiers, reasons
# make faults  the kill campaign; see scripts/faults.sh for its shorter forms
.PHONY: build check test demo bench e2e e2e-latest e2e-table pages odd faults worker-scale skill install clean

programs := ./cmd/orchestrate ./cmd/orchestrate-supervise

# The version is in the source; asking git for one fails in a checkout that belongs
# to somebody else.
# Static, so that no start pays for the dynamic loader.
build:
	CGO_ENABLED=0 go build -buildvcs=false -o bin/ $(programs)

check: build
	go vet ./...
	go test -short ./...

test:
	./scripts/test.sh

demo: build
	./scripts/demo.sh

bench: build
	./bench/run.sh

worker-scale:
	./scripts/worker-scale.sh

e2e: build
	./scripts/e2e.sh

e2e-latest: build
	LATEST=1 ./scripts/e2e.sh

e2e-table: build
	TABLE=1 ./scripts/e2e.sh -run '^TestMatrix$$'

pages:
	./scripts/browser.sh

odd:
	./scripts/odd.sh

faults:
	./scripts/faults.sh

skill:
	go test ./plugins -run '^TestGeneratedFacts' -update

install:
	CGO_ENABLED=0 go install -buildvcs=false $(programs)
	@dir=$$(go env GOBIN); dir=$${dir:-$$(go env GOPATH)/bin}; echo "installed orchestrate and orchestrate-supervise in $$dir"; \
	case ":$$PATH:" in *":$$dir:"*) ;; *) echo "that folder is not on your PATH yet: export PATH=\"$$dir:\$$PATH\"";; esac

clean:
	rm -rf bin
