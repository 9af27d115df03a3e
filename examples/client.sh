#!/bin/sh
# Posts a trace in the plain format to a running "schedproof serve", and prints the verdict.
#
#   examples/client.sh http://127.0.0.1:8470 TRACE.jsonl
#
# Exits as "schedproof validate" does: 0 conforms, 1 violates, 3 undetermined, 2 if it could not be checked.
# A token, if the server has one, is taken from SCHEDPROOF_TOKEN.
set -u

fail() {
    echo "client.sh: $*" >&2
    exit 2
}

[ $# -eq 2 ] || fail "give the server's address and a trace: client.sh http://127.0.0.1:8470 TRACE.jsonl"
server=${1%/}
trace=$2
[ -r "$trace" ] || fail "cannot read $trace"

work=$(mktemp -d) || fail "no temporary folder can be made"
session=
ended() {
    # Be kind, and make room for others.
    [ -z "$session" ] || curl -s -K "$work/options" -o /dev/null -X DELETE "$server/sessions/$session"
    rm -rf "$work"
}
trap 'exit 2' HUP INT TERM
trap ended EXIT

# Options by way of a file: other users can see the command line of a process, and must not see the token.
: >"$work/options"
[ -z "${SCHEDPROOF_TOKEN:-}" ] || printf 'header = "Authorization: Bearer %s"\n' "$SCHEDPROOF_TOKEN" >"$work/options"

# ask STATUS CURL-ARGUMENTS: the answer is in $work/answer, and has this status.
ask() {
    wanted=$1
    shift
    status=$(curl -sS --retry 20 --retry-delay 1 --retry-connrefused -K "$work/options" -o "$work/answer" -w '%{http_code}' "$@") || fail "no answer from $server"
    [ "$status" = "$wanted" ] || fail "$(field message) (status $status)"
}

# field NAME: a text of the answer, still as JSON writes it.
field() {
    sed -n 's/.*"'"$1"'":"\(\(\\.\|[^"\\]\)*\)".*/\1/p' "$work/answer"
}

# The first line that is not blank is the header: it says for what the session is.
grep -v '^[[:space:]]*$' "$trace" >"$work/lines"
head -n 1 "$work/lines" >"$work/header"
[ -s "$work/header" ] || fail "$trace is empty"
ask 201 -H 'Content-Type: application/json' --data-binary "@$work/header" "$server/sessions"
session=$(field id)

# The others are records; so many at a time, because a request has a limit.
tail -n +2 "$work/lines" | split -l 500 -a 5 - "$work/part."
for part in "$work"/part.*; do
    [ -e "$part" ] || break
    ask 200 -H 'Content-Type: application/x-ndjson' --data-binary "@$part" "$server/sessions/$session/records"
    [ "$(field verdict)" = conforms ] || break
done

ask 200 "$server/sessions/$session"
verdict=$(field verdict)
records=$(sed -nE 's/.*"records":([0-9]+).*/\1/p' "$work/answer")
echo "$verdict after $records records"
case $verdict in
conforms) exit 0 ;;
violates)
    echo "$(field reason)"
    exit 1
    ;;
*)
    echo "$(field note)"
    exit 3
    ;;
esac
