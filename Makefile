# Two commands on a fresh machine: make demo, make test. Everything they need is installed into .venv.
PYTHON ?= python3
BIN := .venv/bin
INSTALLED := .venv/installed

export HF_HUB_OFFLINE ?= 1
export TOKENIZERS_PARALLELISM ?= false

BENCH_DATA ?= ../shared/bench
DIFFERENTIAL_DATA ?= ../differential

.PHONY: demo test test-slow bench differential check clean

demo: $(INSTALLED)
	@$(BIN)/lab run experiments/quickstart.toml --out runs/quickstart

test: $(INSTALLED)
	$(BIN)/pytest -n auto --dist worksteal

# What takes minutes: dense retrieval over whole public sets. LAB_CACHE=FILE reuses vectors of earlier runs.
test-slow: $(INSTALLED)
	$(BIN)/pytest -m slow

# The lab against its peers, medians of five interleaved rounds; writes experiments/bench/results.json.
bench: $(INSTALLED)
	$(BIN)/python experiments/bench/run.py $(BENCH_DATA)

# The readers of lab import against others on real files (Debian's documentation, PyPI's sources),
# fetched into DIFFERENTIAL_DATA outside git; prints the table of experiments/README.md.
differential: $(INSTALLED)
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[differential,pdf]'
	experiments/differential/fetch.sh $(DIFFERENTIAL_DATA) $(BIN)/pip
	$(BIN)/python experiments/differential/compare.py $(DIFFERENTIAL_DATA)

check: $(INSTALLED)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

$(INSTALLED): pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt torch
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev,models,onnx,openvino,train,chinese,pdf,splitters,mlflow,wandb,serve,ray,tantivy,lancedb,postgres,chroma,qdrant,langchain,llama-index,haystack,optuna,yaml]'
	touch $(INSTALLED)

clean:
	rm -rf .venv runs build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis
