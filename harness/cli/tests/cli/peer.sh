# A server over stdio that behaves as its name says: sh peer.sh MODE
# One script for all tests that put something between a client and a server; see the modes below.

call='{"jsonrpc":"2.0","id":1,"result":{"sum":3}}'
pong='{"jsonrpc":"2.0","id":2,"result":{}}'

# Writes so many bytes of this character.
repeat() { head -c "$1" /dev/zero | tr '\0' "$2"; }

# Answers every line that has an id with an empty result.
answer() {
    while IFS= read -r line || [ -n "$line" ]; do
        case $line in
        *'"id":'*)
            id=${line#*'"id":'}
            printf '{"jsonrpc":"2.0","id":%s,"result":{}}\n' "${id%%,*}"
            ;;
        esac
    done
}

case $1 in
mirror) exec cat ;;
answers) answer ;;
noise)
    printf '\357\273\277{"jsonrpc":"2.0","method":"notifications/a"}\nlistening on 3000\r\n\377\376\n42\n'
    answer
    printf '{"jsonrpc":"2.0","method":"notifications/last"}'
    ;;
half-id)
    printf '{"jsonrpc":"2.0","id":'
    cat >/dev/null
    ;;
exits)
    echo "the server's own words" >&2
    answer
    exit 7
    ;;
crashes)
    read -r _
    printf '{"jsonrpc":"2.0","id":1,"result":{}}\n'
    kill -ABRT $$
    ;;
sleeps)
    printf '{"jsonrpc":"2.0","method":"notifications/ready"}\n'
    exec sleep 60
    ;;
# A message of 100 MiB, and noise of 5 MiB.
long-message)
    printf '{"jsonrpc":"2.0","method":"notifications/long","params":{"a":"'
    repeat 104857600 x
    printf '"}}\n'
    repeat 5242880 y
    printf '"\n'
    ;;
# Half a message, and then silence.
half-answer)
    read -r _
    printf '%.20s' "$call"
    cat >/dev/null
    ;;
silent) cat >/dev/null ;;
# Answers two calls, and stays although its input is closed.
stays)
    read -r _
    echo "$call"
    read -r _
    echo "$pong"
    exec sleep 60
    ;;
# A line of 100 MiB before its first answer.
long-line)
    read -r _
    printf '"'
    repeat 104857600 x
    printf '"\n%s\n' "$call"
    read -r _
    echo "$pong"
    cat >/dev/null
    ;;
# Never reads.
deaf) exec sleep 60 ;;
*)
    echo "peer.sh: there is no mode $1" >&2
    exit 64
    ;;
esac
