# shellcheck shell=sh
# What every script of packaging/ says things with; read with `.`.
say() { printf '== %s\n' "$*"; }
fail() { printf 'FAILED: %s\n' "$*" >&2; exit 1; }
