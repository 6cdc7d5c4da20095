#!/bin/sh
# SPDX-License-Identifier: MIT
# gpuplan-serve: curl gets what the Open Inference Protocol says; 64 clients at once get right answers or 503, also while
# the GPU is being reset under them; behind nginx one of two servers may be killed under load.
set -u
B=${B:-build}
dir=$B/tests/serve
serve=$B/bin/gpuplan-serve
client=$B/tests/serve_client
mkdir -p "$dir"
pids=

die() {
	echo "$*"
	exit 1
}

stop_all() {
	for pid in $pids; do
		kill "$pid" 2>/dev/null
	done
	wait 2>/dev/null
}
trap stop_all EXIT

# start NAME OPTION...: a server on a port of its own, in $port and $pid
start() {
	name=$1
	shift
	"$serve" --port 0 "$@" >"$dir/$name.log" 2>"$dir/$name.err" &
	pid=$!
	pids="$pids $pid"
	for i in $(seq 300); do
		port=$(sed -n 's|.*listening on http://127.0.0.1:||p' "$dir/$name.log")
		[ -n "$port" ] && return
		kill -0 "$pid" 2>/dev/null || die "server $name is gone: $(cat "$dir/$name.err")"
		sleep 0.1
	done
	die "server $name does not listen"
}

# stop NAME: by SIGTERM; it has to leave with 0 and say what it did
stop() {
	kill "$pid"
	wait "$pid" || die "server $1 ended with $?: $(cat "$dir/$1.err")"
	sed -n 's/^gpuplan-serve: \(.* answered.*\)/  '"$1"': \1/p' "$dir/$1.log"
}

# expect STATUS WORD CURL-ARGUMENT...
expect() {
	status=$1 word=$2
	shift 2
	got=$(curl -s -o "$dir/body" -w '%{http_code}' "$@")
	[ "$got" = "$status" ] || die "curl $*: status $got instead of $status: $(cat "$dir/body")"
	grep -q -- "$word" "$dir/body" || die "curl $*: no \"$word\" in: $(cat "$dir/body")"
	n_curl=$((n_curl + 1))
}

# ---- the protocol, by curl ----
n_curl=0
start protocol --slots 2
url=http://127.0.0.1:$port
model=$url/v2/models/silero-vad
numbers=$(seq -s, 576)
input='"name":"input","shape":[1,576],"datatype":"FP32"'
expect 200 '"live":true' "$url/v2/health/live"
expect 200 '"ready":true' "$url/v2/health/ready"
expect 200 binary_tensor_data "$url/v2"
expect 200 '"datatype":"FP32","shape":\[1,576\]' "$model"
expect 200 '"ready":true' "$model/ready"
expect 200 '"ready":true' "$model/versions/1/ready"
expect 200 '"data":\[[0-9.e-]*\]' "$model/infer" -d "{\"inputs\":[{$input,\"data\":[$numbers]}]}"
expect 200 '"id":"me"' "$model/versions/1/infer" -d "{\"id\":\"me\",\"inputs\":[{$input,\"data\":[[$numbers]]}]}"
expect 400 'missing' "$model/infer" -d '{"inputs":[]}'
expect 400 'JSON' "$model/infer" -d '{'
expect 400 '576 numbers' "$model/infer" -d "{\"inputs\":[{$input,\"data\":[1,2]}]}"
expect 400 '576 numbers' "$model/infer" -d "{\"inputs\":[{$input,\"data\":[$numbers,1]}]}"
expect 400 '576 numbers' "$model/infer" -d "{\"inputs\":[{$input,\"data\":\"$numbers\"}]}"
expect 400 '\[1,4\]' "$model/infer" -d '{"inputs":[{"name":"input","shape":[1,4],"datatype":"FP32","data":[1,2,3,4]}]}'
expect 400 'FP64' "$model/infer" -d "{\"inputs\":[{\"name\":\"input\",\"shape\":[1,576],\"datatype\":\"FP64\",\"data\":[1]}]}"
expect 400 '\\"nose\\"' "$model/infer" -d '{"inputs":[{"name":"nose"}]}'
expect 400 '\\"ear\\"' "$model/infer" -d "{\"inputs\":[{$input,\"data\":[$numbers]}],\"outputs\":[{\"name\":\"ear\"}]}"
expect 400 'binary_data_size' "$model/infer" -H 'Inference-Header-Content-Length: 111' \
	-d "{\"inputs\":[{$input,\"parameters\":{\"binary_data_size\":2300}}]}                                            "
expect 400 'Content-Length' "$model/infer" -H 'Inference-Header-Content-Length: 4000' -d '{}'
expect 404 silero-vad "$url/v2/models/other"
expect 404 silero-vad "$url/nothing"
expect 405 POST "$model/infer"
expect 405 DELETE -X DELETE "$model"
head -c 300000 /dev/zero | tr '\0' ' ' >"$dir/large"
expect 413 'longer than' "$model/infer" --data-binary "@$dir/large"
expect 413 'longer than' "$model/infer" --data-binary "@$dir/large" -H 'Expect: 100-continue'
expect 413 'longer than' "$model/infer" --data-binary "@$dir/large" -H 'Transfer-Encoding: chunked'
expect 200 '"data":\[' "$model/infer" -H 'Transfer-Encoding: chunked' -d "{\"inputs\":[{$input,\"data\":[$numbers]}]}"
# one connection, several requests
[ "$(curl -s -w '%{num_connects} ' "$url/v2/health/live" -o /dev/null "$url/v2/health/live" -o /dev/null)" = '1 0 ' ] ||
	die "the connection is not kept"
stop protocol
echo "$n_curl requests by curl answered as the protocol says"

# ---- 64 clients ----
start load --slots 4
"$client" "$port" 64 3 >"$dir/load" || die "64 clients: $(cat "$dir/load")"
"$client" "$port" 64 3 --binary >"$dir/binary" || die "64 binary clients: $(cat "$dir/binary")"
stop load
echo "64 clients: $(cat "$dir/load"); binary: $(cat "$dir/binary")"

# ---- 64 clients while the GPU is reset (softgpu only) ----
if [ ! -e /dev/dri/renderD128 ]; then
	export SOFTGPU_RESET_EVERY=50
	start resets --slots 4
	"$client" "$port" 64 4 >"$dir/resets" || die "64 clients and resets: $(cat "$dir/resets")"
	stop resets >"$dir/resets.sum"
	unset SOFTGPU_RESET_EVERY
	grep -q ' [1-9][0-9]* recoveries' "$dir/resets.sum" || die "nothing was recovered: $(cat "$dir/resets.sum")"
	cat "$dir/resets.sum"
	echo "64 clients under resets: $(cat "$dir/resets")"
fi

# ---- two servers behind nginx, one killed under load ----
nginx=$(command -v nginx || echo /usr/sbin/nginx)
[ -x "$nginx" ] || { echo "nginx is not installed: not tested behind it"; exit 0; }
start left --slots 4
left=$port left_pid=$pid
start right --slots 4
right=$port
front=$((20000 + $$ % 20000))
cat >"$dir/nginx.conf" <<CONF
daemon off;
pid nginx.pid;
error_log nginx.err;
events { worker_connections 512; }
http {
	access_log off;
	client_body_temp_path tmp;
	proxy_temp_path tmp;
	fastcgi_temp_path tmp;
	uwsgi_temp_path tmp;
	scgi_temp_path tmp;
	upstream gpuplan {
		server 127.0.0.1:$left max_fails=0;
		server 127.0.0.1:$right max_fails=0;
		keepalive 64;
	}
	server {
		listen 127.0.0.1:$front;
		location / {
			proxy_pass http://gpuplan;
			proxy_http_version 1.1;
			proxy_set_header Connection "";
			proxy_next_upstream error timeout http_503 non_idempotent;
		}
	}
}
CONF
"$nginx" -p "$(cd "$dir" && pwd)" -c nginx.conf 2>"$dir/nginx.start" &
pids="$pids $!"
for i in $(seq 50); do
	curl -s -o /dev/null "http://127.0.0.1:$front/v2/health/live" && break
	sleep 0.1
done
(sleep 1; kill -KILL "$left_pid") &
"$client" "$front" 64 5 --lossy >"$dir/nginx" || die "64 clients behind nginx: $(cat "$dir/nginx")"
kill -0 "$left_pid" 2>/dev/null && die "the server that was to be killed lives"
echo "64 clients behind nginx, one of two servers killed: $(cat "$dir/nginx")"
