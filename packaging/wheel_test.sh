#!/bin/sh
# Installs the newest wheel of a folder in a fresh virtual environment and uses it from outside the checkout.
#   wheel_test.sh PYTHON WHEEL_FOLDER
set -eu
python=$1
wheel=$(ls -t "$2"/*.whl | head -n 1)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The locked versions, without their hashes: pip would then ask for a hash of our own wheel too.
sed -n 's/^\([A-Za-z0-9][^ ]*==[^ ;]*\).*/\1/p' requirements.lock > "$work/constraints.txt"
"$python" -m venv --without-pip "$work/venv"
# Most of what pip would compile is never imported.
"$python" -m pip --python "$work/venv/bin/python" install --quiet --disable-pip-version-check --no-compile \
    -c "$work/constraints.txt" "$wheel"

cd "$work"
export GPUDESK_HOME="$work/home" QT_QPA_PLATFORM=offscreen
PATH="$work/venv/bin:$PATH"
found=$(python -c 'from gpudesk import paths; print(paths.catalog_path())')
case "$found" in
    "$work"/venv/*) ;;
    *) echo "the installed program reads $found, which is not its own" >&2; exit 1 ;;
esac
gpudesk --version
gpudesk --self-test
gpudesk estimate --accelerators h200-sxm:1 --model llama-3.1-70b --weights fp16 \
    --input-tokens 1000 --output-tokens 100 --concurrency 1
gpudesk sheet --template 70b-chat-on-four -o sheet.pdf
# The window of the installed program, with all its pages, as it times itself.
GPUDESK_TIMING=1 gpudesk sheet.pdf | grep -q "^memory "
echo "wheel test passed: $(basename "$wheel")"
