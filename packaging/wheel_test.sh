#!/bin/sh
# Uses the wheel that was installed into an environment, from outside the checkout.
#   wheel_test.sh PYTHON ENVIRONMENT
set -eu
python=$(realpath -s "$1")
environment=$(realpath "$2")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cd "$work"
export GPUDESK_HOME="$work/home" QT_QPA_PLATFORM=offscreen
PATH="$environment/bin:$PATH"
# All that the wheel says it needs is there, in a version that it allows.
"$python" -m pip --disable-pip-version-check --python "$environment/bin/python" check
found=$(python -c 'from gpudesk import paths; print(paths.get_catalog_path())')
case "$found" in
    "$environment"/*) ;;
    *) echo "the installed program reads $found, which is not its own" >&2; exit 1 ;;
esac
gpudesk --version
gpudesk --self-test
gpudesk estimate --accelerators h200-sxm:1 --model llama-3.1-70b --weights fp16 \
    --input-tokens 1000 --output-tokens 100 --concurrency 1
gpudesk sheet --template 70b-chat-on-four -o sheet.pdf
# The window of the installed program, with all its pages, as it times itself.
GPUDESK_TIMING=1 gpudesk sheet.pdf | grep -q "^memory "
echo "wheel test passed"
