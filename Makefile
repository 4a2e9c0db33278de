# `make help` lists the targets. Every target that needs something installs what is missing
# first (scripts/setup: quiet, and done in a moment when nothing is).

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.PHONY: help setup build demo test bench ledger mutants clean

# PortAudio's binding hands out pointers into C memory in a way that the race detector's pointer check ends the
# process for, at the second stream. The check stays on for everything else.
pointers = -gcflags=github.com/gordonklaus/portaudio=-d=checkptr=0

# go commands need the flags of the native library; scripts/env is the one place that knows them.
with_env = . scripts/env;

help: ## show this list
	@echo 'blockworld-voice: speech in Slovak, Czech and English becomes one typed command for a game.'
	@echo
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | awk -F ':.*## ' '{ printf "  make %-8s %s\n", $$1, $$2 }'
	@echo
	@echo 'Start with: make demo. Caches are kept in $${XDG_CACHE_HOME:-~/.cache}/blockworld-voice, models in'
	@echo '$${XDG_DATA_HOME:-~/.local/share}/blockworld-voice; WHISPER_CPP_DIR names a source of whisper.cpp that you have.'

setup: ## install what is missing: system packages, Go modules, native library, base weights
	@scripts/setup

build: setup ## build bin/blockworld-voice
	@$(with_env) go build -o bin/ ./cmd/blockworld-voice

demo: build ## run the committed clips through the whole program, against its own game world
	@scripts/demo

test: setup ## go vet, all tests with the race detector, the grammar's in full without
	@$(with_env) go vet ./...
	@$(with_env) go test -race -timeout 30m $(pointers) ./...
	@$(with_env) go test ./grammar # in full: the race detector would make every spelling of every number too slow

bench: build ## time a guarded action, and a clip from file to decision beside whisper-cli of the same source
	@scripts/bench

ledger: ## hold 20 000 commands to a faulty game, and programs killed in between, against what really happened
	@LEDGER_INSTRUCTIONS=20000 LEDGER_SECONDS=3600 FLAT_SESSIONS=10000 go test -timeout 2h -count 1 -v -run 'TestLedger|TestSessionsAreFlat' ./game
	@LEDGER_INSTRUCTIONS=2000 LEDGER_SECONDS=1200 go test -timeout 1h -count 1 -v -run TestLedgerOfTasks ./game/build
	@FOLLOW_SECONDS=60 go test -timeout 5m -count 1 -v -run TestFollowInRealTime ./game/behavior

mutants: ## break every clause of the game's contract in one line, and see its test fail
	@MUTANTS=1 go test -timeout 1h -count 1 -run TestMutants ./game

clean: ## remove bin and build (not the caches, not the models)
	rm -rf bin build
