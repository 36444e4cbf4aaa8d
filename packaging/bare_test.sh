#!/bin/sh
# Does what a new user does, on a new machine: in a minimal Debian 12 with Python 3.11 and a compiler it clones the
# committed state of this checkout and runs `make test` and `make run`.
#   bare_test.sh             as root; takes some minutes and about 2 GB of the temporary folder
set -eu
cd "$(dirname "$0")/.."
# shellcheck source=packaging/common.sh
. packaging/common.sh
# shellcheck source=packaging/bare_debian.sh
. packaging/bare_debian.sh

bare_make bookworm python3,build-essential,git
: "${bare:?}"

say "clone"
git clone --quiet . "$bare/root/gpudesk"

for target in test run run; do
    say "make $target"
    start=$(date +%s)
    bare_run "cd /root/gpudesk && make $target"
    say "make $target took $(($(date +%s) - start)) s"
done
# There is no display in there, so that the sheet is what `make run` makes.
bare_run "test -s /root/gpudesk/build/sample-comparison.pdf"
say "bare test passed"
