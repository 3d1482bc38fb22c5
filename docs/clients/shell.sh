#!/bin/sh
# A key, a lock, an election and a watch with curl: shell.sh [HOST:PORT]
set -eu
at=http://${1:-127.0.0.1:2379}

ask() { # PATH [JSON]
    curl --silent --show-error --max-time 30 "$at$1" ${2:+--data "$2"}
}
field() { # NAME: its value in the JSON that is read
    sed "s/.*\"$1\":\"\{0,1\}\([^,\"}]*\).*/\1/"
}
must() { # WHAT TEXT: the text has it
    case $2 in *"$1"*) ;; *) echo "no $1 in $2" >&2 && exit 1 ;; esac
}

# A watch, line by line, while something is written by etcd's JSON: keys and values are base64.
seen=$(mktemp)
trap 'rm -f "$seen"' EXIT
curl --silent --no-buffer --max-time 30 "$at/v3/watch" --data '{"create_request": {"key": "c2hlbGw="}}' >"$seen" &
watch=$!
until grep -q created "$seen"; do sleep 0.05; done
ask /v3/kv/put '{"key": "c2hlbGw=", "value": "aGVsbG8="}' >/dev/null
must '"value":"aGVsbG8="' "$(ask /v3/kv/range '{"key": "c2hlbGw="}')"
until grep -q aGVsbG8= "$seen"; do sleep 0.05; done
kill "$watch"

# A lock by habemus.v1: a session, a grant with a token, a guarded write, a release.
session=$(ask /v1/sessions '{"ttl_ms": 10000}' | field session)
token=$(ask /v1/locks/shell-door/acquire "{\"session\": \"$session\", \"value\": \"$0\"}" | field token)
echo "inside, with the token $token"
other=$(ask /v1/sessions '{"ttl_ms": 10000}' | field session)
must '"error":"held"' "$(ask /v1/locks/shell-door/acquire "{\"session\": \"$other\", \"wait_ms\": 0}")"
mine="\"session\": \"$session\", \"token\": $token"
must '"revision"' "$(ask /v1/locks/shell-door/write "{$mine, \"puts\": [{\"key\": \"shell/last\", \"value\": \"7\"}]}")"
must '"value":"'"$0"'"' "$(ask /v1/locks/shell-door)"
must '"revision"' "$(ask /v1/locks/shell-door/release "{$mine}")"
must '"error":"fenced"' "$(ask /v1/locks/shell-door/write "{$mine, \"deletes\": [\"shell/last\"]}")"

# An election.
must '"vacant":true' "$(ask /v1/elections/shell-scheduler)"
token=$(ask /v1/elections/shell-scheduler/campaign "{\"session\": \"$session\", \"value\": \"host-a\"}" | field token)
must '"value":"host-a"' "$(ask /v1/elections/shell-scheduler)"
must '"revision"' "$(ask /v1/elections/shell-scheduler/resign "{\"session\": \"$session\", \"token\": $token}")"
must '"vacant":true' "$(ask /v1/elections/shell-scheduler)"
curl --silent --request DELETE "$at/v1/sessions/$session" >/dev/null
echo "shell: key, lock, election, watch"
