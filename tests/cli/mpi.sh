#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# nocap-mpi: the report of any number of ranks is the one of nocap check; ranks that are killed cost
# nothing but time. `make mpi` runs it.
. tests/cli/lib.sh
MPI=$NOCAP-mpi
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 NO_COLOR=1
ranks() { timeout -k 5 "$limit" mpirun --oversubscribe -np "$1" "$MPI" "${@:2}"; }
limit=120
sim() { "$NOCAP" capture --sim "$@" 2>/dev/null; }
sim launch-host --tiles 4 --launches 400 -o "$T/long.nocap"
sim launch-host --tiles 2 --launches 4 --fault done-early -o "$T/early.nocap"
traces=("$T/missing.nocap" "$T/early.nocap" golden/fault-*.nocap "$T/long.nocap")

for form in text json; do
    "$NOCAP" check --format $form "${traces[@]}" >"$T/one.$form" 2>/dev/null
    for n in 1 2 8; do
        status 3 "$n ranks, $form" ranks $n check --format $form "${traces[@]}"
        check "$n ranks, $form: says the same" cmp "$T/out" "$T/one.$form"
        err_has "$n ranks, $form: tells once what cannot be read" "missing.nocap"
        check "$n ranks, $form: by one rank" test "$(grep -c "^nocap check: .*missing.nocap" "$T/err")" -eq 1
    done
done
# A rank that is killed early may leave an mpirun that waits for it and takes no SIGTERM either.
limit=15
for ((i = 1; i <= 4; i++)); do
    ranks 3 check --journal "$T/journal" "${traces[@]}" >/dev/null 2>&1 &
    run=$!
    sleep "0.$((RANDOM % 8))"
    rank=$(pgrep -f "^$MPI check --journal $T/journal" | shuf -n 1)
    [ -n "$rank" ] && kill -9 "$rank" 2>/dev/null
    wait $run 2>/dev/null
    pkill -9 -f "^$MPI check --journal $T/journal"
done
limit=120
status 3 "after ranks were killed" ranks 2 check --journal "$T/journal" --format text "${traces[@]}"
check "after ranks were killed: says the same" cmp "$T/out" "$T/one.text"
rm -f "$T/journal"
status 2 "usage is told once" ranks 4 check --fail-on never "${traces[@]}"
check "usage is told once: by one rank" test "$(grep -c "fail-on" "$T/err")" -eq 1
status 2 "what has no ranks" ranks 2 dump "$T/early.nocap"
err_has "what has no ranks: says so" "nocap-mpi has check alone"
status 0 "shards of ranks" ranks 2 check --shard 1/2 "$T/long.nocap"
finish
