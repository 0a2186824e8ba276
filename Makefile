# deja. On a machine with Go, Node 20 and npm:
#
#   make demo      the main job in a real pi, no account needed
#   make test      everything: Go (-race), TypeScript, lint, a real pi of both lines
#   make install   build deja, put it in place, say how to add the extension to pi

SHELL := /bin/bash
.DEFAULT_GOAL := build
VERSION := $(shell git describe --tags --always --dirty 2>/dev/null || echo devel)
PREFIX ?= $(HOME)/.local
GOFLAGS_RELEASE := -trimpath -ldflags "-s -w -X main.version=$(VERSION)"
LINES := 0.73 0.87

.PHONY: build install demo test test-go test-ts test-pi lint bench fuzz pi ts clean

build: bin/deja

bin/deja: FORCE
	@mkdir -p bin
	CGO_ENABLED=0 go build $(GOFLAGS_RELEASE) -o $@ ./cmd/deja

FORCE:

install: build
	@mkdir -p "$(PREFIX)/bin"
	install -m 0755 bin/deja "$(PREFIX)/bin/deja"
	@echo
	@echo "deja is in $(PREFIX)/bin. Add the extension to pi:"
	@echo
	@echo "    pi install $(CURDIR)/integrations/pi"
	@echo
	@echo "and see that all is well:  deja doctor"
	@case ":$$PATH:" in *":$(PREFIX)/bin:"*) ;; *) echo "($(PREFIX)/bin is not on your PATH yet: add it, or set DEJA_BIN=$(PREFIX)/bin/deja)";; esac

# The pinned pi installs. npm's own download cache makes a second clone quick.
pi: $(LINES:%=conformance/pi/%/node_modules/.ok)

conformance/pi/%/node_modules/.ok: conformance/pi/%/package-lock.json
	cd conformance/pi/$* && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error
	@touch $@

ts: integrations/pi/node_modules/.ok

integrations/pi/node_modules/.ok: integrations/pi/package-lock.json
	cd integrations/pi && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error
	@touch $@

demo: pi
	@go run ./demo

test: lint test-go test-ts test-pi

# The packages that judge no model: of pi they need at most its own code to compare with.
test-go: pi
	DEJA_REQUIRE_PI=1 go test -race $$(go list ./... | grep -v /conformance/)

test-ts: ts pi
	cd integrations/pi && npm run --silent typecheck && npm test --silent

# -count=1: go test cannot see that these depend on the engine and the extension.
test-pi: pi
	DEJA_REQUIRE_PI=1 go test -race -count=1 -timeout 20m ./conformance/...

lint: ts
	@test -z "$$(gofmt -l $$(git ls-files '*.go'))" || { gofmt -l $$(git ls-files '*.go'); echo "run gofmt -w on these"; exit 1; }
	go vet ./...
	go run -modfile=tools/go.mod honnef.co/go/tools/cmd/staticcheck ./...
	cd integrations/pi && npm run --silent lint

bench: build ts pi
	go run ./bench

FUZZTIME ?= 20s
fuzz:
	@for p in $$(go list ./...); do \
	  for f in $$(go test -list '^Fuzz' $$p | grep '^Fuzz'); do \
	    echo "$$p $$f"; go test -run '^$$' -fuzz "^$$f$$" -fuzztime $(FUZZTIME) $$p || exit 1; \
	  done; done

clean:
	rm -rf bin integrations/pi/node_modules conformance/pi/*/node_modules
