#!/bin/sh
# Starts GPU Desk from a stick whose file system does not let programs be marked as such:
#   sh gpudesk.sh [FILE ...]
# Where they are, ./gpudesk does it.
folder=$(cd "$(dirname "$0")" && pwd)
if [ -x "$folder/gpudesk" ]; then
    exec "$folder/gpudesk" "$@"
fi
# The loader of the system starts a program that it can read.
exec /lib64/ld-linux-x86-64.so.2 "$folder/gpudesk" "$@"
