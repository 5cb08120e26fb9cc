# make check   the fast inner loop: build, vet, unit tests of what changed
# make test    everything that has to pass before a change lands
# make demo    a real graph in a scratch repository (REAL=1: on your own agents)
# make bench   the benchmarks beside their peers; see bench/README.md
# make e2e     the end-to-end tests with the real claude and codex, simulated model
.PHONY: build check test demo bench e2e e2e-latest install clean

build:
	go build -o bin/ ./cmd/orchestrate ./cmd/orchestrate-supervise

check: build
	go vet ./...
	go test ./...

test:
	./scripts/test.sh

demo: build
	./scripts/demo.sh

bench: build
	./bench/run.sh

e2e: build
	./scripts/e2e.sh

e2e-latest: build
	LATEST=1 ./scripts/e2e.sh

install:
	go install ./cmd/orchestrate ./cmd/orchestrate-supervise

clean:
	rm -rf bin
