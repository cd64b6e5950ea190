#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Faults of the parties of a command queue, and runs without, in every view: see tests/queue_faults.
. tests/cli/lib.sh

python3 tests/queue_faults "$NOCAP" "$T"
