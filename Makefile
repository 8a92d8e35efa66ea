.venv:
	python3 -m venv .venv
	.venv/bin/pip install --require-hashes --only-binary :all: -r constraints.txt
	.venv/bin/pip install --no-deps --no-build-isolation -e .
