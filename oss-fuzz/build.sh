#!/bin/bash -eu
# Compiles every native fuzz target of the module, by the package and the name
# that it has there: FuzzDecode of reference/packet is reference_packet_FuzzDecode.
# OSS-Fuzz runs it in the folder of the clone.

# The targets are compiled against this instead of package testing.
go get github.com/AdamKorcz/go-118-fuzz-build/testing

grep -rl --include='*_test.go' '^func Fuzz' . | sort | while read -r file; do
  folder=$(dirname "${file#./}")
  sed -n 's/^func \(Fuzz[A-Za-z0-9_]*\)(.*/\1/p' "$file" | while read -r target; do
    compile_native_go_fuzzer "$(go list "./$folder")" "$target" "${folder//\//_}_$target"
  done
done
