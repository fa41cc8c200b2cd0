// Command poller repeatedly makes Go's runtime wake its poller.
package main

import (
	"runtime"
	"time"
)

func main() {
	runtime.GOMAXPROCS(2) // one thread polls, one works
	go func() {
		for {
			time.AfterFunc(time.Microsecond, func() {})
		}
	}()
	time.Sleep(time.Hour)
}
