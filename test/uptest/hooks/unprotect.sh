#!/bin/sh
# What a person does before deleting a protected node: unprotect.sh NAMESPACE RESOURCE/NAME
set -eu
exec "$KUBECTL" -n "$1" patch "$2" --type=json --patch='[{"op":"remove","path":"/spec/protection"}]'
