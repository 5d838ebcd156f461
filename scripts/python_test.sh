#!/usr/bin/env bash
# Builds the wheel, installs it into a fresh environment below target/ and tests it there: types, documentation, behaviour, examples.
# Needs CPython 3.10 or later with pip and venv, and packages from PyPI; LFIELD_NIGHTLY=1 builds from the sdist as well.
set -euo pipefail
cd "$(dirname "$0")/.."
place=$(realpath -m "${CARGO_TARGET_DIR:-target}")/python
python=${PYTHON:-python3}
mkdir -p "$place"
rm -rf "$place/wheels" "$place/clean"

[ -x "$place/venv/bin/python" ] || "$python" -m venv "$place/venv"
pip="$place/venv/bin/python -m pip --disable-pip-version-check -q"
$pip install "maturin>=1.9,<2" numpy pillow pytest mypy scikit-image tqdm "dask[distributed]"
"$place/venv/bin/maturin" build --quiet --release --locked -m python/Cargo.toml -i "$place/venv/bin/python" -o "$place/wheels"
wheel=$(ls "$place"/wheels/lfield-*.whl)
size=$(stat -c %s "$wheel")
printf '%s: %d bytes\n' "$(basename "$wheel")" "$size"
[ "$size" -lt 6000000 ] || { echo "the wheel is larger than 6 MB"; exit 1; }
$pip install --force-reinstall --no-deps "$wheel"

# With nothing but NumPy: the module, the command, and the example of the README.
"$python" -m venv "$place/clean"
"$place/clean/bin/python" -m pip --disable-pip-version-check -q install "$wheel"
"$place/clean/bin/lfield" --version
(cd "$place" && clean/bin/python -m lfield --version && clean/bin/python "$OLDPWD/scripts/python_readme.py" "$OLDPWD/README.md")

if [ -n "${LFIELD_NIGHTLY:-}" ]; then
    "$place/venv/bin/maturin" sdist -m python/Cargo.toml -o "$place/wheels"
    CARGO_TARGET_DIR=$place/sdist $pip wheel --no-deps -w "$place/wheels/from-sdist" "$place"/wheels/lfield-*.tar.gz
fi

# Away from python/, so that the installed package is what is tested.
tests=$PWD/python/tests
"$place/venv/bin/python" -m mypy --strict python/lfield
package=$(cd "$place" && venv/bin/python -c 'import lfield, os; print(os.path.dirname(lfield.__file__))')
cd "$place"
venv/bin/python -m mypy.stubtest lfield --ignore-disjoint-bases
venv/bin/python -m pytest -q -rs -p no:cacheprovider --doctest-modules -o doctest_optionflags="ELLIPSIS" --rootdir "$tests" "$tests" "$package" "$@"
