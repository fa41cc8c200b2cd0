#!/bin/sh
# Runs a tool of a module, which "go tool NAME" finds by the directives of go.mod, with "go run".
go=$(dirname "$0")/real-go
if [ "$1" = tool ] && tool=$("$go" list tool 2>/dev/null | grep "/$2\$"); then
	shift 2
	exec "$go" run "$tool" "$@"
fi
exec "$go" "$@"
